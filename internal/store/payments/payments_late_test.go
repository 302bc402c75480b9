package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// TestOpenPaymentTwiceWhileTheHoldEnds: a try that is waiting is given up and made again, and the second comes too late. As the
// first opens the attempt after all, the second must find it, and not leave it without an owner.
func TestOpenPaymentTwiceWhileTheHoldEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	a := b.Attempt(booking, 1, models.MethodCreditCard)

	stall, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = stall.Rollback() }()

	_, err = stall.ExecContext(t.Context(), "LOCK TABLE payment_transactions IN EXCLUSIVE MODE")
	require.NoError(t, err)

	type opened struct {
		tx  models.PaymentTransaction
		err error
	}

	results := make(chan opened, 2)

	for i, now := range []time.Time{booking.HoldUntil.Add(-time.Second), booking.HoldUntil.Add(time.Second)} {
		go func() {
			tx, _, err := b.Store.Payments.OpenPayment(t.Context(), a, at(now))
			results <- opened{tx, err}
		}()

		b.awaitLocks(t, i+1)
	}

	require.NoError(t, stall.Rollback())

	for range 2 {
		r := <-results
		require.NoError(t, r.err)
		require.Equal(t, a.ID(), r.tx.ID)
		require.Equal(t, models.TransactionPending, r.tx.Status)
	}
}

// TestOpenPaymentWhenItsTurnComesTooLate: what counts is the time at which a try has the booking or the campaign, and not that at
// which it began to wait.
func TestOpenPaymentWhenItsTurnComesTooLate(t *testing.T) {
	t.Parallel()
	b := setup(t)

	booking := b.Book(t, b.Trip, 1)
	a := b.Attempt(booking, 1, models.MethodCreditCard)
	b.requireTooLate(t, "SELECT 1 FROM bookings WHERE id = $1 FOR UPDATE", booking.ID, a, booking.HoldUntil, models.CodeBookingNotPayable)

	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today, today)
	a = models.Attempt{CampaignID: campaign, ProviderID: b.Provider.ID, Number: 1, UserID: booking.UserID, Method: models.MethodWalletB}
	b.requireTooLate(t, "SELECT 1 FROM ad_campaigns WHERE id = $1 FOR UPDATE", campaign, a,
		today.AddDays(1).Start(), models.CodeCampaignNotPayable)
}

// requireTooLate begins to open a in time, lets it wait for the row that lock takes until over, and requires that it is refused.
func (b *books) requireTooLate(t *testing.T, lock string, row uuid.UUID, a models.Attempt, over time.Time, want models.Code) {
	t.Helper()

	stall, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = stall.Rollback() }()

	_, err = stall.ExecContext(t.Context(), lock, row)
	require.NoError(t, err)

	var now atomic.Pointer[time.Time]

	begun := over.Add(-time.Second)
	now.Store(&begun)

	refused := make(chan error, 1)

	go func() {
		_, _, err := b.Store.Payments.OpenPayment(t.Context(), a, func() time.Time { return *now.Load() })
		refused <- err
	}()

	b.awaitLocks(t, 1)
	now.Store(&over)
	require.NoError(t, stall.Rollback())
	bookstest.RequireCode(t, want, <-refused)
}
