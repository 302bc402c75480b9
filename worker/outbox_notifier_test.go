package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPump(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32

	woken := make(chan struct{}, 100)
	p := newOutboxNotifier(slog.New(slog.DiscardHandler), func(context.Context) error {
		woken <- struct{}{}
		if calls.Add(1) == 1 {
			return errors.New("orchestrator is down")
		}

		return nil
	})

	p.Notify() // before it runs: nothing is lost
	p.start()
	<-woken

	began := time.Now()

	for range 1000 {
		p.Notify()
	}

	<-woken
	p.stop()
	require.LessOrEqual(t, int(calls.Load()), 3+int(time.Since(began)/notifyPause), "a burst costs one, and a failure does not end it")

	before := calls.Load()

	p.Notify()
	p.Notify()
	require.Equal(t, before, calls.Load(), "poking one that has stopped blocks nobody")
}

func TestPumpStopsWhileItWakes(t *testing.T) {
	t.Parallel()

	waking := make(chan struct{})
	p := newOutboxNotifier(slog.New(slog.DiscardHandler), func(ctx context.Context) error {
		close(waking)
		<-ctx.Done()

		return ctx.Err()
	})
	p.start()
	p.Notify()
	<-waking
	p.stop()
}
