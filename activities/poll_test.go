package activities_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/store/payments"
	"rihla/models"
)

// poller is a desk whose gateway can be asked, in a time of its own.
type poller struct {
	*desk

	polls  *activities.Polls
	owners *owners
	now    time.Time
	asked  map[string]int
	silent int
}

func newPoller(t *testing.T) *poller {
	t.Helper()

	a := &poller{desk: newDesk(t), owners: &owners{}, now: time.Now(), asked: map[string]int{}}

	var mu sync.Mutex

	a.polls = &activities.Polls{
		Log: silent, Store: a.Store, Gateways: a.Gateways, Deliver: a.owners.Deliver, WebhookSilence: 2 * time.Minute, Now: func() time.Time { return a.now },
		Asked: func(_ models.Channel, outcome string) {
			mu.Lock()
			defer mu.Unlock()
			a.asked[outcome]++
		},
		Silent: func(models.Channel) { a.silent++ },
	}

	return a
}

func (a *poller) poll(t *testing.T, want activities.Polled) {
	t.Helper()

	got, err := a.polls.PollStatus(t.Context(), models.ChannelGatewayA)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestPollStatus(t *testing.T) {
	t.Parallel()
	a := newPoller(t)

	waiting, lost, declined := a.opened(t), a.opened(t), a.opened(t)
	require.NoError(t, a.gateway.Pay(lost.ID()))
	require.NoError(t, a.gateway.Decline(declined.ID()))

	a.now = a.now.Add(time.Minute)
	a.poll(t, activities.Polled{})
	require.Zero(t, a.gateway.Calls(fake.GetCheckout), "of a channel that is not silent nothing is asked")

	a.now = a.now.Add(2 * time.Minute)
	a.poll(t, activities.Polled{Silent: true, Asked: 3, News: 2})
	require.Equal(t, map[string]int{"open": 1, "news": 2}, a.asked)
	require.Equal(t, 1, a.silent)

	// What was heard is with its owners; nothing has been settled.
	require.Len(t, a.owners.delivered, 2)
	require.Equal(t, models.TransactionPending, a.transaction(t, lost).Status)
	require.Equal(t, models.TransactionPaid, a.settle(t, lost).Status)
	require.Equal(t, models.FailureDeclined, a.settle(t, declined).Failure)

	a.poll(t, activities.Polled{Silent: true})
	require.Equal(t, 3, a.gateway.Calls(fake.GetCheckout), "not again so soon")

	a.now = a.now.Add(31 * time.Second)
	a.poll(t, activities.Polled{Silent: true, Asked: 1})
	require.Equal(t, models.TransactionPending, a.transaction(t, waiting).Status)
}

// TestPollStatusOfAnswersThatWereNotHandedOver: the event is stored, so that the sweep delivers it.
func TestPollStatusOfAnswersThatWereNotHandedOver(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	lost := a.opened(t)
	require.NoError(t, a.gateway.Pay(lost.ID()))

	a.owners.down = errors.New("orchestrator is down")
	a.now = a.now.Add(3 * time.Minute)
	a.poll(t, activities.Polled{Silent: true, Asked: 1, News: 1})
	require.Equal(t, models.TransactionPaid, a.settle(t, lost).Status)
}

// TestPollStatusOfAGatewayThatDoesNotAnswer: it is left for the next round, and not pressed.
func TestPollStatusOfAGatewayThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	a := newPoller(t)

	for range 14 {
		a.opened(t)
	}

	a.now = a.now.Add(3 * time.Minute)
	a.gateway.Always(fake.GetCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	a.poll(t, activities.Polled{Silent: true})
	require.Equal(t, map[string]int{"error": 4}, a.asked, "those that were asked side by side")

	a.gateway.Always(fake.GetCheckout, fake.Fault{Mode: fake.RateLimited})
	a.poll(t, activities.Polled{Silent: true})
	require.Equal(t, map[string]int{"error": 4, "not_sent": 4}, a.asked)

	a.gateway.Heal()
	a.poll(t, activities.Polled{Silent: true, Asked: 6})

	a.now = a.now.Add(31 * time.Second)
	a.poll(t, activities.Polled{Silent: true, Asked: 14})
}

// TestPollStatusOfMismatches: what the gateway took is judged as a webhook's word is.
func TestPollStatusOfMismatches(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	wrong := a.opened(t)
	require.NoError(t, a.gateway.PayOther(wrong.ID(), models.MustMoney("1.00"), models.Currency))

	a.now = a.now.Add(3 * time.Minute)
	a.poll(t, activities.Polled{Silent: true, Asked: 1, News: 1})
	require.Equal(t, models.FailureAmountMismatch, a.settle(t, wrong).Failure)
}

// TestPollStatusOfMoneyTakenBefore: a payment is of the moment that the gateway names, not of that of the question; and a currency
// is the same in small letters.
func TestPollStatusOfMoneyTakenBefore(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	paid := a.opened(t)
	require.NoError(t, a.gateway.PayOther(paid.ID(), models.MustMoney("115.00"), "sar"))

	at, err := a.gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: paid.ID()})
	require.NoError(t, err)

	a.now = a.now.Add(3 * time.Minute)
	a.poll(t, activities.Polled{Silent: true, Asked: 1, News: 1})
	require.Equal(t, models.TransactionPaid, a.settle(t, paid).Status)
	require.WithinDuration(t, *at.PaidAt, *a.transaction(t, paid).CapturedAt, time.Microsecond)
}

