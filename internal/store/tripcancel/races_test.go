package tripcancel_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// While a trip is called off by two workers at once, customers pay, staff refund and cancel, and others try to book: in the end no booking
// is live, no seat is taken, and all money has gone back once.
func TestCallingOffAmongOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 12 {
		b.Trip = b.InsertTrip(t, 20, nil)
		full, policy, part := b.Paid(t, 1), b.Paid(t, 2), b.Paid(t, 3)
		b.Paid(t, 1)

		paying := []models.PaymentTransaction{b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 2), 1)}
		for _, tx := range paying {
			b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
		}

		c := b.order(t)
		finance := b.As(models.RoleFinanceAdmin)

		acts := []func(context.Context) error{
			func(context.Context) error { b.cancelAll(t, c.ID); return nil },
			func(context.Context) error { b.cancelAll(t, c.ID); return nil },
			func(context.Context) error { b.Settle(t, paying[0], time.Now()); return nil },
			func(context.Context) error { b.Settle(t, paying[1], time.Now()); return nil },
			func(ctx context.Context) error {
				_, err := b.Store.Refunds.OrderRefund(ctx, b.Ask(full, ""), time.Now())

				return err
			},
			func(ctx context.Context) error {
				_, err := b.Store.Refunds.OrderRefund(ctx, b.ByPolicy(policy), time.Now())

				return err
			},
			func(ctx context.Context) error {
				_, err := b.Store.Refunds.Cancel(ctx, models.RefundRequest{
					ID: models.NewID(), BookingID: *part.BookingID, Type: models.RefundFull, RequestedBy: &finance.UserID, Role: finance.Role,
				}, models.CancelOrder{
					ID: models.NewID(), Passengers: models.PassengerIDs(*part.BookingID, []int{1}), RefundBy: models.CancelInFull,
				}, time.Now())

				return err
			},
			func(ctx context.Context) error {
				_, err := b.Store.Bookings.CreateBooking(ctx, b.Request(b.Trip, 1), time.Now())
				require.Error(t, err, "it is sold no more")

				return nil
			},
		}

		bookstest.AllAtOnce(t, acts, models.CodeInvalidState, models.CodeBookingNotRefundable, models.CodeRefundExceedsRemaining)

		b.grantAll(t)
		b.cancelAll(t, c.ID)
		b.grantAll(t)
		require.True(t, b.finish(t, c.ID))
		require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
		require.Zero(t, b.Count(t, `SELECT count(*) FROM payment_transactions AS t JOIN bookings AS k ON k.id = t.booking_id
			WHERE k.trip_id = $1 AND t.kind = 'PAYMENT' AND t.captured_at IS NOT NULL AND t.refunded_amount <> t.amount AND t.status = 'PAID'`, b.Trip.ID))
	}

	b.RequireBooks(t)
}

