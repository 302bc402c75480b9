package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// quote is what the tests need of a refund's quote.
type quote struct {
	BookingID uuid.UUID           `json:"booking_id"`
	Paid      models.Money        `json:"paid_amount"`
	Refunded  models.Money        `json:"refunded_amount"`
	Remaining models.Money        `json:"remaining_amount"`
	Percent   int                 `json:"policy_percent"`
	Amount    models.Money        `json:"quote_amount"`
	Hours     int                 `json:"hours_to_departure"`
	Currency  string              `json:"currency"`
	Reason    models.PolicyReason `json:"reason_code"`
}

func byPolicy() map[string]any { return map[string]any{"refund_type": models.RefundPolicy} }

// leavesIn puts the departure of the World's trip so far from now.
func leavesIn(t *testing.T, s *harness.Stack, left time.Duration) {
	t.Helper()

	tx, err := s.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	exec := func(query string, args ...any) {
		_, err := tx.ExecContext(t.Context(), query, args...)
		require.NoError(t, err)
	}
	trip, at := s.World.Trip.ID, time.Now().Add(left)

	exec("UPDATE trips SET departure_at = $2::timestamptz, return_at = $2::timestamptz + interval '3 days' WHERE id = $1", trip, at)
	// As if the bookings had been made for that departure, which their trigger would keep.
	exec("ALTER TABLE bookings DISABLE TRIGGER bookings_terms_kept, DISABLE TRIGGER bookings_digest_kept")
	exec("UPDATE bookings SET booked_departure_at = $2 WHERE trip_id = $1", trip, at)
	exec("UPDATE bookings AS b SET terms_digest = booking_terms_digest(b) WHERE trip_id = $1", trip)
	exec("ALTER TABLE bookings ENABLE TRIGGER bookings_terms_kept, ENABLE TRIGGER bookings_digest_kept")

	require.NoError(t, tx.Commit())
}

func quoteOf(t *testing.T, s *harness.Stack, booking uuid.UUID) quote {
	t.Helper()

	return decoded[quote](t, http.StatusOK, s.As(models.RoleFinanceAdmin).Get(refundPath(booking)+"-quote"))
}

// refundByPolicy gives back half of a booking a day and a half before departure, and nothing on the day itself.
func refundByPolicy(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b, late := customer.BookPaid(1), customer.BookPaid(1)

	leavesIn(t, s, 36*time.Hour+time.Minute)
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly("15.01")))

	require.Equal(t, quote{
		BookingID: b.ID, Paid: models.MustMoney("115.00"), Refunded: models.MustMoney("15.01"), Remaining: models.MustMoney("99.99"),
		Percent: 50, Amount: models.MustMoney("42.49"), Hours: 36, Currency: "SAR",
		Reason: models.PolicyNow,
	}, quoteOf(t, s, b.ID))

	body := byPolicy()
	body["amount"] = 1
	refused(t, finance.Post(refundPath(b.ID), body), http.StatusUnprocessableEntity, models.CodeValidation)

	key := uuid.NewString()
	first := post(finance, refundPath(b.ID), byPolicy(), key)
	r := decoded[refund](t, http.StatusCreated, first)
	require.Equal(t, models.RefundPolicy, r.Type)
	require.Equal(t, "42.49", r.Amount.String())
	require.Equal(t, 50, *r.PolicyPercent)
	require.Equal(t, models.TransactionPartialRefund, transactionByID(t, s, *r.Transaction).Status)
	require.Equal(t, models.BookingCancelled, statusOf(t, customer, b.ID).BookingStatus, "its passengers do not travel")
	requireEntriesAddUp(t, s, b)

	// Asked again when nothing would go back any more, under the same key it is the same refund.
	leavesIn(t, s, 23*time.Hour)

	again := post(finance, refundPath(b.ID), byPolicy(), key)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))

	refused(t, finance.Post(refundPath(b.ID), byPolicy()), http.StatusConflict, models.CodeBookingNotRefundable)
	refused(t, finance.Post(refundPath(late.ID), byPolicy()), http.StatusConflict, models.CodeBookingNotRefundable)

	none := quoteOf(t, s, late.ID)
	require.Equal(t, 0, none.Percent)
	require.Equal(t, "0.00", none.Amount.String())
	require.Equal(t, "115.00", none.Remaining.String())

	// Early enough, all of it goes back and the booking ends.
	leavesIn(t, s, 80*time.Hour)

	all := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(late.ID), byPolicy()))
	require.Equal(t, "115.00", all.Amount.String())
	require.Equal(t, models.TransactionRefunded, transactionByID(t, s, *all.Transaction).Status)
	require.Equal(t, models.BookingCancelled, statusOf(t, customer, late.ID).BookingStatus)
}

// rescheduledTrip is moved by its company, by more than the tolerance and back: the customer may have all of it.
func rescheduledTrip(t *testing.T, s *harness.Stack) {
	t.Helper()

	leavesIn(t, s, 10*time.Hour)

	customer, staff := s.As(models.RoleEndUser), s.As(models.RoleProviderStaff)
	b := customer.BookPaid(1)
	require.Equal(t, 0, quoteOf(t, s, b.ID).Percent)

	path := "/api/v1/provider/trips/" + s.World.Trip.ID.String()
	booked := time.Now().Add(10 * time.Hour).UTC().Truncate(time.Second)

	for _, by := range []time.Duration{-3 * time.Hour, 0} {
		moved, err := staff.Do(http.MethodPatch, path, map[string]any{"departure_at": booked.Add(by).Format(time.RFC3339)}, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, moved.Status, string(moved.Body))
	}

	q := quoteOf(t, s, b.ID)
	require.Equal(t, models.PolicyRescheduled, q.Reason)
	require.Equal(t, 100, q.Percent)

	shown := decoded[struct {
		Now    time.Time `json:"departure_at"`
		Booked time.Time `json:"departure_at_booking"`
	}](t, http.StatusOK, customer.Get("/api/v1/bookings/"+b.ID.String()))
	require.Equal(t, booked, shown.Now)
	require.WithinDuration(t, booked, shown.Booked, 10*time.Second)

	r := decoded[struct {
		Reason models.PolicyReason `json:"reason_code"`
		Amount models.Money        `json:"amount"`
	}](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), byPolicy()))
	require.Equal(t, models.PolicyRescheduled, r.Reason)
	require.Equal(t, "115.00", r.Amount.String())
}

func refundQuotes(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	unpaid := customer.Book(1)

	refused(t, finance.Get(refundPath(unpaid.ID)+"-quote"), http.StatusConflict, models.CodeBookingNotRefundable)
	refused(t, finance.Get(refundPath(uuid.New())+"-quote"), http.StatusNotFound, models.CodeNotFound)

	b := customer.BookPaid(1)
	require.Equal(t, "115.00", quoteOf(t, s, b.ID).Amount.String(), "the trip leaves in a month")
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), fully()))

	gone := quoteOf(t, s, b.ID)
	require.Equal(t, "115.00", gone.Refunded.String())
	require.Equal(t, "0.00", gone.Remaining.String())
	require.Equal(t, "0.00", gone.Amount.String())
}
