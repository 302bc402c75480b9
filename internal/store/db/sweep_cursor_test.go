package db_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// TestTurns: what stays left behind for long does not hide what has been left behind since.
func TestTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "events are stored and nobody settles them")

	stuck := map[uuid.UUID]int{}
	events, payments, refunds := map[uuid.UUID]int{}, map[uuid.UUID]int{}, map[uuid.UUID]int{}

	var last time.Time

	for range 5 {
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		paid := b.Paid(t, 1)
		reserved := b.Ask(paid, "5.00")
		b.Reserve(t, reserved)
		stuck[tx.ID]++
		refunds[reserved.ID], last = 0, tx.ExpiresAt
	}

	now := last.Add(time.Hour)
	turns := map[string]db.SweepCursor{}

	// Nothing is ever done about any of it; two at a time, everything comes up in three readings, and then again.
	for range 6 {
		e, next, err := b.Store.Inbox.UnprocessedEvents(t.Context(), time.Second, turns["events"], 2, now)
		require.NoError(t, err)
		require.LessOrEqual(t, len(e), 2)

		for _, d := range e {
			events[d.TransactionID]++
		}

		turns["events"] = next

		p, next, err := b.Store.Payments.StalePayments(t.Context(), time.Minute, turns["payments"], 2, now)
		require.NoError(t, err)

		for _, tx := range p {
			payments[tx.ID]++
		}

		turns["payments"] = next

		r, next, err := b.Store.Payments.StaleRefunds(t.Context(), time.Minute, time.Minute, turns["refunds"], 2, now)
		require.NoError(t, err)

		for _, f := range r {
			refunds[f.ID]++
		}

		turns["refunds"] = next
	}

	for id := range stuck {
		require.Equal(t, 2, events[id])
		require.Equal(t, 2, payments[id])
	}

	for id, times := range refunds {
		require.Equal(t, 2, times, id)
	}

	for name, turn := range turns {
		require.True(t, turn.Is(db.SweepCursor{}), "%s begins again", name)
	}
}

func TestSaveTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for n, want := range []db.SweepCursor{{}, {At: time.Now().Truncate(time.Microsecond), ID: uuid.New()}, {}, {At: time.Unix(1, 0), ID: uuid.New()}} {
		require.NoError(t, b.Store.DB.SaveSweepCursor(t.Context(), "events", want))

		got, err := b.Store.DB.SweepCursor(t.Context(), "events")
		require.NoError(t, err)
		require.True(t, got.Is(want), "%d: %v", n, got)

		other, err := b.Store.DB.SweepCursor(t.Context(), fmt.Sprint("never saved", n))
		require.NoError(t, err)
		require.True(t, other.Is(db.SweepCursor{}))
	}
}
