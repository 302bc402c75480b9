package bookings_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// move puts the departure of the World's trip so far from where it stands.
func (b *books) move(t *testing.T, by time.Duration) models.Trip {
	t.Helper()

	moved, err := b.Store.Bookings.UpdateTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID, func(x *models.Trip) error {
		x.DepartureAt, x.ReturnAt = x.DepartureAt.Add(by), x.ReturnAt.Add(by)

		return nil
	}, time.Now())
	require.NoError(t, err)

	return moved
}

func (b *books) quote(t *testing.T, tx models.PaymentTransaction, now time.Time) models.RefundQuote {
	t.Helper()

	q, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, now)
	require.NoError(t, err)

	return q
}

// The company cannot make a full refund into none by moving the trip to tomorrow.
func TestMovingATripTakesNoRefundAway(t *testing.T) {
	t.Parallel()

	url := storetest.Database(t)
	s, db := storetest.OpenAt(t, url, models.DefaultPolicies())
	b := bundle(t, s, db)
	tx, booked := b.Paid(t, 1), b.Trip.DepartureAt
	now := booked.Add(-73 * time.Hour)

	require.Equal(t, models.PolicyNow, b.quote(t, tx, now).Reason)

	b.move(t, -2*time.Hour) // within the tolerance, and across the first step of the schedule

	q := b.quote(t, tx, now)
	require.Equal(t, models.PolicyAtBooking, q.Reason)
	require.Equal(t, 100, q.Percent)
	require.Equal(t, 73, q.Hours)
	require.Equal(t, "115.00", q.Amount.String())

	// The schedule stays as well: the next process runs with a worse one.
	p := models.DefaultPolicies()
	p.Cancellation = models.CancellationPolicy{{MinHours: 0, Percent: 1}}
	worse, _ := storetest.OpenAt(t, url, p)

	q, err := worse.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, now)
	require.NoError(t, err)
	require.Equal(t, 100, q.Percent)
	require.Equal(t, "72h:100,24h:50,0h:0", q.Schedule.String())

	r := b.ByPolicy(tx)
	reserved, err := worse.Refunds.OrderRefund(t.Context(), r, now)
	require.NoError(t, err)
	require.Equal(t, "115.00", reserved.Amount.String())

	kept, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.PolicyAtBooking, *kept.ReasonCode())
	b.SettleRefund(t, r, bookstest.Granted(r))
}

func TestRescheduledTripIsRefundedInFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, other, unpaid := b.Paid(t, 1), b.Paid(t, 2), b.Book(t, b.Trip, 1)

	moved := b.move(t, -2*time.Hour-time.Second)
	after := b.Paid(t, 1) // bought at the new time
	soon := moved.DepartureAt.Add(-time.Second)

	q := b.quote(t, tx, soon)
	require.Equal(t, models.PolicyRescheduled, q.Reason)
	require.Equal(t, 100, q.Percent)
	require.Equal(t, "115.00", q.Amount.String())
	require.Equal(t, 0, q.Hours)

	require.Equal(t, models.PolicyNow, b.quote(t, after, soon).Reason)
	require.Equal(t, 0, b.quote(t, after, soon).Percent)

	// Once it has left, only what was bought counts.
	left := b.quote(t, tx, moved.DepartureAt)
	require.NotEqual(t, models.PolicyRescheduled, left.Reason)
	require.Equal(t, 0, left.Percent)

	// The customers have been told: moving the trip back takes nothing away.
	back := b.move(t, 2*time.Hour+time.Second)
	require.True(t, back.DepartureAt.Equal(b.Trip.DepartureAt))
	require.Equal(t, models.PolicyRescheduled, b.quote(t, other, back.DepartureAt.Add(-time.Second)).Reason)
	require.Equal(t, models.PolicyRescheduled, b.quote(t, after, back.DepartureAt.Add(-time.Second)).Reason, "it has been moved for this one, too")

	r := b.ByPolicy(tx)
	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, back.DepartureAt.Add(-time.Hour))
	require.NoError(t, err)
	b.SettleRefund(t, r, bookstest.Granted(r))
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)

	// A customer who pays after the move has booked before it.
	require.NotNil(t, b.BookingNow(t, unpaid.ID).RescheduledBy)
	require.True(t, b.BookingNow(t, unpaid.ID).BookedDepartureAt.Equal(b.Trip.DepartureAt))
}

// Every customer who has paid gets a message about every move, by email and SMS, in the language of the booking.
func TestCustomersAreToldOfAMove(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	b.Paid(t, 1)
	b.Open(t, b.Book(t, b.Trip, 1), 1)

	const told = "SELECT count(*) FROM notifications WHERE kind = 'TRIP_MOVED'"

	b.move(t, time.Hour)
	require.Equal(t, 4, b.Count(t, told), "two paid bookings, by two ways")

	b.move(t, 3*time.Hour)
	b.move(t, -3*time.Hour)
	require.Equal(t, 12, b.Count(t, told), "of every move")
	require.Equal(t, 4, b.Count(t, told+" AND status = 'PENDING'"), "the newest replaces what was not sent")

	var data string

	require.NoError(t, b.DB.QueryRowContext(t.Context(), `SELECT data FROM notifications
		WHERE kind = 'TRIP_MOVED' AND transaction_id = $1 AND channel = 'SMS' ORDER BY created_at DESC LIMIT 1`, tx.ID).Scan(&data))

	var got map[string]string

	require.NoError(t, json.Unmarshal([]byte(data), &got))
	require.Equal(t, "true", got["refundable"])
	require.Equal(t, b.Trip.DepartureAt.Add(time.Hour).Format(time.RFC3339), got["departure_at"])
	require.Equal(t, b.Trip.DepartureAt.Format(time.RFC3339), got["departure_was"], "of the one in between nothing was said")

	// What does not move the departure tells nothing.
	_, err := b.Store.Bookings.UpdateTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID,
		func(x *models.Trip) error { x.Title = "Renamed"; return nil }, time.Now())
	require.NoError(t, err)
	require.Equal(t, 12, b.Count(t, told))
}

