package inbox

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThrottle(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var inside atomic.Int32

		th := newThrottle(8)

		// Ten come at once and stay until they get their outcome.
		told := make(chan bool)

		for range 10 {
			go func() {
				if th.acquire(t.Context()) {
					inside.Add(1)
					taken := <-told
					inside.Add(-1)

					th.release(taken)
				}
			}()
		}

		synctest.Wait()
		require.EqualValues(t, 8, inside.Load())

		for _, want := range []int{7, 6, 5} { // half as many may be there, then a quarter, then one
			told <- false

			synctest.Wait()
			require.EqualValues(t, want, inside.Load())
		}

		for range 4 {
			told <- true

			synctest.Wait()
		}

		require.LessOrEqual(t, inside.Load(), int32(3), "it has room for few")
		close(told) // the others were not taken either

		synctest.Wait()
		require.Zero(t, inside.Load())
	})
}

func TestThrottleGrows(t *testing.T) {
	t.Parallel()

	th := newThrottle(8)
	for range 10 {
		require.True(t, th.acquire(t.Context()))
		th.release(false)
	}

	require.InDelta(t, 1, th.limit, 0)

	for range 40 {
		require.True(t, th.acquire(t.Context()))
		th.release(true)
	}

	require.InDelta(t, 8, th.limit, 0.5)
}

func TestThrottleStops(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(1)
		require.True(t, th.acquire(t.Context()))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		require.False(t, th.acquire(ctx), "nobody waits longer than they want to")
		th.cancel()
		require.True(t, th.acquire(t.Context()))
	})
}
