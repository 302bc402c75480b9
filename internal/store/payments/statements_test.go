package payments_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// statements keeps the statements that a store sends, by their first word.
type statements struct {
	mu   sync.Mutex
	sent []string
}

func (s *statements) BeforeQuery(ctx context.Context, e *bun.QueryEvent) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.sent = append(s.sent, strings.Fields(e.Query)[0])

	return ctx
}

func (s *statements) AfterQuery(context.Context, *bun.QueryEvent) {}

// take are those since the last time.
func (s *statements) take() (sent []string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	sent, s.sent = s.sent, nil

	return sent
}

// TestPaymentTakesFewStatements: each is a round trip while rows are locked.
func TestPaymentTakesFewStatements(t *testing.T) {
	t.Parallel()

	b := setup(t)
	booking := b.Book(t, b.Trip, 2)
	a := models.Attempt{BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodCreditCard}

	var seen statements

	storetest.Watch(b.Store, &seen)

	tx, fresh, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.True(t, fresh)
	require.Equal(t, []string{"BEGIN", "SELECT", "SELECT", "INSERT", "COMMIT"}, seen.take())
	require.Equal(t, b.Trip.Title+" ("+booking.Number+")", tx.Purchase.Name())

	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/" + tx.ID.String(),
	}))
	require.Equal(t, []string{"UPDATE"}, seen.take())

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	seen.take()

	settled := b.Settle(t, tx, time.Now())
	require.Equal(t, models.TransactionPaid, settled.Status)
	require.Equal(t, 2, settled.Queued)
	require.Equal(t, []string{"BEGIN", "SELECT", "SELECT", "WITH", "COMMIT"}, seen.take())

	settled = b.Settle(t, tx, time.Now())
	require.Zero(t, settled.Queued)
	require.Equal(t, []string{"BEGIN", "SELECT", "SELECT", "COMMIT"}, seen.take(), "again: nothing to write")

	b.Contact(t, "desk@tours.test")
	other := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(other, models.EventPaymentSucceeded, nil))
	seen.take()

	settled = b.Settle(t, other, time.Now())
	require.Equal(t, 3, settled.Queued)
	require.Equal(t, []string{"BEGIN", "SELECT", "SELECT", "WITH", "COMMIT"}, seen.take(), "a company that is told of it takes none more")

	again, fresh, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.False(t, fresh)
	require.Equal(t, models.TransactionPaid, again.Status)
	require.Equal(t, tx.Purchase, again.Purchase)
}
