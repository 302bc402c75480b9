package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"rihla/api/gen"
	"rihla/chaos/env"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
)

func newClusterUpgrade() *cobra.Command {
	var open int

	c := &cobra.Command{
		Use:   "cluster-upgrade DIR…",
		Short: "Upgrade Temporal's server under payments, from the programs of one directory to those of the next",
		Long: "Start the service on a Temporal cluster of two nodes, with the programs in the first directory. For each further one:\n" +
			"open payments, bring the tables up to date, replace the nodes one after the other while new payments are taken,\n" +
			"then pay those that were open. Every payment has to end, and the audit to agree. tools/cluster/build VERSION DIR\n" +
			"builds the programs of a version.",
		Args: cobra.MinimumNArgs(2), //nolint:mnd // from one to another
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return upgradeCluster(cmd.Context(), cmd.OutOrStdout(), dirs, open)
		},
	}
	c.Flags().IntVar(&open, "open", 5, "payments that are open while the server is replaced") //nolint:mnd // a default

	return c
}

func upgradeCluster(ctx context.Context, out io.Writer, dirs []string, open int) (err error) {
	for i, dir := range dirs {
		if dirs[i], err = filepath.Abs(dir); err != nil {
			return err
		}
	}

	binary, err := rig.Build(ctx, "rihla-bench")
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "rihla-cluster-")
	if err != nil {
		return err
	}

	// The account that PostgreSQL runs as has to reach its data.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // no more than it needs
		return err
	}

	h, err := env.Build(ctx, env.Options{
		Dir: dir, Binary: binary, BinDir: dirs[0], Cluster: true, Hold: 30 * time.Minute, Number: 1, // histories are encrypted
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}

	defer func() { err = errors.Join(err, h.Close(), h.Remove(context.Background())) }()

	b := &clusterBench{environment: h, processes: schedule.APIs}
	if err := b.smoke(ctx, out); err != nil {
		return err
	}

	for _, next := range dirs[1:] {
		if err := b.upgrade(ctx, out, next, open); err != nil {
			return fmt.Errorf("to %s: %w", next, err)
		}
	}

	text, err := h.Audit(ctx)
	if err != nil {
		return fmt.Errorf("the audit: %w\n%s", err, text)
	}

	_, err = fmt.Fprintln(out, "The audit finds no difference.")

	return err
}

// upgrade goes to the programs in a directory under payments.
func (b *clusterBench) upgrade(ctx context.Context, out io.Writer, next string, open int) error {
	waiting := make([]gen.Booking, open)

	for i := range waiting {
		n, trip, err := b.seat(ctx)
		if err == nil {
			waiting[i], err = b.book(ctx, n, trip)
		}

		if err != nil {
			return fmt.Errorf("open a payment: %w", err)
		}
	}

	taken, refused := b.payMeanwhile(ctx)
	began := time.Now()

	err := b.environment.Cluster.Upgrade(ctx, next)
	took := time.Since(began)
	n, failed := taken(), refused()

	if err != nil {
		return err
	}

	for i, booking := range waiting {
		if err := b.settle(ctx, i, booking); err != nil {
			return fmt.Errorf("a payment of the version before: %w", err)
		}
	}

	_, err = fmt.Fprintf(out, "%s: %.0f s, %d payments meanwhile, %d refused; %d that were open have ended.\n",
		filepath.Base(next), took.Seconds(), n, failed, open)

	return err
}

// payMeanwhile takes payments one after the other until taken is called.
func (b *clusterBench) payMeanwhile(ctx context.Context) (taken, refused func() int64) {
	var paid, failed atomic.Int64

	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})

	go func() {
		defer close(done)

		for ctx.Err() == nil {
			if _, err := b.pay(context.WithoutCancel(ctx)); err != nil {
				failed.Add(1)
			} else {
				paid.Add(1)
			}
		}
	}()

	return func() int64 { stop(); <-done; return paid.Load() }, failed.Load
}