func TestPollStatusOfAGatewayThatKnowsNothing(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	open := a.opened(t)
	a.polls.Gateways = map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: forgetful{a.gateway}}

	a.now = a.now.Add(3 * time.Minute)
	a.poll(t, activities.Polled{Silent: true, Asked: 1})
	require.Equal(t, models.TransactionPending, a.transaction(t, open).Status, "that is for its end to judge")

	a.polls.Gateways = nil
	a.now = a.now.Add(time.Minute)
	a.poll(t, activities.Polled{Silent: true})
}

// forgetful is a gateway that has lost its checkouts.
type forgetful struct{ *fake.Gateway }

func (forgetful) ReadCheckout(context.Context, gateways.CheckoutRef) (gateways.Checkout, error) {
	return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindNotFound, Code: "not_found"}
}

func TestSweepOfASilentChannel(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.opened(t)

	sweep := &activities.Sweep{Log: silent, Store: a.Store, Deliver: a.owners, WebhookSilence: 2 * time.Minute, Now: func() time.Time { return a.now }}
	run := func(want activities.Swept) {
		t.Helper()

		got, err := sweep.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	run(activities.Swept{})

	a.now = a.now.Add(3 * time.Minute)
	run(activities.Swept{Silent: 1})
	require.Equal(t, []models.Channel{models.ChannelGatewayA}, a.owners.polled)

	sweep.WebhookSilence = 0
	run(activities.Swept{})
}

// TestPollStatusOfEndedAttempts: money came for attempts that had ended, and its webhooks were lost.
func TestPollStatusOfEndedAttempts(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.polls.WebhookSilence = 0 // whether the channel is silent is another question

	expired, declined, unheard, never := a.opened(t), a.opened(t), a.attempt(t), a.opened(t)

	a.openUnheard(t, unheard)

	for _, ended := range []models.Attempt{expired, declined, unheard, never} {
		a.end(t, ended, models.FailureExpired)
	}

	require.NoError(t, a.gateway.Pay(expired.ID()))
	require.NoError(t, a.gateway.Decline(declined.ID()))
	require.NoError(t, a.gateway.Pay(unheard.ID()))

	a.poll(t, activities.Polled{})

	a.now = a.now.Add(11 * time.Minute)
	a.gateway.Always(fake.GetCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	a.gateway.Always(fake.FindCheckout, fake.Fault{Mode: fake.RateLimited})
	a.poll(t, activities.Polled{})
	require.Equal(t, map[string]int{"error": 3, "not_sent": 1}, a.asked)

	a.gateway.Heal()
	a.poll(t, activities.Polled{})

	a.now = a.now.Add(11 * time.Second)
	a.poll(t, activities.Polled{Asked: 4, News: 2})
	require.Len(t, a.owners.delivered, 2)

	for _, late := range []models.Attempt{expired, unheard} {
		require.NotNil(t, a.settle(t, late))
		require.NotNil(t, a.transaction(t, late).CapturedAt)
	}

	a.poll(t, activities.Polled{})

	a.now = a.now.Add(2 * time.Hour)
	a.poll(t, activities.Polled{Asked: 2})
}

// TestPollStatusClosesWhatStayedOpen: an attempt has ended and its checkout is still open.
func TestPollStatusClosesWhatStayedOpen(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.polls.WebhookSilence = 0

	left := a.opened(t)
	a.end(t, left, models.FailureCancelled)

	a.now = a.now.Add(11 * time.Minute)
	a.gateway.Script(fake.CancelCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	a.poll(t, activities.Polled{})

	a.now = a.now.Add(11 * time.Second)
	a.poll(t, activities.Polled{Asked: 1})
	require.Equal(t, gateways.CheckoutCanceled, a.gateway.Checkouts()[0].Status)
	require.Equal(t, models.FailureCancelled, *a.transaction(t, left).FailureCode)

	// One that cannot be closed is not asked about for ever.
	kept := a.opened(t)
	a.end(t, kept, models.FailureCancelled)

	a.now = a.now.Add(3 * time.Hour)
	a.gateway.Always(fake.CancelCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	a.poll(t, activities.Polled{Asked: 2})
	a.now = a.now.Add(time.Minute)
	a.poll(t, activities.Polled{})
	a.gateway.Heal()

	// It is paid in the moment in which it is to be closed.
	late := a.opened(t)
	a.end(t, late, models.FailureCancelled)
	a.polls.Gateways = map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: quickCustomer{a.gateway}}

	a.now = a.now.Add(11 * time.Minute)
	a.poll(t, activities.Polled{Asked: 1, News: 1})
	require.True(t, a.settle(t, late).Moved)
	require.NotNil(t, a.transaction(t, late).CapturedAt)
}

// An opening was refused for good, and what was sent for it before has its effect after that.
func TestPollStatusOfWhatWasRefusedAndMade(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.polls.WebhookSilence = 0

	attempt := a.attempt(t)
	a.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Conflict}, refused)
	_, err := a.OpenCheckout(t.Context(), attempt)
	require.Error(t, err)

	a.SettleAfter = time.Nanosecond
	c, err := a.OpenCheckout(t.Context(), attempt)
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)
	a.gateway.Complete()

	a.now = a.now.Add(11 * time.Minute)
	a.poll(t, activities.Polled{Asked: 1})
	require.Equal(t, gateways.CheckoutCanceled, a.gateway.Checkouts()[0].Status)

	// One that was refused at once has nothing that could come later.
	a.gateway.Script(fake.CreateCheckout, refused)
	c, err = a.OpenCheckout(t.Context(), a.attempt(t))
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)

	a.now = a.now.Add(11 * time.Minute)
	a.poll(t, activities.Polled{})
}