// A payment that is settled while the trip is moved has a message about the new departure, by the move or by its own message.
func TestPaymentsBesideAMove(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 8 {
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		var (
			wg    sync.WaitGroup
			moved models.Trip
		)

		wg.Go(func() { b.Settle(t, tx, time.Now()) })
		wg.Go(func() { b.Book(t, b.Trip, 1) })
		moved = b.move(t, 3*time.Hour)
		wg.Wait()

		require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM notifications WHERE transaction_id = $1 AND channel = 'EMAIL'
			AND data ->> 'departure_at' = $2`, tx.ID, moved.DepartureAt.UTC().Format(time.RFC3339)))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM bookings WHERE id = $1 AND rescheduled_by IS NOT NULL", *tx.BookingID))
		b.Exec(t, `WITH gone AS (DELETE FROM bookings WHERE status = 'PENDING_PAYMENT' RETURNING trip_id)
			UPDATE trips SET seats_taken = seats_taken - (SELECT count(*) FROM gone) WHERE id = $1`, b.Trip.ID)
	}
}

func TestWhatWasBoughtNeverChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	b.move(t, 3*time.Hour)

	for _, change := range []string{
		"UPDATE bookings SET booked_departure_at = booked_departure_at - interval '3 days' WHERE id = $1",
		"UPDATE bookings SET booked_schedule = '0h:0' WHERE id = $1",
		"UPDATE bookings SET rescheduled_by = NULL WHERE id = $1",
		"UPDATE trip_moves SET tolerance = '1 day' WHERE $1::uuid IS NOT NULL",
		"DELETE FROM trip_moves WHERE $1::uuid IS NOT NULL",
	} {
		_, err := b.DB.ExecContext(t.Context(), change, *tx.BookingID)
		require.ErrorContains(t, err, "never changes", change)
	}
}

// The audit log says what a change of a trip, of a campaign and of a company has changed.
func TestAuditLogHasBeforeAndAfter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	type entry struct {
		Before map[string]any `json:"before"`
		After  map[string]any `json:"after"`
	}

	details := func(action string) (got entry) {
		t.Helper()

		var raw []byte

		require.NoError(t, b.DB.QueryRowContext(ctx, "SELECT details FROM audit_log WHERE action = $1 ORDER BY created_at DESC LIMIT 1", action).Scan(&raw))
		require.NoError(t, json.Unmarshal(raw, &got))

		return got
	}

	b.move(t, 3*time.Hour)
	trip := details("TRIP_UPDATED")
	require.Equal(t, b.Trip.DepartureAt.Format(time.RFC3339), trip.Before["departure_at"])
	require.Equal(t, b.Trip.DepartureAt.Add(3*time.Hour).Format(time.RFC3339), trip.After["departure_at"])
	require.Len(t, trip.After, 2, "what has changed and nothing else: departure and return")

	today := models.DateIn(time.Now())
	c, err := b.Store.Catalogue.CreateCampaign(ctx, staff, models.AdCampaign{
		TripID: b.Trip.ID, Title: "Sale", StartsOn: today, EndsOn: today, Price: models.MustMoney("500.00"),
	}, time.Now())
	require.NoError(t, err)
	require.Nil(t, details("AD_CAMPAIGN_CREATED").Before)
	require.Equal(t, "Sale", details("AD_CAMPAIGN_CREATED").After["title"])

	_, err = b.Store.Catalogue.UpdateCampaign(ctx, staff, c.ID, func(c *models.AdCampaign) error { c.Price = models.MustMoney("600.00"); return nil }, time.Now())
	require.NoError(t, err)
	require.Equal(t, map[string]any{"price": 500.0}, details("AD_CAMPAIGN_UPDATED").Before)
	require.Equal(t, map[string]any{"price": 600.0}, details("AD_CAMPAIGN_UPDATED").After)

	_, err = b.Store.Catalogue.UpdateProvider(ctx, bookstest.As(b.World, models.RoleAdmin), b.Provider.ID, func(p *models.Provider) error { p.Phone = "+966511111111"; return nil })
	require.NoError(t, err)
	require.Equal(t, b.Provider.Phone, details("PROVIDER_UPDATED").Before["phone"])
	require.Equal(t, "+966511111111", details("PROVIDER_UPDATED").After["phone"])

	require.NoError(t, b.Store.Catalogue.DeleteCampaign(ctx, staff, c.ID, time.Now()))
	require.Equal(t, "Sale", details("AD_CAMPAIGN_DELETED").Before["title"])
	require.Nil(t, details("AD_CAMPAIGN_DELETED").After)
}
