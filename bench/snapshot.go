package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rihla/internal/audit"
)

const (
	// preparedAtOnce payments are made ready side by side before they are settled one after the other: that is not measured.
	preparedAtOnce = 20
	// foldPause is between two folds, as in the worker.
	foldPause = time.Second
)

func newSnapshot() *cobra.Command {
	var lines, step, rounds int

	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Tell what settling a payment costs while a transaction keeps an old snapshot open: an audit, an export, a dump",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < step || step < 1 {
				return errors.New("--lines must be at least --step")
			}

			b, err := newReportsBench(cmd.Context(), false)
			if err != nil {
				return err
			}
			defer b.close()

			return b.snapshots(cmd.Context(), cmd.OutOrStdout(), lines/step, step, rounds)
		},
	}
	c.Flags().IntVar(&lines, "lines", 6000, "ledger entries that are written during each snapshot")
	c.Flags().IntVar(&step, "step", 500, "lines of which the median is taken")
	c.Flags().IntVar(&rounds, "rounds", 1, "rounds without and with a snapshot, in turn")

	return c
}

// snapshots settles payments without and with an old snapshot in turn, and prints the medians of every step.
func (b *reportsBench) snapshots(ctx context.Context, out io.Writer, steps, step, rounds int) error {
	sales := &bench{store: b.store}
	if err := sales.seed(ctx, 2*rounds*(steps*step+preparedAtOnce)+step); err != nil {
		return err
	}

	// PostgreSQL has to know its tables, as it does on any day but the first: it plans for an empty one otherwise.
	if _, err := b.settleStep(ctx, sales, step); err != nil {
		return err
	}

	if _, err := b.db.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}

	folding, stop := context.WithCancel(ctx)
	folds := errgroup.Group{}
	folds.Go(func() error { return b.foldOnAndOn(folding) })

	without, with := make([][]time.Duration, steps), make([][]time.Duration, steps)

	err := func() error {
		for range rounds {
			if err := b.settleSteps(ctx, sales, step, without); err != nil {
				return err
			}

			if err := b.underSnapshot(ctx, func() error { return b.settleSteps(ctx, sales, step, with) }); err != nil {
				return err
			}
		}

		return nil
	}()

	stop()

	if err := errors.Join(err, folds.Wait()); err != nil {
		return err
	}

	fmt.Fprintf(out, "settling one payment, median of %d, ms\n\n| lines | without | with a snapshot | ratio |\n|---|---|---|---|\n",
		step*rounds)

	for i := range steps {
		alone, held := middle(without[i]), middle(with[i])
		fmt.Fprintf(out, "| %d | %.2f | %.2f | %.2f |\n", (i+1)*step, milliseconds(alone), milliseconds(held), float64(held)/float64(alone))
	}

	return auditBooks(ctx, out, b.db)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// underSnapshot does something while another session keeps the snapshot open that it took before.
func (b *reportsBench) underSnapshot(ctx context.Context, do func() error) error {
	tx, err := b.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()

	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM financial_records").Scan(&n); err != nil {
		return err
	}

	return do()
}

// settleSteps settles as many payments per step, and notes how long each took.
func (b *reportsBench) settleSteps(ctx context.Context, sales *bench, step int, took [][]time.Duration) error {
	for i := range took {
		of, err := b.settleStep(ctx, sales, step)
		if err != nil {
			return err
		}

		took[i] = append(took[i], of...)
	}

	return nil
}

// settleStep settles so many payments, and returns how long each took.
func (b *reportsBench) settleStep(ctx context.Context, sales *bench, step int) (took []time.Duration, err error) {
	for len(took) < step {
		ready, err := b.prepare(ctx, sales, min(preparedAtOnce, step-len(took)))
		if err != nil {
			return nil, err
		}

		for _, id := range ready {
			began := time.Now()

			if _, err := b.store.Payments.SettlePayment(ctx, id, time.Now()); err != nil {
				return nil, err
			}

			took = append(took, time.Since(began))
		}
	}

	return took, nil
}

func (b *reportsBench) prepare(ctx context.Context, sales *bench, n int) ([]uuid.UUID, error) {
	ready := make([]uuid.UUID, n)

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4) //nolint:mnd // the pool's connections

	for i := range n {
		g.Go(func() error {
			tx, err := b.reported(ctx, sales)
			ready[i] = tx.ID

			return err
		})
	}

	return ready, g.Wait()
}

// foldOnAndOn folds the sums of reports until ctx ends, as a worker does.
func (b *reportsBench) foldOnAndOn(ctx context.Context) error {
	tick := time.NewTicker(foldPause)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}

		if _, err := b.store.Ledger.FoldReports(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// auditBooks has the books of the run looked at; a bench whose books do not agree has measured nothing.
func auditBooks(ctx context.Context, out io.Writer, books *sql.DB) error {
	sum, err := audit.Run(ctx, books, func(d audit.Difference) error { return errors.New(d.String()) })
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}

	for _, unseen := range sum.Unseen {
		return fmt.Errorf("the audit: %w", unseen)
	}

	_, err = fmt.Fprintf(out, "\nAudit: %d rules, %d differences\n", len(sum.Rules), sum.Differences)

	return err
}
