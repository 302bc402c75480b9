package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A fold that fails is tried again every second, and an outage is logged once.
func TestReportFolderGoesOn(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var (
			folds  atomic.Int64
			logged bytes.Buffer
		)

		f := newReportFolder(slog.New(slog.NewTextHandler(&logged, nil)), func(context.Context) (int64, error) {
			if n := folds.Add(1); n > 1 && n < 5 {
				return 0, errors.New("away")
			}

			return 1, nil
		})
		f.start()
		time.Sleep(7*foldEvery + foldEvery/2)
		f.stop()

		require.EqualValues(t, 7, folds.Load())
		require.Equal(t, 1, strings.Count(logged.String(), "not folded"), logged.String())

		time.Sleep(10 * foldEvery)
		require.EqualValues(t, 7, folds.Load(), "nothing is folded after the end")
	})
}

// A worker that ends does not wait for a fold.
func TestReportFolderEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(*testing.T) {
		began := make(chan struct{})

		f := newReportFolder(slog.New(slog.DiscardHandler), func(ctx context.Context) (int64, error) {
			close(began)
			<-ctx.Done()

			return 0, ctx.Err()
		})
		f.start()
		<-began
		f.stop()
	})
}
