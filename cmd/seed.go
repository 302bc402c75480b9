//go:build !production

package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/store"
	"rihla/internal/store/seed"
)

// maxSeed is where a wrong number of zeros is more likely than a wish.
const maxSeed = 100_000_000

// noPassword is a hash that no password has.
const noPassword = "none"

func newSeed() *cobra.Command {
	var (
		users   bool
		records int
		number  uint64
	)

	seed := &cobra.Command{
		Use:   "seed [--users] [--records N [--seed S]]",
		Short: "Add users and trips to try, or N made-up ledger entries over two years, for measuring",
		Long: "With --users: one user per role, <role>@" + devDomain + " with the password " + devPassword + ", and a company with a hotel,\n" +
			"a bus, a rest stop and two trips, unless they are there. Refuses a database with other users than customers.\n\n" +
			"With --records: add companies, customers, trips, bookings, campaigns, payments with their webhooks, refunds, payouts,\n" +
			"ledger entries and transfers, spread over the last two years, until there are N further entries. `rihla audit` agrees with them.\n" +
			"It is one SQL transaction, all or nothing, for which the service waits: from 50,000 entries on it makes the indexes\n" +
			"anew. It has to own the tables. Refuses APP_ENV=production.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !users && records == 0 {
				return errors.New("seed needs --users, or --records with a number")
			}

			if records < 0 || records > maxSeed {
				return fmt.Errorf("--records must be a number from 1 to %d", maxSeed)
			}

			return runSeed(cmd, users, records, number)
		},
	}
	seed.Flags().BoolVar(&users, "users", false, "add a user per role, with a published password, and trips to book")
	seed.Flags().IntVar(&records, "records", 0, "how many ledger entries to add")
	seed.Flags().Uint64Var(&number, "seed", 1, "of the random numbers")

	return seed
}

// refuseOthersUsers keeps the users that are made up, who have a published password, out of a database that people use.
func refuseOthersUsers(ctx context.Context, s *store.Store) error {
	others, err := s.Accounts.HasUsersOutside(ctx, devDomain)
	if err == nil && others {
		err = errors.New("DATABASE_URL names a database with users of its own; dev, demo and seed --users do not run on it")
	}

	return err
}

// refuseUndeclared keeps what is made up out of a database of another machine that is not declared to be for development: an empty one may
// be that of a production that is being set up.
func refuseUndeclared(cfg config.Config, environ map[string]string) error {
	if strings.TrimSpace(environ["APP_ENV"]) != "" {
		return nil
	}

	to, err := pgconn.ParseConfig(cfg.Database.URL.Reveal())
	if err != nil {
		return errors.New("DATABASE_URL is not a PostgreSQL address") // the parser's error would quote the password
	}

	if ip, err := netip.ParseAddr(to.Host); strings.HasPrefix(to.Host, "/") || to.Host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}

	return errors.New("DATABASE_URL names a database of another machine and APP_ENV is not set; nothing was changed. " +
		"Set APP_ENV=development if users with a published password may be in it")
}

// seedUsers adds one user per role and what they need to try the service, unless they are there.
func seedUsers(ctx context.Context, s *store.Store) error {
	passwords, err := auth.NewPasswords(1)
	if err != nil {
		return err
	}

	hash, err := passwords.Hash(ctx, devPassword)
	if err != nil {
		return err
	}

	return seed.Of(s).SeedDev(ctx, hash, time.Now())
}

func runSeed(cmd *cobra.Command, users bool, records int, number uint64) error {
	cfg, err := loadConfig(config.Config.RequireDatabase)
	if err != nil {
		return err
	}

	if cfg.App.Env == config.Production {
		return errors.New("seed makes up users and payments and does not run with APP_ENV=production")
	}

	if err := refuseUndeclared(cfg, config.OSEnviron()); err != nil {
		return err
	}

	s, err := openStore(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	defer s.Close()

	if users {
		if err := refuseOthersUsers(cmd.Context(), s); err != nil {
			return err
		}

		if err := seedUsers(cmd.Context(), s); err != nil {
			return err
		}
	}

	if records == 0 {
		return nil
	}

	return seedRecords(cmd, s, records, number)
}

func seedRecords(cmd *cobra.Command, s *store.Store, records int, number uint64) error {
	began := time.Now()

	added, err := seed.Of(s).Grow(cmd.Context(), seed.Seed{
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

	fmt.Fprintf(cmd.OutOrStdout(), "added %d ledger entries in %.1f s\n", added, time.Since(began).Seconds())

	return nil
}
