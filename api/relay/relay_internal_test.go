package relay

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestFurtherDeliveriesBecomeRarer: an event that stays without effect is delivered again, but not all the time.
func TestFurtherDeliveriesBecomeRarer(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration

		began, event := time.Now(), models.Delivery{EventID: uuid.New()}
		r := New(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error {
			at = append(at, time.Since(began))

			return nil
		})

		for range 400 { // as often as the scan sees it
			r.deliverOne(t.Context(), event)
			r.forget()
			time.Sleep(time.Second) // of the bubble's own clock
		}

		require.Equal(t, []time.Duration{0, 10 * time.Second, 30 * time.Second, 70 * time.Second, 150 * time.Second, 270 * time.Second, 390 * time.Second}, at)

		time.Sleep(2 * maxRedeliverAfter)
		r.forget()
		require.Empty(t, r.sent, "what does not come up again is not remembered")
	})
}

// TestCopiesOpenNoDoors: a second copy of a queued event does not change the limit of concurrent deliveries.
func TestCopiesOpenNoDoors(t *testing.T) {
	t.Parallel()

	event := models.Delivery{EventID: uuid.New()}
	r := New(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error { return nil })

	for range 10 {
		require.True(t, r.limit.acquire(t.Context()))
		r.limit.release(false)
	}

	r.deliverOne(t.Context(), event)
	require.InDelta(t, 2, r.limit.limit, 0)

	for range 10 {
		r.deliverOne(t.Context(), event)
	}

	require.InDelta(t, 2, r.limit.limit, 0)
	require.Zero(t, r.limit.busy)
}

// TestFailedDeliveryIsTriedAgain: an event that the orchestrator has not taken is due at once.
func TestFailedDeliveryIsTriedAgain(t *testing.T) {
	t.Parallel()

	tries := 0
	event := models.Delivery{EventID: uuid.New()}
	r := New(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error {
		tries++

		return errors.New("away")
	})

	for range 3 {
		require.True(t, r.isDue(event.EventID))
		r.deliverOne(t.Context(), event)
	}

	require.Equal(t, 3, tries)
}
