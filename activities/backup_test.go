package activities_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// withBackup is a desk whose first gateway has a second account, and that one.
func withBackup(t *testing.T) (*desk, *fake.Gateway) {
	t.Helper()

	d, backup := newDesk(t), fake.New()
	d.Gateways[models.AccountGatewayABackup] = backup

	return d, backup
}

// What the first account never heard of is opened at the backup, and everything about it goes there from then on.
func TestBackupAccountTakesWhatTheFirstNeverHeardOf(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]fake.Fault{
		"nobody listens": {Mode: fake.Unreachable}, "the key is refused": {Mode: fake.Unauthorized}, "a pause is asked for": {Mode: fake.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, backup := withBackup(t)
			d.gateway.Always(fake.CreateCheckout, fault)

			a := d.opened(t)
			tx := d.transaction(t, a)
			require.Equal(t, models.ChannelGatewayABackup, tx.Channel)
			require.Empty(t, d.gateway.Checkouts())
			require.Len(t, backup.Checkouts(), 1)
			require.Equal(t, backup.Checkouts()[0].ID, *tx.Reference)

			d.gateway.Heal()
			require.NoError(t, backup.Pay(a.ID()))
			require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
			require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)

			result, err := d.RefundAtGateway(t.Context(), d.reserved(t, a))
			require.NoError(t, err)
			require.Equal(t, models.RefundSucceeded, result.Status)
			require.Equal(t, "60.00", backup.Refunded().String())
			require.Empty(t, d.gateway.Refunds())
		})
	}
}

// An open breaker is known before anything is sent.
func TestBackupAccountWhileTheBreakerIsOpen(t *testing.T) {
	t.Parallel()

	d, backup := withBackup(t)
	d.Gateways[models.AccountGatewayA] = gateways.Guarded(d.gateway, gateways.Limits{BreakerFailures: 2, BreakerOpenFor: time.Hour}, gateways.Reports{})
	d.gateway.Always(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

	stuck := d.attempt(t)

	for range 2 {
		_, err := d.OpenCheckout(t.Context(), stuck)
		require.Error(t, err)
	}

	calls := d.gateway.Calls(fake.CreateCheckout)
	require.Equal(t, models.ChannelGatewayABackup, d.transaction(t, d.opened(t)).Channel)
	require.Equal(t, calls, d.gateway.Calls(fake.CreateCheckout), "the breaker is open")
	require.Len(t, backup.Checkouts(), 1)

	c, err := d.OpenCheckout(t.Context(), stuck)
	require.NoError(t, err)
	require.True(t, c.Delayed)
	require.Equal(t, models.ChannelGatewayA, d.transaction(t, stuck).Channel, "the first may have made its checkout")
}

// Nothing that may have been sent to the first account is opened at the second.
func TestBackupAccountTakesNothingThatMayHaveBeenSent(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]fake.Fault{
		"no answer": {Mode: fake.UnknownBeforeEffect}, "no answer, but the effect": {Mode: fake.UnknownAfterEffect},
		"something is under way": {Mode: fake.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, backup := withBackup(t)
			d.gateway.Script(fake.CreateCheckout, first, fake.Fault{Mode: fake.Unreachable}, fake.Fault{Mode: fake.Unreachable})

			a := d.attempt(t)

			for range 3 {
				_, err := d.OpenCheckout(t.Context(), a)
				require.Error(t, err)
			}

			d.gateway.Complete()
			require.Equal(t, models.ChannelGatewayA, d.transaction(t, d.open(t, a)).Channel)
			require.Empty(t, backup.Checkouts())
			require.Len(t, d.gateway.Checkouts(), 1)
		})
	}
}

// A worker that was killed may have sent what it has not noted.
func TestBackupAccountAfterAKilledWorker(t *testing.T) {
	t.Parallel()

	d, backup := withBackup(t)
	a := d.attempt(t)
	_, fresh, err := d.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.True(t, fresh)

	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Unreachable})
	_, err = d.OpenCheckout(t.Context(), a)
	require.Error(t, err)
	require.Equal(t, models.ChannelGatewayA, d.transaction(t, d.open(t, a)).Channel)
	require.Empty(t, backup.Checkouts())
}

// A refusal is an answer: another account would be asked for the same.
func TestBackupAccountIsForOutages(t *testing.T) {
	t.Parallel()

	d, backup := withBackup(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Rejected})

	c, err := d.OpenCheckout(t.Context(), d.attempt(t))
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)
	require.Empty(t, backup.Checkouts())
}

