package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
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
			b := setup(t)
			trip := b.InsertTrip(t, 4, nil)
			unpaid, waiting := b.Book(t, trip, 1), b.Book(t, trip, 1)
			tx := b.Open(t, waiting, 1)
			b.Exec(t, because, trip.ID)

			p, err := b.Store.Payments.PayableBooking(t.Context(), unpaid.ID, time.Now())
			require.NoError(t, err)
			bookstest.RequireCode(t, models.CodeBookingNotPayable, p.Err)
			_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(unpaid, 1, models.MethodCreditCard), time.Now)
			bookstest.RequireCode(t, models.CodeBookingNotPayable, err)

			b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
			b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureCancelled)
			require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, waiting.ID).Status)
		})
	}
}

func TestHoldEndsWithTheDeparture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	leaves := time.Now().UTC().Truncate(time.Second).Add(20 * time.Minute)
	soon := b.InsertTrip(t, 4, func(trip *models.Trip) { trip.DepartureAt = leaves })
	later := b.InsertTrip(t, 4, func(trip *models.Trip) { trip.DepartureAt = leaves.Add(time.Hour) })

	require.WithinDuration(t, leaves, b.BookingNow(t, b.Book(t, soon, 1).ID).HoldUntil, 0)

	bill := b.Request(later, 1)
	bill.Method = models.MethodBillPayment
	booking, err := b.Store.Bookings.CreateBooking(t.Context(), bill, time.Now())
	require.NoError(t, err)
	require.WithinDuration(t, later.DepartureAt, b.BookingNow(t, booking.ID).HoldUntil, 0)

	extended := b.Book(t, later, 1)
	require.True(t, extended.HoldUntil.Before(later.DepartureAt))

	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(extended, 1, models.MethodBillPayment), time.Now)
	require.NoError(t, err)
	require.WithinDuration(t, later.DepartureAt, tx.ExpiresAt, 0)
	require.WithinDuration(t, later.DepartureAt, b.BookingNow(t, extended.ID).HoldUntil, 0)
}

func TestCampaignWhoseLastDayIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	over := today.AddDays(1).Start()
	unpaid := b.Campaign(t, today, today)
	tx := b.OpenCampaign(t, b.Campaign(t, today, today), 1)

	p, err := b.Store.Payments.PayableCampaign(t.Context(), unpaid, over.Add(-time.Second))
	require.NoError(t, err)
	require.NoError(t, p.Err, "the last day counts")

	p, err = b.Store.Payments.PayableCampaign(t.Context(), unpaid, over)
	require.NoError(t, err)
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, p.Err)

	a := models.Attempt{CampaignID: unpaid, ProviderID: b.Provider.ID, Number: 1, UserID: tx.UserID, Method: models.MethodWalletB}
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), a, at(over))
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, err)

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, over).Status, "paid on the last day, however late it is processed")

	late := b.OpenCampaign(t, unpaid, 1)
	b.Exec(t, "UPDATE ad_campaigns SET starts_on = starts_on - 1, ends_on = ends_on - 1 WHERE id = $1", unpaid)
	b.Deliver(t, bookstest.Event(late, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, late, b.Settle(t, late, time.Now()), models.FailureCancelled)
}

func TestCampaignWhoseTripIsDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	unpaid := b.Campaign(t, today, today)
	tx := b.OpenCampaign(t, b.Campaign(t, today, today), 1)
	b.Exec(t, "UPDATE trips SET deleted_at = now() WHERE id = $1", b.Trip.ID)

	p, err := b.Store.Payments.PayableCampaign(t.Context(), unpaid, time.Now())
	require.NoError(t, err)
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, p.Err)

	a := models.Attempt{CampaignID: unpaid, ProviderID: b.Provider.ID, Number: 1, UserID: tx.UserID, Method: models.MethodWalletB}
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, err)

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureCancelled)
}
