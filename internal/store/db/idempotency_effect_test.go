package db_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// claimed takes a key, as a request does.
func (b *books) claimed(t *testing.T, k db.KeyScope) db.Claim {
	t.Helper()

	c, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	require.NoError(t, err)

	return c
}

// dies ends the lease of the key, as time does for a process that was killed.
func (b *books) dies(t *testing.T, k db.KeyScope) {
	t.Helper()
	b.Exec(t, "UPDATE idempotency_keys SET locked_until = now() WHERE key = $1", k.Key)
}

// marking is a payout under a claim, whose answer is the entry's number and state.
func marking(claim uuid.UUID) ledger.MarkTransfer {
	return ledger.MarkTransfer{Once: db.Once[models.FinancialRecord]{Claim: claim, Answer: answerOf}}
}

func answerOf(r models.FinancialRecord) (db.Answer, error) {
	return db.Answer{Status: 200, Body: []byte(r.TransactionNumber + " " + string(r.BalanceStatus))}, nil
}

// line is a ledger entry that can be paid out.
func (b *books) line(t *testing.T) models.FinancialRecord {
	t.Helper()

	return b.Records(t, b.Paid(t, 1))[0]
}

func TestAnswerIsKeptWithItsEffect(t *testing.T) {
	t.Parallel()

	t.Run("a request that is killed after the effect has answered", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		line, k := b.line(t), b.Key()

		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, marking(b.claimed(t, k).ID))
		require.NoError(t, err)

		// The next request does not even wait for the lease.
		again := b.claimed(t, k)
		require.Zero(t, again.ID)
		require.Equal(t, db.Answer{Status: 200, Body: []byte(line.TransactionNumber + " TRANSFERRED")}, again.Answer)
	})

	t.Run("no answer without the effect", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		line, k := b.line(t), b.Key()
		m := marking(b.claimed(t, k).ID)
		m.Once.Answer = func(models.FinancialRecord) (db.Answer, error) { return db.Answer{}, errors.New("no answer") }

		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, m)
		require.Error(t, err)
		require.Zero(t, b.Count(t, "SELECT count(*) FROM financial_records WHERE balance_status = 'TRANSFERRED'"))
		require.Zero(t, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
		require.Zero(t, b.Count(t, "SELECT count(*) FROM idempotency_keys WHERE status IS NOT NULL"))
	})

	t.Run("no effect by who has lost the key", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		line, k := b.line(t), b.Key()
		slow := b.claimed(t, k)
		b.dies(t, k)
		quick := b.claimed(t, k)
		require.NotEqual(t, slow.ID, quick.ID)

		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, marking(slow.ID))
		bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)
		require.Zero(t, b.Count(t, "SELECT count(*) FROM financial_records WHERE balance_status = 'TRANSFERRED'"))

		// Nor can it give the key free, keep it, or answer.
		require.NoError(t, b.Store.DB.ReleaseKey(t.Context(), slow.ID))
		require.NoError(t, b.Store.DB.CompleteKey(t.Context(), slow.ID, db.Answer{Status: 409}))
		bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, b.Store.DB.BindKey(t.Context(), slow.ID, models.NewID()))
		_, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
		bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)

		_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, marking(quick.ID))
		require.NoError(t, err)
	})

	t.Run("a refusal leaves the key to who has it", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		line, k := b.line(t), b.Key()
		reference := "TRF-1"
		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{Reference: &reference})
		require.NoError(t, err)

		claim := b.claimed(t, k)
		_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, marking(claim.ID))
		bookstest.RequireCode(t, models.CodeRecordNotTransferable, err)
		require.NoError(t, b.Store.DB.CompleteKey(t.Context(), claim.ID, db.Answer{Status: 409, Body: []byte("no")}))
		require.Equal(t, 409, b.claimed(t, k).Answer.Status)
	})
}

func TestBookingIsBoundToItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip, k := b.InsertTrip(t, 2, nil), b.Key()
	first := b.claimed(t, k)
	require.Zero(t, first.ResourceID)

	n := b.Request(trip, 2)
	n.Claim = first.ID
	booking, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	require.NoError(t, err)

	_, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)

	// Killed twice: the next owner of the key finds the booking, and the former one makes no second one.
	for range 2 {
		b.dies(t, k)
		require.Equal(t, booking.ID, b.claimed(t, k).ResourceID)

		_, err = b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
		bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM bookings"))
	require.Equal(t, 2, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))
}

// A booking that was taken back and is asked for again is the same one: what waits for it finds it.
func TestBookingThatWasTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()
	n := b.Request(b.Trip, 1)
	n.Claim = b.claimed(t, k).ID
	first, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	require.NoError(t, err)

	discarded, err := b.Store.Bookings.DiscardBooking(t.Context(), first.ID)
	require.NoError(t, err)
	require.True(t, discarded)
	require.NoError(t, b.Store.DB.ReleaseKey(t.Context(), n.Claim))

	again := b.claimed(t, k)
	n.ID, n.Claim = again.ResourceID, again.ID
	second, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	require.NoError(t, err)
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, 1, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

func TestRefusedBookingLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()
	n := b.Request(b.InsertTrip(t, 1, nil), 2)
	n.Claim = b.claimed(t, k).ID

	_, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	bookstest.RequireCode(t, models.CodeTripCapacityReached, err)
	b.dies(t, k)
	require.Zero(t, b.claimed(t, k).ResourceID)
}

// TestOneKeyOneEffect has requests with one key run, fail and be killed side by side: however they overlap, one booking
// comes of them.
func TestOneKeyOneEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()

	var (
		made  atomic.Int32
		mu    sync.Mutex
		found = map[uuid.UUID]bool{}
	)

	bookstest.Parallel(20, func(i int) {
		for range 5 {
			claim, err := b.Store.DB.ClaimKey(t.Context(), k, 0) // it is everybody's at once
			if err != nil || claim.ID == uuid.Nil {
				continue
			}

			if claim.ResourceID != uuid.Nil {
				mu.Lock()
				found[claim.ResourceID] = true
				mu.Unlock()

				continue
			}

			n := b.Request(b.Trip, 1)
			n.Claim = claim.ID

			if _, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now()); err == nil {
				made.Add(1)
			}

			if i%2 == 0 {
				_ = b.Store.DB.ReleaseKey(t.Context(), claim.ID)
			}
		}
	})

	require.EqualValues(t, 1, made.Load())
	require.LessOrEqual(t, len(found), 1)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM bookings"))
	require.Equal(t, 1, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}
