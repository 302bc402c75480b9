package activities_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// pass puts the last sending of a refund back by so much, as if the time had gone by.
func (d *desk) pass(t *testing.T, id uuid.UUID, by time.Duration) {
	t.Helper()

	res, err := d.db.ExecContext(t.Context(),
		"UPDATE refunds SET sent_at = sent_at - $2 * interval '1 second' WHERE id = $1 AND sent_at IS NOT NULL", id, by.Seconds())
	require.NoError(t, err)
	n, err := res.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// undecided asks for the refund once and requires that nothing was decided.
func (d *desk) undecided(t *testing.T, id uuid.UUID) {
	t.Helper()

	result, err := d.RefundAtGateway(t.Context(), id)
	require.Error(t, err)

	if e, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		require.False(t, e.NonRetryable())
	}

	require.Empty(t, result.Status, "a refund that may still be made is neither made nor failed")
}

const settled = 2*time.Minute + time.Second

// A request that is under way is no refusal: its money goes back once, and the amount stays reserved until it has.
func TestRefundThatIsUnderWay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	id := d.reserved(t, a)
	d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.Conflict})

	for range 5 {
		d.undecided(t, id)
	}

	require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund), "it is asked about, not sent again")
	require.Equal(t, "60.00", d.transaction(t, a).RefundReservedAmount.String())

	d.gateway.Complete()
	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
	require.Equal(t, "60.00", d.gateway.Refunded().String())
}

// A sending whose answer was lost may still have its effect when a later one is refused: the refusal counts when the gateway
// has not known the refund for as long as a sending may take.
func TestRefundRefusedAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.UnknownBeforeEffect}, fake.Fault{Mode: fake.Rejected, Code: "exceeds"})

	for range 4 {
		d.undecided(t, id)
	}

	require.Equal(t, 2, d.gateway.Calls(fake.CreateRefund))
	d.pass(t, id, settled)

	for range 2 { // the first answer may be lost
		require.Equal(t, models.RefundFailed, d.refundAtGateway(t, id).Status)
	}

	require.Equal(t, 2, d.gateway.Calls(fake.CreateRefund), "what counts as not made is never sent again")

	r, err := d.Store.Refunds.RefundByID(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, r.FailureReason, "exceeds", "operators find the words here")
}

// A gateway that answers 409 for good ends the refund, too: after two of them, each with its time.
func TestRefundThatMeetsConflictsForGood(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.gateway.Always(fake.CreateRefund, fake.Fault{Mode: fake.Conflict})

	for sends := range 2 {
		for range 3 {
			d.undecided(t, id)
		}

		require.Equal(t, sends+1, d.gateway.Calls(fake.CreateRefund))
		d.pass(t, id, settled)
	}

	require.Equal(t, models.RefundFailed, d.refundAtGateway(t, id).Status)
	require.Equal(t, 2, d.gateway.Calls(fake.CreateRefund))
}

// A search that lags behind finds nothing of a refund that was made.
func TestRefundThatIsNotFoundAtFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	lag := fake.Fault{Mode: fake.FindLag}
	d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.UnknownAfterEffect}, fake.Fault{Mode: fake.Rejected, Code: "exists"})
	d.gateway.Script(fake.FindRefund, fake.Fault{}, lag, lag, lag)

	for range 3 {
		d.undecided(t, id)
	}

	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
	require.Equal(t, "60.00", d.gateway.Refunded().String())
}

// A worker that was killed between sending and hearing leaves behind that it sent: a refusal of what is sent after it is not
// the refusal of the only one.
func TestRefundAfterAKilledSender(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	send, _, err := d.Store.Refunds.BeginRefundSend(t.Context(), id, refunds.SendRules{Settle: settled})
	require.NoError(t, err)
	require.Equal(t, 1, send)

	d.undecided(t, id)
	require.Zero(t, d.gateway.Calls(fake.CreateRefund), "the other one may be sending")

	d.pass(t, id, 7*time.Second)
	d.gateway.Script(fake.CreateRefund, refused)
	d.undecided(t, id)
	require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund))
	d.undecided(t, id)
}

// Sixteen workers that all think the refund theirs send one at a time, and whatever the gateway answers, the refund that was
// made never counts as refused.
func TestRefundByManyWorkersAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))

	const workers = 16

	counting := &oneAtATime{Gateway: d.gateway, answer: make(chan struct{})}
	d.serve(counting)

	var (
		all    sync.WaitGroup
		turned atomic.Int32
	)

	for range workers {
		all.Go(func() {
			result, _ := d.RefundAtGateway(t.Context(), id)
			if result.Status == models.RefundFailed {
				t.Error("a refund that was made counts as refused")
			}

			if turned.Add(1) == workers-1 {
				close(counting.answer)
			}
		})
	}

	all.Wait()
	require.False(t, counting.overlapped, "two sendings at once")
	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
	require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund))
}

