package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// A trip that does not take place any more can neither be paid for nor confirmed, although the hold lasts.
func TestTripThatIsGone(t *testing.T) {
	t.Parallel()

	for name, because := range map[string]string{
		"departed":  "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 minute' WHERE id = $1",
		"cancelled": "UPDATE trips SET status = 'CANCELLED' WHERE id = $1",
		"deleted":   "UPDATE trips SET deleted_at = now() WHERE id = $1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupBooks(t)
			trip := b.trip(t, 4, nil)
			unpaid, waiting := b.book(t, trip, 1), b.book(t, trip, 1)
			tx := b.open(t, waiting, 1)
			b.exec(t, because, trip.ID)

			p, err := b.s.PayableBooking(t.Context(), unpaid.ID, time.Now())
			require.NoError(t, err)
			requireCode(t, models.CodeBookingNotPayable, p.Err)
			_, _, err = b.s.OpenPayment(t.Context(), b.attempt(unpaid, 1, models.MethodCreditCard), time.Now)
			requireCode(t, models.CodeBookingNotPayable, err)

			b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
			b.requireOwed(t, tx, b.settle(t, tx, time.Now()), models.FailureCancelled)
			require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, waiting.ID).Status)
			b.requireIdentities(t)
		})
	}
}

func TestHoldEndsWithTheDeparture(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	leaves := time.Now().UTC().Truncate(time.Second).Add(20 * time.Minute)
	soon := b.trip(t, 4, func(trip *models.Trip) { trip.DepartureAt = leaves })
	later := b.trip(t, 4, func(trip *models.Trip) { trip.DepartureAt = leaves.Add(time.Hour) })

	require.WithinDuration(t, leaves, b.bookingNow(t, b.book(t, soon, 1).ID).HoldUntil, 0)

	bill := b.request(later, 1)
	bill.Method = models.MethodBillPayment
	booking, err := b.s.CreateBooking(t.Context(), bill)
	require.NoError(t, err)
	require.WithinDuration(t, later.DepartureAt, b.bookingNow(t, booking.ID).HoldUntil, 0)

	extended := b.book(t, later, 1)
	require.True(t, extended.HoldUntil.Before(later.DepartureAt))

	tx, _, err := b.s.OpenPayment(t.Context(), b.attempt(extended, 1, models.MethodBillPayment), time.Now)
	require.NoError(t, err)
	require.WithinDuration(t, later.DepartureAt, tx.ExpiresAt, 0)
	require.WithinDuration(t, later.DepartureAt, b.bookingNow(t, extended.ID).HoldUntil, 0)
}

func TestCampaignWhoseLastDayIsOver(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	today := models.DateIn(time.Now())
	over := today.AddDays(1).Start()
	unpaid := b.campaign(t, today, today)
	tx := b.openCampaign(t, b.campaign(t, today, today), 1)

	p, err := b.s.PayableCampaign(t.Context(), unpaid, over.Add(-time.Second))
	require.NoError(t, err)
	require.NoError(t, p.Err, "the last day counts")

	p, err = b.s.PayableCampaign(t.Context(), unpaid, over)
	require.NoError(t, err)
	requireCode(t, models.CodeCampaignNotPayable, p.Err)

	a := models.Attempt{CampaignID: unpaid, ProviderID: b.Provider.ID, Number: 1, UserID: tx.UserID, Method: models.MethodWalletB}
	_, _, err = b.s.OpenPayment(t.Context(), a, at(over))
	requireCode(t, models.CodeCampaignNotPayable, err)

	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	require.Equal(t, models.TransactionPaid, b.settle(t, tx, over).Status, "paid on the last day, however late it is processed")

	late := b.openCampaign(t, unpaid, 1)
	b.exec(t, "UPDATE ad_campaigns SET starts_on = starts_on - 1, ends_on = ends_on - 1 WHERE id = $1", unpaid)
	b.deliver(t, word(late, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, late, b.settle(t, late, time.Now()), models.FailureCancelled)
}

func TestCampaignWhoseTripIsDeleted(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	today := models.DateIn(time.Now())
	unpaid := b.campaign(t, today, today)
	tx := b.openCampaign(t, b.campaign(t, today, today), 1)
	b.exec(t, "UPDATE trips SET deleted_at = now() WHERE id = $1", b.Trip.ID)

	p, err := b.s.PayableCampaign(t.Context(), unpaid, time.Now())
	require.NoError(t, err)
	requireCode(t, models.CodeCampaignNotPayable, p.Err)

	a := models.Attempt{CampaignID: unpaid, ProviderID: b.Provider.ID, Number: 1, UserID: tx.UserID, Method: models.MethodWalletB}
	_, _, err = b.s.OpenPayment(t.Context(), a, time.Now)
	requireCode(t, models.CodeCampaignNotPayable, err)

	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, tx, b.settle(t, tx, time.Now()), models.FailureCancelled)
}
