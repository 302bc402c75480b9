// Package bookstest has what tests about money start from, and the steps that tests of several packages take.
package bookstest

import (
	"database/sql"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/audit/audittest"
	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/seed"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// Books is what a test of a store starts from: a database of its own with one company and its users.
type Books struct {
	storetest.World

	Store    *store.Store
	Audit    *audittest.Ending
	DB       *sql.DB // for rows in states that nothing brings about in the time of a test
	Customer models.User
	Finance  db.Actor
}

// NewBooks is a database of its own, whose books are audited when the test ends. They are kept by the default policies, or by the
// first of own.
func NewBooks(t *testing.T, own ...models.Policies) *Books {
	t.Helper()

	s, conn := storetest.Open(t, append(own, models.DefaultPolicies())[0])

	return BooksOf(t, s, conn)
}

// BooksOf is NewBooks on a database that the test has opened.
func BooksOf(t *testing.T, s *store.Store, conn *sql.DB) *Books {
	t.Helper()

	b := newBooks(t, s, conn)
	b.Audit.Tampered(t, "the tests say in the gateway's place how a refund was decided; its answers are stored by activities", "refund-proof")
	b.Audit.Tampered(t, "the tests report events in the gateway's place, without the bodies that it signs", "event-body")

	return b
}

func newBooks(t *testing.T, s *store.Store, conn *sql.DB) *Books {
	t.Helper()

	w := storetest.Fixture(t, s)

	return &Books{
		World: w, Store: s, DB: conn, Audit: audittest.After(t, conn), Customer: w.Users[models.RoleEndUser],
		Finance: db.Actor{UserID: w.Users[models.RoleFinanceAdmin].ID, Role: models.RoleFinanceAdmin, RequestID: "req-1"},
	}
}

// RequireBooks fails the test with every difference that an audit finds now. Another one follows when the test ends.
func (b *Books) RequireBooks(t *testing.T) {
	t.Helper()
	b.Audit.Require(t)
}

// Exec runs a statement.
func (b *Books) Exec(t *testing.T, query string, args ...any) {
	t.Helper()

	_, err := b.DB.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

// Count returns the number that a query selects.
func (b *Books) Count(t *testing.T, query string, args ...any) int {
	t.Helper()

	var n int

	require.NoError(t, b.DB.QueryRowContext(t.Context(), query, args...).Scan(&n))

	return n
}

// InsertTrip inserts a further trip; edit may be nil.
func (b *Books) InsertTrip(t *testing.T, capacity int, edit func(*models.Trip)) models.Trip {
	t.Helper()

	trip := b.NewTrip("Test Trip", capacity)
	if edit != nil {
		edit(&trip)
	}

	require.NoError(t, seed.Of(b.Store).InsertDemo(t.Context(), seed.DemoData{Trips: []models.Trip{trip}}))

	return trip
}

// Request asks for seats on a trip in the customer's name.
func (b *Books) Request(trip models.Trip, seats int) bookings.NewBooking {
	passengers := make([]models.Passenger, seats)
	for i := range passengers {
		passengers[i] = models.Passenger{Name: "Passenger", DocumentNumber: "D1"}
	}

	return bookings.NewBooking{
		UserID: b.Customer.ID, TripID: trip.ID, Passengers: passengers,
		ContactName: "Contact", ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000",
		Locale: models.LocaleEnglish, Method: models.MethodCreditCard,
	}
}

// Book books seats in the customer's name.
func (b *Books) Book(t *testing.T, trip models.Trip, seats int) models.Booking {
	t.Helper()

	booking, err := b.Store.Bookings.CreateBooking(t.Context(), b.Request(trip, seats), time.Now())
	require.NoError(t, err)

	return booking
}

// Open opens the nth payment attempt of a booking, with a checkout.
func (b *Books) Open(t *testing.T, booking models.Booking, n int) models.PaymentTransaction {
	t.Helper()

	a := models.Attempt{BookingID: booking.ID, Number: n, UserID: booking.UserID, Method: models.MethodCreditCard}
	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/" + tx.ID.String(),
	}))

	return tx
}

// Report delivers a gateway's status of an attempt and settles it.
func (b *Books) Report(t *testing.T, tx models.PaymentTransaction, kind models.EventType) {
	t.Helper()

	e := models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "evt-" + uuid.NewString(), Type: kind,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, ResultCode: "000", OccurredAt: time.Now(),
	}
	_, err := b.Store.Inbox.StoreEvent(t.Context(), e, time.Now())
	require.NoError(t, err)
	_, err = b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
	require.NoError(t, err)
}

// PaidFor is Paid of a trip of its own, one seat of which costs the price.
func (b *Books) PaidFor(t *testing.T, price string) models.PaymentTransaction {
	t.Helper()

	trip := b.InsertTrip(t, 1, func(trip *models.Trip) { trip.PricePerSeat = models.MustMoney(price) })
	tx := b.Open(t, b.Book(t, trip, 1), 1)
	b.Report(t, tx, models.EventPaymentSucceeded)

	return b.Transaction(t, tx.ID)
}

// Paid makes a booking with its payment, and returns the payment.
func (b *Books) Paid(t *testing.T, seats int) models.PaymentTransaction {
	t.Helper()

	tx := b.Open(t, b.Book(t, b.Trip, seats), 1)
	b.Report(t, tx, models.EventPaymentSucceeded)

	tx, err := b.Store.Payments.TransactionByID(t.Context(), tx.ID)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, tx.Status)

	return tx
}

// RequireCode fails the test unless err is a domain error with the code.
func RequireCode(t *testing.T, want models.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, models.CodeOf(err), "%v", err)
}

// Refund gives back an amount of a paid attempt, or all that is left when the amount is nil.
func (b *Books) Refund(t *testing.T, tx models.PaymentTransaction, amount *models.Money) models.Refund {
	t.Helper()

	r := models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundFull,
		RequestedBy: &b.Finance.UserID, Role: b.Finance.Role, RequestID: "req-refund",
	}
	if amount != nil {
		r.Type, r.Amount = models.RefundPartial, amount
	}

	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)

	_, err = b.Store.Refunds.SettleRefund(t.Context(), r.ID,
		models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "gw-" + r.ID.String()}, time.Now())
	require.NoError(t, err)

	got, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, got.Status)

	return got
}

// Amount is a pointer to an amount in SAR.
func Amount(s string) *models.Money {
	m := models.MustMoney(s)

	return &m
}