// oneAtATime makes its first refund when it may answer, and refuses another one meanwhile as a gateway does whose funds are taken.
type oneAtATime struct {
	*fake.Gateway

	answer chan struct{}

	mu         sync.Mutex
	busy       bool
	overlapped bool
}

func (g *oneAtATime) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	g.mu.Lock()
	if g.busy {
		g.overlapped = true
		g.mu.Unlock()

		return gateways.Refund{}, &gateways.Error{Kind: gateways.KindRejected, Code: "refund_exceeds_paid"}
	}

	g.busy = true
	g.mu.Unlock()

	<-g.answer

	defer func() { g.mu.Lock(); g.busy = false; g.mu.Unlock() }()

	return g.Gateway.CreateRefund(ctx, r)
}

// An attempt whose first opening has an unknown outcome is not refused by what is said about the second.
func TestOpenCheckoutRefusedAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect}, refused, refused)

	for range 2 {
		_, err := d.OpenCheckout(t.Context(), a)
		require.False(t, requireApplicationError(t, err).NonRetryable())
		require.Equal(t, models.TransactionPending, d.transaction(t, a).Status)
	}

	d.SettleAfter = time.Nanosecond
	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)
}

// A conflict leaves the attempt open until the checkout is there, and for good only ends it.
func TestOpenCheckoutThatIsUnderWay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Conflict})

	_, err := d.OpenCheckout(t.Context(), a)
	require.False(t, requireApplicationError(t, err).NonRetryable())
	d.gateway.Complete()
	d.open(t, a)
	require.Len(t, d.gateway.Checkouts(), 1)

	stuck := d.attempt(t)
	d.gateway.Always(fake.CreateCheckout, fake.Fault{Mode: fake.Conflict})
	_, err = d.OpenCheckout(t.Context(), stuck)
	require.False(t, requireApplicationError(t, err).NonRetryable())

	d.SettleAfter = time.Nanosecond
	c, err := d.OpenCheckout(t.Context(), stuck)
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)
}

// However old an attempt is, what was sent for it a moment ago may still have its effect: the gateway has its time from then on.
func TestOpenCheckoutOfAnOldAttempt(t *testing.T) {
	t.Parallel()

	for name, answers := range map[string][]fake.Fault{
		"refused":       {{Mode: fake.UnknownBeforeEffect}, {Mode: fake.UnknownAfterEffect}, refused},
		"under way":     {{Mode: fake.UnknownBeforeEffect}, {Mode: fake.Conflict}, {Mode: fake.Conflict}},
		"by a conflict": {{Mode: fake.UnknownBeforeEffect}, {Mode: fake.Conflict}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			a := d.attempt(t)
			d.gateway.Script(fake.CreateCheckout, answers...)
			d.gateway.Script(fake.FindCheckout, fake.Fault{Mode: fake.FindLag}, fake.Fault{Mode: fake.FindLag})

			_, err := d.OpenCheckout(t.Context(), a)
			require.Error(t, err)
			_, err = d.db.ExecContext(t.Context(), `UPDATE payment_transactions SET created_at = created_at - interval '10 minutes',
				sent_answer = 'REFUSED', unsettled_at = unsettled_at - interval '10 minutes' WHERE id = $1`, a.ID())
			require.NoError(t, err)

			for range 2 {
				_, err = d.OpenCheckout(t.Context(), a)
				require.False(t, requireApplicationError(t, err).NonRetryable())
				require.Equal(t, models.TransactionPending, d.transaction(t, a).Status)
			}

			d.gateway.Complete()
			d.open(t, a)
			require.Len(t, d.gateway.Checkouts(), 1)
		})
	}
}

// A worker whose clock is ahead does not take the gateway's time for over: by the database's clock it has only begun.
func TestOpenCheckoutOnAWorkerAheadOfItsTime(t *testing.T) {
	t.Parallel()

	for name, answers := range map[string][]fake.Fault{
		"refused":   {{Mode: fake.UnknownAfterEffect}, refused},
		"under way": {{Mode: fake.Conflict}, {Mode: fake.Conflict}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			a := d.attempt(t)
			d.gateway.Script(fake.CreateCheckout, answers...)
			d.gateway.Script(fake.FindCheckout, fake.Fault{Mode: fake.FindLag})

			_, err := d.OpenCheckout(t.Context(), a)
			require.Error(t, err)

			d.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
			_, err = d.OpenCheckout(t.Context(), a)
			require.False(t, requireApplicationError(t, err).NonRetryable())
			require.Equal(t, models.TransactionPending, d.transaction(t, a).Status)

			d.gateway.Complete()
			d.open(t, a)
			require.Len(t, d.gateway.Checkouts(), 1)
		})
	}
}