// A booking that cannot be cancelled now is reported and tried again, and what was tried twice is done once.
func TestBlockedBookingsAreTriedAgain(t *testing.T) {
	t.Parallel()

	b := setup(t, bookstest.Strict())
	tx := b.Paid(t, 1)
	waiting := b.Reserve(t, b.Ask(tx, ""))
	require.True(t, waiting.NeedsApproval())

	free := b.Paid(t, 1)
	c := b.order(t)
	require.Equal(t, 1, b.cancelAll(t, c.ID))
	require.False(t, b.finish(t, c.ID))

	require.NoError(t, b.Store.TripCancellations.ReportBlocked(t.Context(), c.ID, models.CancelledForTrip{Booking: *tx.BookingID}))
	require.NoError(t, b.Store.TripCancellations.ReportBlocked(t.Context(), c.ID, models.CancelledForTrip{Booking: *tx.BookingID}))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'TRIP_CANCELLATION_BLOCKED' AND jsonb_array_length(details->'events') = 1"))

	first, err := b.Store.TripCancellations.CancelBooking(t.Context(), c.ID, *free.BookingID, time.Now())
	require.NoError(t, err)
	again, err := b.Store.TripCancellations.CancelBooking(t.Context(), c.ID, *free.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotNil(t, again.Refund)

	b.DecideApproval(t, bookstest.Disapproved(waiting.ID, "the trip is called off"), models.RoleAdmin)
	_, err = b.Store.Refunds.SettleRefund(t.Context(), waiting.ID, models.RefundResult{}, time.Now())
	require.NoError(t, err)

	require.Zero(t, b.cancelAll(t, c.ID))
	b.grantAll(t)
	require.True(t, b.finish(t, c.ID))
	require.True(t, b.finish(t, c.ID), "again")
	b.RequireBooks(t)
}

// Of a paid campaign the days come back that it has not run, of an unpaid one the checkout is closed; both once.
func TestCampaignsOfATripThatIsCalledOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())

	buy := func(from, to int) models.PaymentTransaction {
		tx := b.OpenCampaign(t, b.Campaign(t, today.AddDays(from), today.AddDays(to)), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)
		b.Settle(t, tx, time.Now())

		return tx
	}
	begun, ahead := buy(0, 6), buy(2, 4)
	open := b.OpenCampaign(t, b.Campaign(t, today, today), 1)
	seen := b.preview(t)
	c := b.order(t)

	ids, err := b.Store.TripCancellations.Campaigns(t.Context(), b.Trip.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{*begun.AdCampaignID, *ahead.AdCampaignID, *open.AdCampaignID}, ids)

	for range 2 {
		out, err := b.Store.TripCancellations.EndCampaign(t.Context(), c.ID, *begun.AdCampaignID, time.Now())
		require.NoError(t, err)
		require.NotNil(t, out.Refund)

		r, err := b.Store.Refunds.RefundByID(t.Context(), out.Refund.ID)
		require.NoError(t, err)

		seven := begun.Amount.Times(6).Share(models.MustMoney("1.00"), models.MustMoney("7.00"))
		require.Equal(t, seven.String(), r.Amount.String(), "today counts as run")

		out, err = b.Store.TripCancellations.EndCampaign(t.Context(), c.ID, *open.AdCampaignID, time.Now())
		require.NoError(t, err)
		require.Equal(t, open.ID, out.Attempt)
		require.Nil(t, out.Refund)
	}

	out, err := b.Store.TripCancellations.EndCampaign(t.Context(), c.ID, *ahead.AdCampaignID, time.Now())
	require.NoError(t, err)

	r, err := b.Store.Refunds.RefundByID(t.Context(), out.Refund.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundFull, r.RefundType)

	var back models.Money

	require.NoError(t, b.DB.QueryRowContext(t.Context(), "SELECT sum(amount) FROM refunds").Scan(&back))
	require.Equal(t, 3, seen.Campaigns)
	require.Equal(t, back.String(), seen.CampaignRefundTotal.String(), "as it was previewed")
	require.Equal(t, "0.00", seen.RefundTotal.String(), "which is of bookings alone")

	b.grantAll(t)
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE status = 'CANCELLED'"))
	require.Equal(t, 4, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'CAMPAIGN_REFUNDED'"), "a mail and an SMS each")
	require.Zero(t, b.Count(t, `SELECT count(*) FROM notifications WHERE kind = 'CAMPAIGN_REFUNDED'
		AND (data ->> 'kept_amount' IS NOT NULL) <> (data ->> 'amount' <> data ->> 'paid_amount')`), "what the days that have run cost stays paid")
	require.True(t, b.finish(t, c.ID))

	// Who pays all the same gets the money back.
	b.Deliver(t, bookstest.Event(open, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, open, b.Settle(t, open, time.Now()), models.FailureCancelled)
	b.RequireBooks(t)
}

// A campaign whose late money is settled while its trip is called off is refunded, whichever comes first.
func TestCampaignPaidLateBesideACallOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())

	for range 15 {
		b.Trip = b.InsertTrip(t, 20, nil)
		ad := b.Campaign(t, today.AddDays(1), today.AddDays(4))
		tx := b.OpenCampaign(t, ad, 1)
		b.Exec(t, "UPDATE ad_campaigns SET trip_id = $1 WHERE id = $2", b.Trip.ID, ad)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentFailed, nil))
		b.Settle(t, tx, time.Now())
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		c := b.order(t)

		bookstest.Race(func() { b.Settle(t, tx, time.Now()) }, func() {
			out, err := b.Store.TripCancellations.EndCampaign(t.Context(), c.ID, ad, time.Now())
			require.NoError(t, err)
			require.Empty(t, out.Blocked)
		})
		require.True(t, b.finish(t, c.ID))

		_, err := b.Store.Refunds.OrderLateRefund(t.Context(), tx.ID, time.Now())
		require.NoError(t, err)
		b.grantAll(t)

		now := b.Transaction(t, tx.ID)
		require.Equal(t, now.Amount.String(), now.RefundedAmount.String())
	}

	b.RequireBooks(t)
}

// For a trip that is called off no campaign is made or paid.
func TestNoCampaignForATripThatIsCalledOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	b.order(t)

	_, err := b.Store.Catalogue.CreateCampaign(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), models.AdCampaign{
		TripID: b.Trip.ID, Title: "Too late", StartsOn: today, EndsOn: today, Price: models.MustMoney("100.00"),
	}, time.Now())
	bookstest.RequireFields(t, models.CodeValidation, err, "trip_id")

	_, _, err = b.Store.Payments.OpenPayment(t.Context(), models.Attempt{
		CampaignID: b.Campaign(t, today, today), Number: 1, UserID: b.Users[models.RoleProviderAdmin].ID, Method: models.MethodCreditCard,
	}, time.Now)
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, err)
}
