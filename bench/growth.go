package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/store/seed"
	"rihla/models"
)

func newGrowth() *cobra.Command {
	var payments, clients, rounds, records int

	c := &cobra.Command{
		Use:   "growth",
		Short: "Measure payments over HTTP on a database with many past payments, beside an empty one",
		Long: "Run the service twice, on a database of its own each: one is empty, the other has as many past ledger entries as asked for,\n" +
			"with all that belongs to them. Rounds of payments alternate. A million entries take about 6 minutes and 5 GB.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchGrowth(cmd.Context(), cmd.OutOrStdout(), payments, clients, rounds, records)
		},
	}
	c.Flags().IntVar(&payments, "payments", 300, "payments per round")
	c.Flags().IntVar(&clients, "clients", 16, "customers at once")
	c.Flags().IntVar(&rounds, "rounds", 3, "rounds of each; the median counts")
	c.Flags().IntVar(&records, "records", 1_000_000, "past ledger entries")

	return c
}

func benchGrowth(ctx context.Context, out io.Writer, payments, clients, rounds, records int) (err error) {
	var stages [2]*paymentsBench // the empty one, the full one

	defer func() {
		for _, b := range stages {
			if b != nil {
				err = errors.Join(err, b.close())
			}
		}
	}()

	for i, past := range []int{0, records} {
		s, err := newStageWith(ctx, (rounds+1)*payments, stageOptions{
			prepare: func(ctx context.Context, s *stage) error { return s.grow(ctx, past) },
		})
		if err != nil {
			return err
		}

		stages[i] = &paymentsBench{stage: s, payments: payments, clients: clients, rounds: rounds}

		// The first of everything makes connections and plans.
		if _, err := closedLoop(ctx, clients, min(payments, 4*clients), stages[i].pay); err != nil {
			return err
		}
	}

	fmt.Fprintf(out, "%d payments by %d customers at once, %d rounds; times in ms, CPU in ms for each payment;\nthe share is of the empty "+
		"database's rate\n\n%s", payments, clients, rounds, paymentsHead)

	if err := signInAgain(ctx, stages[:]); err != nil {
		return err
	}

	for range rounds {
		for _, b := range stages {
			r, err := b.measure(ctx)
			if err != nil {
				return err
			}

			b.results = append(b.results, r)
		}
	}

	empty, full := medianRound(stages[0].results), medianRound(stages[1].results)
	empty.ratio, full.ratio = 1, full.rate()/empty.rate()

	stages[0].line(out, "no past payments", empty)
	stages[1].line(out, strconv.Itoa(records)+" past ledger entries", full)

	for _, b := range stages {
		if err := b.auditTwice(ctx, out); err != nil {
			return err
		}
	}

	return nil
}

// signInAgain gives the stages' customers tokens that are new: while the other one was filled the first one's has become too old.
func signInAgain(ctx context.Context, stages []*paymentsBench) (err error) {
	for _, b := range stages {
		if b.customer, err = b.signIn(ctx, models.RoleEndUser); err != nil {
			return err
		}
	}

	return nil
}

// grow adds past payments with all that belongs to them.
func (s *stage) grow(ctx context.Context, records int) error {
	if records == 0 {
		return nil
	}

	// Nothing is lost that matters when the machine fails meanwhile, and whole pages in the log would be most of the work.
	quick := map[string]string{"fsync": "off", "full_page_writes": "off", "max_wal_size": "'4GB'", "synchronous_commit": "off"}
	if err := s.configure(ctx, quick); err != nil {
		return err
	}

	_, err := seed.Of(s.store).Grow(ctx, seed.Seed{Records: records, Seed: 1, Now: time.Now(), Password: "none", Progress: func(int) {}})
	if err != nil {
		return err
	}

	for name := range quick {
		quick[name] = "DEFAULT"
	}

	if err := s.configure(ctx, quick); err != nil {
		return err
	}

	if _, err := s.db.ExecContext(ctx, "CHECKPOINT"); err != nil {
		return err
	}

	// What was written while the disk was not waited for is not what the payments after it are to wait for.
	syscall.Sync()

	return nil
}

// configure changes settings of the database server.
func (s *stage) configure(ctx context.Context, settings map[string]string) error {
	for name, value := range settings {
		if _, err := s.db.ExecContext(ctx, "ALTER SYSTEM SET "+name+" = "+value); err != nil {
			return err
		}
	}

	_, err := s.db.ExecContext(ctx, "SELECT pg_reload_conf()")

	return err
}
