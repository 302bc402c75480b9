package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/store"
)

// maxSeed is where a wrong number of zeros is more likely than a wish.
const maxSeed = 100_000_000

// noPassword is a hash that no password has.
const noPassword = "none"

func newSeed() *cobra.Command {
	var (
		records int
		number  uint64
	)

	seed := &cobra.Command{
		Use:   "seed --records N [--seed S]",
		Short: "Add N made-up ledger lines, with all that belongs to them, over two years; for measuring",
		Long: "Add companies, customers, trips, bookings, campaigns, payments with their webhooks, refunds, payouts, ledger lines\n" +
			"and transfers, spread over the last two years, until there are N further lines. `rihla audit` agrees with them.\n" +
			"It is one SQL transaction, all or nothing, for which the service waits: from 50,000 lines on it makes the indexes\n" +
			"anew. It has to own the tables. Refuses APP_ENV=production.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if records < 1 || records > maxSeed {
				return fmt.Errorf("--records must be a number from 1 to %d", maxSeed)
			}

			cfg, err := loadConfig(config.Config.RequireDatabase)
			if err != nil {
				return err
			}

			if cfg.App.Env == config.Production {
				return errors.New("seed makes up payments and does not run with APP_ENV=production")
			}

			return runSeed(cmd, cfg, records, number)
		},
	}
	seed.Flags().IntVar(&records, "records", 0, "how many ledger lines to add")
	seed.Flags().Uint64Var(&number, "seed", 1, "of the random numbers")

	return seed
}

func runSeed(cmd *cobra.Command, cfg config.Config, records int, number uint64) error {
	s, err := openStore(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	defer s.Close()

	began := time.Now()

	added, err := s.Grow(cmd.Context(), store.Seed{
		Records: records, Seed: number, Now: began, Password: noPassword,
		Progress: func(lines int) {
			seconds := time.Since(began).Seconds()
			fmt.Fprintf(cmd.ErrOrStderr(), "\r%d of %d lines, %.0f per second ", lines, records, float64(lines)/seconds)

			if lines >= records {
				fmt.Fprint(cmd.ErrOrStderr(), "; indexes, foreign keys and sums")
			}
		},
	})

	fmt.Fprintln(cmd.ErrOrStderr())

	if err != nil {
		return err
	}

	fmt.Fprintf(cmd.OutOrStdout(), "added %d ledger lines in %.1f s\n", added, time.Since(began).Seconds())

	return nil
}
