package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// upkeepEvery bounds what readers of reports add up themselves: the ledger entries of so long.
	upkeepEvery = time.Second
	// sealEvery is how long an entry of the audit log waits for its seal where nothing is wrong; each worker asks as often. It is well
	// within a minute, and there are not so many seals.
	sealEvery = 15 * time.Second
	// sealShown is how often the newest seal is in the log of a worker.
	sealShown = time.Hour
	// schedulesEvery is how long a schedule that an operator has deleted is missing.
	schedulesEvery = 30 * time.Second
	// upkeepTime bounds one run.
	upkeepTime = 30 * time.Second
)

// upkeep does again and again what payments leave to be done later, so that none of them waits for it: every worker tries, and the
// database lets one of them do it. A run that fails is made up for by the next: readers are right without it, only slower.
type upkeep struct {
	do     func(context.Context) (int64, error)
	every  time.Duration
	missed string // what is logged when it fails
	log    *slog.Logger
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newUpkeep(log *slog.Logger, missed string, do func(context.Context) (int64, error)) *upkeep {
	return &upkeep{do: do, every: upkeepEvery, missed: missed, log: log, cancel: func() {}}
}

// newReportFolder folds what ledger entries have appended to the sums of reports.
func newReportFolder(d Deps) *upkeep {
	return newUpkeep(d.Log, "sums of reports not folded; reports get slower until they are", d.Store.Ledger.FoldReports)
}

// newListCleaner moves what payments have appended to the indexes of searches into their trees.
func newListCleaner(d Deps) *upkeep {
	return newUpkeep(d.Log, "lists of new entries of search indexes not cleaned; searches get slower until they are",
		d.Store.DB.CleanSearchLists)
}

// newScheduleKeeper makes the schedules again that an operator has deleted: without the sweep's, lost events wait for ever. The search
// attributes, too: a Temporal that was lost comes back empty under workers that run on, and would refuse every payment.
func newScheduleKeeper(d Deps) *upkeep {
	const missed = "schedules not looked at; one that was deleted is not made again until they are"

	u := newUpkeep(d.Log, missed, func(ctx context.Context) (int64, error) {
		attributes := ensureSearchAttributes(ctx, d.Temporal, d.Namespace)
		restored, err := restoreSchedules(ctx, d.Log, d.Temporal, d.Queue, d.SweepInterval)

		return restored, errors.Join(attributes, err)
	})
	u.every = schedulesEvery

	return u
}

// newSealer seals the audit log, and shows the newest seal in the log of the process: kept elsewhere, that proves what was before it.
func newSealer(d Deps) *upkeep {
	var shown time.Time

	u := newUpkeep(d.Log, "audit log not sealed; its entries are not proven until they are", func(ctx context.Context) (int64, error) {
		sealed, err := d.Store.DB.SealAudit(ctx)
		if err != nil || d.Now().Sub(shown) < sealShown {
			return sealed, err
		}

		seal, err := d.Store.DB.NewestAuditSeal(ctx)
		if err == nil && seal.Number > 0 {
			shown = d.Now()
			d.Log.InfoContext(ctx, "audit log sealed", "seal", seal.String(), "sealed_at", seal.SealedAt)
		}

		return sealed, err
	})
	u.every = sealEvery

	return u
}

func (u *upkeep) start() {
	ctx, cancel := context.WithCancel(context.Background())
	u.cancel = cancel

	u.done.Go(func() { u.run(ctx) })
}

func (u *upkeep) stop() {
	u.cancel()
	u.done.Wait()
}

func (u *upkeep) run(ctx context.Context) {
	tick := time.NewTicker(u.every)
	defer tick.Stop()

	failing := false

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		err := u.once(ctx)
		if err != nil && ctx.Err() == nil && !failing { // once per outage, not every second of it
			u.log.WarnContext(ctx, u.missed, "error", err)
		}

		failing = err != nil
	}
}

func (u *upkeep) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, upkeepTime)
	defer cancel()

	_, err := u.do(ctx)

	return err
}
