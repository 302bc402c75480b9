package activities_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

func requireApplicationError(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()

	e, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok, "%v", err)

	return e
}

func TestOpenCheckout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)

	for range 2 { // as after a worker that died
		c, err := d.OpenCheckout(t.Context(), a)
		require.NoError(t, err)
		require.Equal(t, models.TransactionPending, c.Status)
		require.WithinDuration(t, time.Now().Add(30*time.Minute), c.ExpiresAt, time.Minute)
	}

	require.Len(t, d.gateway.Checkouts(), 1)

	at := d.gateway.Checkouts()[0]
	require.Equal(t, a.ID(), at.MerchantReference)
	require.Equal(t, "115.00", at.Amount.String())

	tx := d.transaction(t, a)
	require.Equal(t, at.ID, *tx.Reference)
	require.Equal(t, at.URL, *tx.CheckoutURL)
	require.True(t, at.ExpiresAt.Equal(tx.ExpiresAt))
	require.Equal(t, 1, d.gateway.Calls(fake.CreateCheckout), "a checkout that is known is not asked for again")
}

func TestOpenCheckoutWithAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect}, fake.Fault{Mode: fake.UnknownAfterEffect})

	for range 2 {
		_, err := d.OpenCheckout(t.Context(), a)
		require.False(t, requireApplicationError(t, err).NonRetryable())
	}

	_, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Len(t, d.gateway.Checkouts(), 1, "the key of the attempt makes it one checkout")
}

// TestOpenCheckoutWithOpenCircuit: the attempt has no outcome, and its customer is not kept waiting.
func TestOpenCheckoutWithOpenCircuit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	guard := gateways.Guarded(d.gateway, gateways.Limits{BreakerFailures: 1, BreakerOpenFor: time.Minute}, gateways.Reports{})
	d.serve(guard)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownAfterEffect})

	_, err := d.OpenCheckout(t.Context(), a)
	require.Zero(t, requireApplicationError(t, err).NextRetryDelay(), "it may have happened: it is asked again soon")

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.True(t, c.Delayed)
	require.Equal(t, models.TransactionPending, c.Status)
	require.False(t, c.ExpiresAt.IsZero())

	_, err = d.AwaitCheckout(t.Context(), a)
	e := requireApplicationError(t, err)
	require.Equal(t, string(models.CodeGatewayUnavailable), e.Type())
	require.False(t, e.NonRetryable())
	require.GreaterOrEqual(t, e.NextRetryDelay(), 59*time.Second, "not before it is worth it")
	require.Equal(t, 1, d.gateway.Calls(fake.CreateCheckout))
	require.Equal(t, models.TransactionPending, d.transaction(t, a).Status)

	d.serve(d.gateway)
	c, err = d.AwaitCheckout(t.Context(), a)
	require.NoError(t, err)
	require.False(t, c.Delayed)
	require.Len(t, d.gateway.Checkouts(), 1)
}

func TestOpenCheckoutThatIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Rejected, Code: "amount_too_small"})

	for range 2 {
		c, err := d.OpenCheckout(t.Context(), a)
		require.NoError(t, err, "an outcome, not an error")
		require.Equal(t, models.TransactionFailed, c.Status)
		require.Equal(t, models.FailureGatewayRejected, c.Failure)
	}

	require.Equal(t, 1, d.gateway.Calls(fake.CreateCheckout))
	require.Contains(t, d.transaction(t, a).FailureReason, "amount_too_small")

	a.Number = 2
	d.serve(unheardOf{d.gateway})
	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure, "a 404 is as final as every other 4xx")

	a.Number = 3
	d.serve(d.gateway)
	c, err = d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status, "the hold lasts: the customer may try again")
}

func TestOpenCheckoutThatCannotBe(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	a := d.paid(t)
	a.Number = 2
	_, err := d.OpenCheckout(t.Context(), a)
	e := requireApplicationError(t, err)
	require.Equal(t, string(models.CodeBookingNotPayable), e.Type())
	require.True(t, e.NonRetryable())

	b := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.RateLimited, RetryAfter: 9 * time.Second})
	_, err = d.AwaitCheckout(t.Context(), b)
	require.Equal(t, 9*time.Second, requireApplicationError(t, err).NextRetryDelay())

	d.Gateways = map[models.MerchantAccount]gateways.Gateway{}
	_, err = d.OpenCheckout(t.Context(), b)
	require.ErrorContains(t, err, "gateway_a")
}

