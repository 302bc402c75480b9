package payments_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestLookAtWaited: the read for all who wait finds what each one's own read would.
func TestLookAtWaited(t *testing.T) {
	t.Parallel()
	b := setup(t)

	fresh, open, paid, given := b.Book(t, b.Trip, 1), b.Book(t, b.Trip, 1), b.Book(t, b.Trip, 1), b.Book(t, b.Trip, 1)
	waiting := b.Open(t, open, 1)

	tx := b.Open(t, paid, 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.Settle(t, tx, time.Now())

	_, _, err := b.Store.Payments.CancelBooking(t.Context(), db.Actor{UserID: b.Customer.ID, Role: models.RoleEndUser}, given.ID, time.Now())
	require.NoError(t, err)

	all := []uuid.UUID{fresh.ID, open.ID, paid.ID, given.ID, models.NewID()}

	for _, at := range []time.Time{b.Transaction(t, waiting.ID).CreatedAt, time.Now().Add(payments.UnheardFor)} {
		decided, unheard, err := b.Store.Payments.LookAtWaited(t.Context(), all, at)
		require.NoError(t, err)

		var wantDecided, wantUnheard []uuid.UUID

		for _, id := range all[:4] {
			s, err := b.PaymentStatus(t, id, at)
			require.NoError(t, err)

			if s.PaymentStatus != models.TransactionPending {
				wantDecided = append(wantDecided, id)
			}

			if s.Unheard {
				wantUnheard = append(wantUnheard, *s.TransactionID)
			}
		}

		require.ElementsMatch(t, []uuid.UUID{paid.ID, given.ID}, wantDecided)
		require.ElementsMatch(t, wantDecided, decided)
		require.ElementsMatch(t, wantUnheard, unheard)
	}

	channels, err := b.Store.Payments.WaitForAnswers(t.Context(), []uuid.UUID{waiting.ID, tx.ID}, time.Now().Add(payments.UnheardFor))
	require.NoError(t, err)
	require.Equal(t, []models.Channel{waiting.Channel}, channels)
}

// TestAnnounceMoney: of many transactions each company's kind of money is announced once, and what has moved none is left out; the
// transaction of a settlement announces nothing.
func TestAnnounceMoney(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heard, _ := listen(t, b.Store, time.Minute)

	first, second, open := b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1)
	for _, tx := range []models.PaymentTransaction{first, second} {
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
		b.Settle(t, tx, time.Now())
	}

	moved, err := b.Store.Payments.MoneyMoved(t.Context(), time.Second)
	require.NoError(t, err)
	require.True(t, moved)

	require.NoError(t, b.Store.Payments.AnnounceMoney(t.Context(), []uuid.UUID{open.ID, uuid.New()}))
	require.NoError(t, b.Store.Payments.AnnounceMoney(t.Context(), []uuid.UUID{first.ID, open.ID, second.ID}))
	b.Exec(t, `SELECT pg_notify('dashboard', '{"reason": "last"}')`)

	require.Equal(t, payments.DashboardEvent{Reason: "PAYMENT_SETTLED", ProviderID: b.Provider.ID}, within(t, heard, "the paid ones"))
	require.Equal(t, "last", within(t, heard, "the end").Reason)
}
