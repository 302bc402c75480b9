package payments

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

// planned is a settlement of a card payment for two seats, with the event that reports it. It has no database: what the ordinary way
// decides by has been read before.
func planned(s *Store, now time.Time) *settlement {
	reference, booking := "ref-1", uuid.MustParse("0190f5fe-0000-7000-8000-000000000001")
	amount := models.MustMoney("230.00")

	return &settlement{store: s, now: now, attempt: attempt{
		t: models.PaymentTransaction{
			ID: models.BookingAttemptID(booking, 1), Kind: models.KindPayment, Attempt: 1, Reference: &reference, BookingID: &booking,
			Amount: amount, Currency: models.Currency, VATAmount: models.MustMoney("30.00"), CommissionRate: models.MustRate("0.1"),
			PaymentMethod: models.MethodCreditCard, Gateway: models.MethodCreditCard.Gateway(), Status: models.TransactionPending,
			CreatedAt: now.Add(-time.Minute),
		},
		booking: models.Booking{
			ID: booking, Number: "RB-7XK2M9Q", Status: models.BookingPendingPayment, Seats: 2, Currency: models.Currency,
			ContactName: "Contact", ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000", HoldUntil: now.Add(time.Minute),
		},
		trip: models.Trip{Title: "Umrah", Status: models.TripPublished, DepartureAt: now.Add(time.Hour)},
		events: []models.WebhookEvent{{
			ID: booking, Type: models.EventPaymentSucceeded, CheckoutID: reference, Amount: &amount, Currency: models.Currency,
			OccurredAt: now, ReceivedAt: now,
		}},
	}}
}

func offline(tb testing.TB) *Store {
	tb.Helper()

	pool, err := db.Open("postgres://nobody@127.0.0.1:1/none", db.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, pool.Close()) })

	return New(pool, models.DefaultPolicies(), nil)
}

// TestOrdinarySettlementIsPlannedWithoutReading: its plan needs no transaction, only what was read under the lock.
func TestOrdinarySettlementIsPlannedWithoutReading(t *testing.T) {
	t.Parallel()

	st := planned(offline(t), time.Now())
	require.NoError(t, st.apply(t.Context(), &st.events[0]))
	require.Equal(t, []string{"booking", "notifications", "payment transaction", "ledger entry", "transfers", "event"}, st.writes.Collected())
	require.Equal(t, models.TransactionPaid, st.t.Status)
}

// BenchmarkSettlePlan is the part of a settlement that is not PostgreSQL's: what is to be written, and the text of it.
func BenchmarkSettlePlan(b *testing.B) {
	s, now := offline(b), time.Now()

	b.ReportAllocs()

	for b.Loop() {
		st := planned(s, now)
		if err := st.apply(b.Context(), &st.events[0]); err != nil {
			b.Fatal(err)
		}
	}
}