func TestCloseCheckout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	tests := []struct {
		name    string
		do      func(models.Attempt) error
		want    models.Settled // after a settlement
		gateway gateways.CheckoutStatus
	}{
		{"an open one is cancelled", func(models.Attempt) error { return nil }, models.Settled{Status: models.TransactionPending}, gateways.CheckoutCanceled},
		{"a paid one is settled", func(a models.Attempt) error { return d.gateway.Pay(a.ID()) }, models.Settled{Status: models.TransactionPaid}, gateways.CheckoutPaid},
		{
			"a declined one is settled", func(a models.Attempt) error { return d.gateway.Decline(a.ID()) },
			models.Settled{Status: models.TransactionFailed, Failure: models.FailureDeclined},
			gateways.CheckoutFailed,
		},
		{
			"of an expired one the caller knows", func(a models.Attempt) error { return d.gateway.Expire(a.ID()) },
			models.Settled{Status: models.TransactionPending},
			gateways.CheckoutExpired,
		},
		{
			"one that took another amount is a mismatch", func(a models.Attempt) error { return d.gateway.PayOther(a.ID(), models.MustMoney("1.15"), "SAR") },
			models.Settled{Status: models.TransactionFailed, Failure: models.FailureAmountMismatch},
			gateways.CheckoutPaid,
		},
	}
	for _, tt := range tests {
		a := d.opened(t)
		require.NoError(t, tt.do(a), tt.name)

		for range 2 { // a second question changes nothing
			require.NoError(t, d.CloseCheckout(t.Context(), a.ID()), tt.name)
		}

		s := d.settle(t, a)
		require.Equal(t, tt.want.Status, s.Status, tt.name)
		require.Equal(t, tt.want.Failure, s.Failure, tt.name)

		at, err := d.gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: a.ID()})
		require.NoError(t, err)
		require.Equal(t, tt.gateway, at.Status, tt.name)
	}
}

func TestCloseCheckoutOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	require.NoError(t, d.CloseCheckout(t.Context(), uuid.New()), "the attempt was never opened")

	a := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	_, err := d.OpenCheckout(t.Context(), a)
	require.Error(t, err)
	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()), "the gateway never heard of it")
	require.Equal(t, models.TransactionPending, d.settle(t, a).Status)

	paid := d.paid(t)
	asked := d.gateway.Calls(fake.FindCheckout)
	require.NoError(t, d.CloseCheckout(t.Context(), paid.ID()))
	require.Equal(t, asked, d.gateway.Calls(fake.FindCheckout), "of an attempt that was paid nobody is asked")
}

// The gateway took the order and its answer was lost: the checkout is found by the attempt's id, and its payment counts
// although the reference was never saved. It can be refunded, too.
func TestCloseCheckoutWhoseReferenceWasLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.openUnheard(t, a)
	require.NoError(t, d.gateway.Pay(a.ID()))

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)

	result, err := d.RefundAtGateway(t.Context(), d.reserved(t, a))
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, result.Status)
}

func TestCloseCheckoutThatIsPaidMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.opened(t)
	d.serve(paysWhileCancelled{d.gateway})

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)
}

func TestCloseCheckoutWhileTheGatewayIsSilent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.opened(t)

	for _, op := range []fake.Operation{fake.GetCheckout, fake.CancelCheckout} {
		d.gateway.Script(op, fake.Fault{Mode: fake.UnknownBeforeEffect})
		require.False(t, requireApplicationError(t, d.CloseCheckout(t.Context(), a.ID())).NonRetryable(), op)
	}

	d.gateway.Script(fake.CancelCheckout, fake.Fault{Mode: fake.UnknownAfterEffect})
	require.Error(t, d.CloseCheckout(t.Context(), a.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPending, d.settle(t, a).Status, "why it ends, the caller knows")
}

// A booking is cancelled in the database first: the row says FAILED before anybody has told the gateway.
func TestCloseCheckoutOfACancelledBooking(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	open := d.opened(t)
	d.cancelBooking(t, open)

	for range 2 {
		require.NoError(t, d.CloseCheckout(t.Context(), open.ID()))
	}

	at, err := d.gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: open.ID()})
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutCanceled, at.Status)

	s := d.settle(t, open)
	require.Equal(t, models.FailureCancelled, s.Failure)
	require.False(t, s.RefundOwed)

	paid := d.opened(t)
	d.cancelBooking(t, paid)
	require.NoError(t, d.gateway.Pay(paid.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), paid.ID()))

	s = d.settle(t, paid)
	require.Equal(t, models.TransactionFailed, s.Status)
	require.True(t, s.RefundOwed, "the customer was faster, and gets it back")

	asked := d.gateway.Calls(fake.FindCheckout)
	require.NoError(t, d.CloseCheckout(t.Context(), paid.ID()))
	require.Equal(t, asked, d.gateway.Calls(fake.FindCheckout))
}

func TestOpenCheckoutOfABookingThatIsCancelledMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.openUnheard(t, a)
	d.cancelBooking(t, a)

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, c.Status)
	require.Equal(t, models.FailureCancelled, c.Failure)

	at, err := d.gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: a.ID()})
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutCanceled, at.Status, "the checkout whose answer was lost is closed")
}

func TestSettleAnnouncesTheOutboxOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	var moves []models.TransactionStatus

	d.Settled = func(s models.Settled) {
		require.Equal(t, models.GatewayA, s.Gateway)
		require.Zero(t, s.Heard, "the gateway was asked, and no webhook came")

		moves = append(moves, s.Status)
	}
	a := d.paid(t)
	require.EqualValues(t, 1, d.queued.Load())

	d.settle(t, a)
	_, err := d.EndPayment(t.Context(), activities.End{TransactionID: a.ID(), Why: models.FailureExpired})
	require.NoError(t, err)
	require.EqualValues(t, 1, d.queued.Load())
	require.Equal(t, []models.TransactionStatus{models.TransactionPaid}, moves)

	_, err = d.SettlePayment(t.Context(), uuid.New())
	require.True(t, requireApplicationError(t, err).NonRetryable())
}
