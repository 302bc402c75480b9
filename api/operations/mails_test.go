package operations

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestWake: however often it is wanted while it runs, it runs once more, and what was there before it was wanted is seen.
func TestWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			w         wake
			runs      atomic.Int32
			mail, saw atomic.Int32
		)

		hold := make(chan struct{})
		wanted := func() {
			w.up(func() {
				runs.Add(1)
				saw.Store(mail.Load())
				<-hold
			})
		}

		for range 100 {
			mail.Add(1)
			wanted()
		}

		synctest.Wait()
		require.EqualValues(t, 1, runs.Load(), "one at a time")
		close(hold)
		synctest.Wait()
		require.EqualValues(t, 2, runs.Load())
		require.EqualValues(t, 100, saw.Load())

		mail.Add(1)
		wanted()
		synctest.Wait()
		require.EqualValues(t, 3, runs.Load())
		require.EqualValues(t, 101, saw.Load())
	})
}
