package inbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
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
		r := NewRelay(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error {
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

// TestCopiesDoNotChangeTheLimit: a second copy of a queued event does not change the limit of concurrent deliveries.
func TestCopiesDoNotChangeTheLimit(t *testing.T) {
	t.Parallel()

	event := models.Delivery{EventID: uuid.New()}
	r := NewRelay(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error { return nil })

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

	synctest.Test(t, func(t *testing.T) {
		tries := 0
		event := models.Delivery{EventID: uuid.New()}
		r := NewRelay(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error {
			tries++

			return errors.New("away")
		})

		for range 3 {
			require.True(t, r.isDue(event.EventID))
			r.deliverOne(t.Context(), event)
		}

		require.Equal(t, 3, tries)
	})
}

// TestAnOrchestratorThatIsAwayIsNotStormed: with a full queue it is called a few times a second, however quickly the calls fail.
func TestAnOrchestratorThatIsAwayIsNotStormed(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32

		r := NewRelay(nil, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error {
			calls.Add(1)

			return errors.New("away")
		})

		for range queueSize {
			r.Enqueue(models.Delivery{EventID: uuid.New(), TransactionID: uuid.New()})
		}

		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second) // of the bubble's own clock
		defer stop()

		var workers sync.WaitGroup
		for range maxWorkers {
			workers.Go(func() { r.work(ctx) })
		}

		workers.Wait()
		require.Less(t, calls.Load(), int32(2*maxWorkers+10*int(time.Second/pauseAfterFailure)))
	})
}

// TestOneSignalForTheEventsOfAnAttempt: of those that wait the newest goes, once; refunds and late events go one by one, and an attempt
// whose signal has gone gets another.
func TestOneSignalForTheEventsOfAnAttempt(t *testing.T) {
	t.Parallel()

	var got []models.Delivery

	r := NewRelay(nil, slog.New(slog.DiscardHandler), func(_ context.Context, d models.Delivery) error {
		got = append(got, d)

		return nil
	})

	payment, other, refund := uuid.New(), uuid.New(), uuid.New()
	of := func(payment uuid.UUID) models.Delivery {
		return models.Delivery{EventID: uuid.New(), TransactionID: payment}
	}
	late, refunded := of(payment), of(payment)
	late.Ended, refunded.RefundID = true, refund

	first, second, third, others := of(payment), of(payment), of(payment), of(other)
	for _, d := range []models.Delivery{first, others, second, late, refunded, third} {
		r.Enqueue(d)
	}

	drain := func() {
		for len(r.queue) > 0 {
			r.deliverOne(t.Context(), r.newest(<-r.queue))
		}
	}

	drain()
	require.Equal(t, []models.Delivery{third, others, late, refunded}, got)

	fourth := of(payment)
	r.Enqueue(fourth)
	drain()
	require.Equal(t, fourth, got[len(got)-1])
	require.Empty(t, r.queued)
}