// quickCustomer pays every checkout just before it is cancelled.
type quickCustomer struct{ *fake.Gateway }

func (q quickCustomer) CancelCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	for _, c := range q.Checkouts() {
		if c.ID == r.ID {
			if err := q.Pay(c.MerchantReference); err != nil {
				return c, err
			}
		}
	}

	return q.Gateway.CancelCheckout(ctx, r)
}

// TestPollStatusOfWhatIsWaitedFor: a single webhook is lost on a channel that is not silent, and the customer polls.
func TestPollStatusOfWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.polls.WebhookSilence = 0

	waited, other := a.opened(t), a.opened(t)
	require.NoError(t, a.gateway.Pay(waited.ID()))
	require.NoError(t, a.gateway.Pay(other.ID()))

	a.waitFor(t, waited)
	a.poll(t, activities.Polled{Asked: 1, News: 1})
	require.Equal(t, 1, a.gateway.Calls(fake.GetCheckout), "about nothing else")
	require.Len(t, a.owners.delivered, 1)
	require.Equal(t, models.TransactionPaid, a.settle(t, waited).Status)
	a.poll(t, activities.Polled{})
}

// TestWaitedForLeavesTheGatewayToPayments: however many customers poll, their questions are a quarter of the gateway's calls, and the
// others are asked about, too.
func TestWaitedForLeavesTheGatewayToPayments(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.polls.Limiters = map[models.MerchantAccount]activities.PollLimiters{models.AccountGatewayA: activities.NewPollLimiters(8)}

	ended := a.opened(t)
	a.end(t, ended, models.FailureCancelled)

	for range 20 {
		a.waitFor(t, a.opened(t))
	}

	a.polls.WebhookSilence = 0
	a.now = a.now.Add(11 * time.Minute)

	got, err := a.polls.PollStatus(t.Context(), models.ChannelGatewayA)
	require.NoError(t, err)
	require.True(t, got.More, "some still wait")
	require.GreaterOrEqual(t, got.Asked, 4+1, "those who wait, and the one that has ended")
	require.LessOrEqual(t, got.Asked, 4+4+1, "four at once, and two a second for two seconds")
}

// waitFor has the customer of an attempt wait for so long that its gateway is to be asked.
func (a *poller) waitFor(t *testing.T, attempt models.Attempt) {
	t.Helper()

	noted, err := a.Store.Payments.WaitForAnswers(t.Context(), []uuid.UUID{attempt.ID()}, time.Now().Add(payments.UnheardFor))
	require.NoError(t, err)
	require.Len(t, noted, 1)
}

// TestLateChecksGoOnWhileThereAreSome: an outage has ended many attempts at once, and all of them are to be asked about, with what the
// gateway's rate has to spare.
func TestLateChecksGoOnWhileThereAreSome(t *testing.T) {
	t.Parallel()
	a := newPoller(t)
	a.polls.WebhookSilence = 0

	const ended = 40 // more than a round asks about open ones

	for range ended {
		attempt := a.opened(t)
		a.end(t, attempt, models.FailureExpired)
	}

	a.now = a.now.Add(11 * time.Minute)

	guard := gateways.Guarded(a.gateway, gateways.Limits{Rate: 2, Burst: 8}, gateways.Reports{})
	a.polls.Gateways = map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: guard}

	got, err := a.polls.PollStatus(t.Context(), models.ChannelGatewayA)
	require.NoError(t, err)
	require.True(t, got.More, "some are left")
	require.GreaterOrEqual(t, got.Asked, (4+2*7)/2, "each is a question, and closes a checkout")
	require.LessOrEqual(t, got.Asked, (4+2*11)/2, "half of the burst at once, and two a second for nine seconds")
	require.GreaterOrEqual(t, guard.Spare(1), 0, "the other half is left to customers")

	a.polls.Gateways = a.Gateways
	a.poll(t, activities.Polled{Asked: ended - got.Asked})
}
