package refunds_test

import (
	"crypto/sha256"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// claimKey takes an Idempotency-Key for a refund of the booking.
func (b *books) claimKey(t *testing.T, path string, key uuid.UUID, lease time.Duration) uuid.UUID {
	t.Helper()

	hash := sha256.Sum256([]byte(`{"refund_type":"FULL"}`))
	c, err := b.Store.DB.ClaimKey(t.Context(), db.KeyScope{
		UserID: b.Finance.UserID, Method: "POST", Path: path, Key: key, BodyHash: hash[:],
	}, lease)
	require.NoError(t, err)
	require.NotEqual(t, uuid.Nil, c.ID)

	return c.ID
}

// The order, its reservation, its audit entry and the key are one: who has lost the key orders nothing.
func TestOrderRefundUnderAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "")
	key := uuid.New()

	lost := b.claimKey(t, "/refund", key, time.Nanosecond)
	held := b.claimKey(t, "/refund", key, time.Minute)

	r.Claim = lost
	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM refunds"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED'"))
	require.True(t, b.Transaction(t, tx.ID).RefundReservedAmount.IsZero())

	r.Claim = held
	ordered := b.Reserve(t, r)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM idempotency_keys WHERE claim = $1 AND resource_id = $2", held, ordered.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED' AND entity_id = $1", ordered.ID))
}

// Eight requests with one key and eight without order at once: the key's refund once, and never more than was paid.
func TestOrderRefundAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1) // 115.00
	same := b.Ask(tx, "40.00")

	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		made = map[uuid.UUID]int{}
	)

	for i := range 16 {
		r := same
		if i%2 == 1 {
			r = b.Ask(tx, "40.00")
		}

		wg.Go(func() {
			ordered, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())

			mu.Lock()
			defer mu.Unlock()

			if err == nil {
				made[ordered.ID]++
			} else if models.CodeOf(err) != models.CodeRefundExceedsRemaining {
				t.Errorf("ordering failed: %v", err)
			}
		})
	}

	wg.Wait()
	require.Len(t, made, 2, "115.00 holds 40.00 twice")
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM refunds"))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED'"))
	require.Equal(t, "80.00", b.Transaction(t, tx.ID).RefundReservedAmount.String())
}

// The kept answer of a key is forgotten after a day; the refund that its id stands for is not.
func TestOrderRefundWithAKeyOfLongAgo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	body, other := sha256.Sum256([]byte("one")), sha256.Sum256([]byte("other reason"))
	r := b.Ask(tx, "40.00")
	r.BodyHash = body[:]
	b.giveBackAs(t, r)

	again, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, again.Status, "the same body is the same refund")

	r.BodyHash = other[:]
	_, err = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)

	r.BodyHash, r.Type, r.Amount = body[:], models.RefundFull, nil
	_, err = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)
	require.Equal(t, "40.00", b.Transaction(t, tx.ID).RefundedAmount.String())
}

func (b *books) giveBackAs(t *testing.T, r models.RefundRequest) {
	t.Helper()
	b.Reserve(t, r)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, bookstest.Granted(r)).Status)
}

// Neither who has booked nor who has paid asks for the money back.
func TestOrderRefundOfOnesOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	for _, name := range []string{"booking", "transaction"} {
		r := b.Ask(tx, "")
		r.RequestedBy = &tx.UserID

		if name == "transaction" {
			r.BookingID, r.TransactionID = uuid.Nil, tx.ID
		}

		_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
		bookstest.RequireCode(t, models.CodeForbidden, err)
	}

	// Paid by another account: the money would still be for one's own booking.
	b.Audit.Tampered(t, "finance staff who have booked themselves", "payment-subject")
	b.Exec(t, "UPDATE bookings SET user_id = $2 WHERE id = $1", tx.BookingID, b.Finance.UserID)
	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, ""), time.Now())
	bookstest.RequireCode(t, models.CodeForbidden, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM refunds"))
}

// Late money whose run has ended before it could order the refund is found, and ordered once by however many find it.
func TestOwedLateMoney(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 3, nil)
	tx := b.Lapsed(t, trip, 1)
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", trip.ID)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureExpired)

	mismatched := b.Open(t, b.Book(t, b.Trip, 1), 1)
	more := models.MustMoney("1.00")
	b.Deliver(t, bookstest.Event(mismatched, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Amount = &more }))
	b.Settle(t, mismatched, time.Now())

	later := time.Now().Add(48 * time.Hour)
	owed := func() []uuid.UUID {
		ids, err := b.Store.Refunds.OwedLateMoney(t.Context(), time.Minute, 10, later)
		require.NoError(t, err)

		return ids
	}
	require.Equal(t, []uuid.UUID{tx.ID}, owed(), "what was taken in another amount is for people to decide")

	var wg sync.WaitGroup

	for range 8 {
		wg.Go(func() {
			if _, err := b.Store.Refunds.OrderLateRefund(t.Context(), tx.ID, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds WHERE id = $1 AND requested_by IS NULL", refunds.LateRefundID(tx.ID)))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT' AND refund_id = $1", refunds.LateRefundID(tx.ID)))
	require.Empty(t, owed())

	_, err := b.Store.Refunds.OrderLateRefund(t.Context(), b.Paid(t, 1).ID, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidState, err)
}
