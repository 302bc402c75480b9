package store_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/audit/audittest"
	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// testBundle is what a test of the store starts from: a database of its own with one company and its users.
type testBundle struct {
	storetest.World

	s        *store.Store
	books    *audittest.Ending
	db       *sql.DB // for rows in states that nothing brings about in the time of a test
	customer models.User
	finance  store.Actor
}

func setup(t *testing.T) *testBundle {
	t.Helper()

	return setupWith(t, store.DefaultPolicies())
}

func setupWith(t *testing.T, p store.Policies) *testBundle {
	t.Helper()

	s, db := storetest.Open(t, p)

	return bundle(t, s, db)
}

func bundle(t *testing.T, s *store.Store, db *sql.DB) *testBundle {
	t.Helper()

	w, books := storetest.Fixture(t, s), audittest.After(t, db)
	books.Tampered(t, "the tests say in the gateway's place how a refund was decided; its answers are stored by activities", "refund-proof")
	books.Tampered(t, "the tests report events in the gateway's place, without the bodies that it signs", "event-body")

	return &testBundle{
		World: w, s: s, db: db, books: books, customer: w.Users[models.RoleEndUser],
		finance: store.Actor{UserID: w.Users[models.RoleFinanceAdmin].ID, Role: models.RoleFinanceAdmin, RequestID: "req-1"},
	}
}

func (b *testBundle) exec(t *testing.T, query string, args ...any) {
	t.Helper()

	_, err := b.db.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

func (b *testBundle) count(t *testing.T, query string, args ...any) int {
	t.Helper()

	var n int

	require.NoError(t, b.db.QueryRowContext(t.Context(), query, args...).Scan(&n))

	return n
}

// trip inserts a further trip; edit may be nil.
func (b *testBundle) trip(t *testing.T, capacity int, edit func(*models.Trip)) models.Trip {
	t.Helper()

	trip := b.NewTrip("Test Trip", capacity)
	if edit != nil {
		edit(&trip)
	}

	require.NoError(t, b.s.InsertDemo(t.Context(), store.DemoData{Trips: []models.Trip{trip}}))

	return trip
}

// request asks for seats on a trip in the customer's name.
func (b *testBundle) request(trip models.Trip, seats int) store.NewBooking {
	passengers := make([]models.Passenger, seats)
	for i := range passengers {
		passengers[i] = models.Passenger{Name: "Passenger", DocumentNumber: "D1"}
	}

	return store.NewBooking{
		UserID: b.customer.ID, TripID: trip.ID, Passengers: passengers,
		ContactName: "Contact", ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000",
		Locale: models.LocaleEnglish, Method: models.MethodCreditCard,
	}
}

func (b *testBundle) book(t *testing.T, trip models.Trip, seats int) models.Booking {
	t.Helper()

	booking, err := b.s.CreateBooking(t.Context(), b.request(trip, seats))
	require.NoError(t, err)

	return booking
}

// at is a clock that stands still.
func at(now time.Time) func() time.Time { return func() time.Time { return now } }

// open opens the nth payment attempt of a booking, with a checkout.
func (b *testBundle) open(t *testing.T, booking models.Booking, n int) models.PaymentTransaction {
	t.Helper()

	a := models.Attempt{BookingID: booking.ID, Number: n, UserID: booking.UserID, Method: models.MethodCreditCard}
	tx, _, err := b.s.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.NoError(t, b.s.SaveCheckout(t.Context(), tx.ID, "ref-"+tx.ID.String(), "https://gateway.test/"+tx.ID.String()))

	return tx
}

// report delivers a gateway's word about an attempt and settles it.
func (b *testBundle) report(t *testing.T, tx models.PaymentTransaction, kind models.EventType) {
	t.Helper()

	e := models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "evt-" + uuid.NewString(), Type: kind,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, ResultCode: "000", OccurredAt: time.Now(),
	}
	_, err := b.s.StoreEvent(t.Context(), e, time.Now())
	require.NoError(t, err)
	_, err = b.s.SettlePayment(t.Context(), tx.ID, time.Now())
	require.NoError(t, err)
}

// paid makes a booking with its payment, and returns the payment.
func (b *testBundle) paid(t *testing.T, seats int) models.PaymentTransaction {
	t.Helper()

	tx := b.open(t, b.book(t, b.Trip, seats), 1)
	b.report(t, tx, models.EventPaymentSucceeded)

	tx, err := b.s.TransactionByID(t.Context(), tx.ID)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, tx.Status)

	return tx
}

func requireCode(t *testing.T, want models.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, models.CodeOf(err), "%v", err)
}

// refund gives back an amount of a paid attempt, or all that is left when the amount is nil.
func (b *testBundle) refund(t *testing.T, tx models.PaymentTransaction, amount *models.Money) models.Refund {
	t.Helper()

	r := models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundFull,
		RequestedBy: &b.finance.UserID, Role: b.finance.Role, RequestID: "req-refund",
	}
	if amount != nil {
		r.Type, r.Amount = models.RefundPartial, amount
	}

	_, err := b.s.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)

	_, err = b.s.SettleRefund(t.Context(), r.ID,
		models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "gw-" + r.ID.String()}, time.Now())
	require.NoError(t, err)

	got, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, got.Status)

	return got
}

func amount(s string) *models.Money {
	m := models.MustMoney(s)

	return &m
}