// A backup is not asked for what it does not have.
func TestBackupAccountWithoutTheMethod(t *testing.T) {
	t.Parallel()

	for name, can := range map[string]gateways.MethodCapability{
		"another method": {Method: models.MethodWalletA}, "larger amounts": {Method: models.MethodCreditCard, MinAmount: models.MustMoney("115.01")},
		"smaller amounts": {Method: models.MethodCreditCard, MaxAmount: models.MustMoney("114.99")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, backup := withBackup(t)
			backup.Can.Methods = []gateways.MethodCapability{can}
			d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Unreachable})

			a := d.attempt(t)
			_, err := d.OpenCheckout(t.Context(), a)
			require.Error(t, err)
			require.Equal(t, models.ChannelGatewayA, d.transaction(t, a).Channel)
		})
	}
}

// Where a repeated request would make another checkout, what the lost answer was about is looked for first.
func TestCheckoutThatIsFoundByReference(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.gateway.Can.Checkouts = gateways.SettledByReference

	a := d.attempt(t)
	d.openUnheard(t, a)
	d.gateway.Script(fake.FindCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

	_, err := d.OpenCheckout(t.Context(), a)
	require.Error(t, err, "who cannot ask does not send again")

	tx := d.transaction(t, d.open(t, a))
	require.Equal(t, d.gateway.Checkouts()[0].ID, *tx.Reference)
	require.Equal(t, 1, d.gateway.Calls(fake.CreateCheckout))
}

// Where none but the saved checkout can be paid, a lost answer is followed by another request and not looked for, and a refusal
// is the last word.
func TestCheckoutWhoseLossIsHarmless(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.gateway.Can.Checkouts = gateways.SettledHarmlessly

	a := d.attempt(t)
	d.openUnheard(t, a)
	require.NotNil(t, d.transaction(t, d.open(t, a)).Reference)
	require.Equal(t, 2, d.gateway.Calls(fake.CreateCheckout))

	refused := d.attempt(t)
	d.openUnheard(t, refused)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Rejected})

	c, err := d.OpenCheckout(t.Context(), refused)
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, c.Status)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)
	require.Zero(t, d.gateway.Calls(fake.FindCheckout))
}

// bySum is a desk whose gateway knows no refunds but their sum.
func bySum(t *testing.T) *desk {
	t.Helper()

	d := newDesk(t)
	d.gateway.Can.Refunds = gateways.SettledBySum

	return d
}

// finish has the refund made and settled.
func (d *desk) finish(t *testing.T, id uuid.UUID) {
	t.Helper()

	s, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: d.refundAtGateway(t, id)})
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, s.Status)
}

// TestRefundBySum: a refund whose answer was lost is what has been given back since.
func TestRefundBySum(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]fake.Mode{"made": fake.UnknownAfterEffect, "not made": fake.UnknownBeforeEffect} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := bySum(t)
			a := d.paid(t)
			first := d.reservedOf(t, a, "40.00")
			d.finish(t, first)

			id := d.reservedOf(t, a, "40.00")
			d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fault})
			d.undecided(t, id)

			if fault == fake.UnknownBeforeEffect {
				d.undecided(t, id) // it may still come
				require.Equal(t, 2, d.gateway.Calls(fake.CreateRefund))
				d.pass(t, id, settled)
			}

			d.finish(t, id)
			require.Equal(t, "80.00", d.gateway.Refunded().String())
		})
	}
}

// TestRefundsBySumGoOneAtATime: of refunds of one payment at the same time no two are under way, and each gives back its own.
func TestRefundsBySumGoOneAtATime(t *testing.T) {
	t.Parallel()

	d := bySum(t)
	a := d.paid(t)

	const refunds = 5

	ids := make([]uuid.UUID, refunds)
	for i := range ids {
		ids[i] = d.reservedOf(t, a, "23.00")
	}

	var all sync.WaitGroup

	for _, id := range ids {
		all.Go(func() {
			for t.Context().Err() == nil {
				result, err := d.RefundAtGateway(t.Context(), id)
				if err != nil || result.Status != models.RefundSucceeded {
					continue
				}

				s, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: result})
				if err == nil && s.Status == models.RefundSucceeded {
					return
				}
			}
		})
	}

	all.Wait()
	require.Equal(t, "115.00", d.gateway.Refunded().String())
	require.Len(t, d.gateway.Refunds(), refunds)
	require.Equal(t, "115.00", d.transaction(t, a).RefundedAmount.String())
}

// What a company cannot close ends all the same, and money that comes after it is found when the attempt is asked about.
func TestCheckoutThatCannotBeCancelled(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.gateway.Can.Cancel = false
	a := d.opened(t)

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Zero(t, d.gateway.Calls(fake.CancelCheckout))
	require.Equal(t, gateways.CheckoutOpen, d.gateway.Checkouts()[0].Status)

	s, err := d.EndPayment(t.Context(), activities.End{TransactionID: a.ID(), Why: models.FailureExpired})
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, s.Status)

	require.NoError(t, d.gateway.Pay(a.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)
}
