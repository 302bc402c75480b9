package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// foldEvery bounds what readers of reports add up themselves: the ledger lines of so long.
	foldEvery = time.Second
	// foldTime bounds one fold.
	foldTime = 30 * time.Second
)

// reportFolder folds what ledger lines have appended to the sums of reports, all the time: every worker tries, and one of them does it.
// A fold that fails is made up for by the next: readers are right without it, only slower.
type reportFolder struct {
	fold   func(context.Context) (int64, error)
	log    *slog.Logger
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newReportFolder(log *slog.Logger, fold func(context.Context) (int64, error)) *reportFolder {
	return &reportFolder{fold: fold, log: log, cancel: func() {}}
}

func (f *reportFolder) start() {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel

	f.done.Go(func() { f.run(ctx) })
}

func (f *reportFolder) stop() {
	f.cancel()
	f.done.Wait()
}

func (f *reportFolder) run(ctx context.Context) {
	tick := time.NewTicker(foldEvery)
	defer tick.Stop()

	failing := false

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		err := f.foldOnce(ctx)
		if err != nil && ctx.Err() == nil && !failing { // once per outage, not every second of it
			f.log.WarnContext(ctx, "sums of reports not folded; reports get slower until they are", "error", err)
		}

		failing = err != nil
	}
}

func (f *reportFolder) foldOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, foldTime)
	defer cancel()

	_, err := f.fold(ctx)

	return err
}
