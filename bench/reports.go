package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/spf13/cobra"

	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// The sizes of a ledger, and how often each thing is measured at each.
var reportSizes = []int{10_000, 1_000_000, 10_000_000}

const (
	reportTries = 41
	warmUps     = 3
	// Slow measurements are repeated less often.
	fewestTries    = 3
	longestMeasure = 10 * time.Second
	// deepPage exists in the smallest ledger, too, with deepPerPage entries on each.
	deepPage    = 1000
	deepPerPage = 10
)

func newReports() *cobra.Command {
	var quick, ownTitles bool

	c := &cobra.Command{
		Use:   "reports",
		Short: "Compare summaries and record lists over ledgers of 10 thousand, 1 million and 10 million lines, and what their upkeep costs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := newReportsBench(cmd.Context(), true)
			if err != nil {
				return err
			}
			defer b.close()

			b.ledger.ownTitles = ownTitles
			sizes := reportSizes
			if quick {
				sizes = sizes[:len(sizes)-1]
			}

			return b.compare(cmd.Context(), cmd.OutOrStdout(), sizes)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "leave out 10 million lines, which take minutes to make and 10 GB of disk")
	c.Flags().BoolVar(&ownTitles, "own-titles", false, "every hundred lines have a title of their own, instead of a thousand titles for all")

	return c
}

// reportsBench is a private PostgreSQL with a ledger that grows.
type reportsBench struct {
	dir      string
	postgres *devstack.Postgres
	store    *store.Store
	db       *sql.DB
	ledger   *seededLedger
}

// newReportsBench starts a PostgreSQL that waits for its disk, or a throwaway one that does not.
func newReportsBench(ctx context.Context, throwaway bool) (b *reportsBench, err error) {
	b = &reportsBench{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()

	if b.dir, err = os.MkdirTemp("", "rihla-bench"); err != nil {
		return nil, err
	}

	b.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{
		DataDir: b.dir, BinDir: devstack.DefaultDataDir + "/bin", Database: "rihla", Throwaway: throwaway,
	})
	if err != nil {
		return nil, err
	}

	if b.store, err = store.Open(ctx, b.postgres.URL(), models.DefaultPolicies(), db.Options{MaxConns: 4}); err != nil {
		return nil, err
	}

	if _, err = b.store.DB.Migrate(ctx); err != nil {
		return nil, err
	}

	b.db, err = sql.Open("pgx", b.postgres.URL())
	b.ledger = &seededLedger{db: b.db}

	return b, err
}

func (b *reportsBench) close() {
	if b.db != nil {
		_ = b.db.Close()
	}

	if b.store != nil {
		_ = b.store.Close()
	}

	if b.postgres != nil {
		_ = b.postgres.Stop(context.Background())
	}

	_ = os.RemoveAll(b.dir)
}

// read is one thing that people read.
type read struct {
	name string
	do   func(context.Context) error
}

func (b *reportsBench) reads() []read {
	day := models.NewDate(2026, time.January, 1)
	summary := func(provider uuid.UUID, days int) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := b.store.Ledger.Report(ctx, provider, models.Days{From: day, To: day.AddDays(days - 1)})

			return err
		}
	}
	list := func(f ledger.RecordFilter, page int) func(context.Context) error {
		f.Page = db.Page{Number: page, PerPage: deepPerPage}

		return func(ctx context.Context) error {
			_, err := b.store.Ledger.ListRecords(ctx, f)

			return err
		}
	}
	big := b.ledger.big

	return []read{
		{"summary of the platform, a month", summary(uuid.Nil, 31)},
		{"summary of the platform, 300 days", summary(uuid.Nil, 300)},
		{"summary of a company, a month", summary(big, 31)},
		{"list, page 1", list(ledger.RecordFilter{}, 1)},
		{fmt.Sprintf("list, page %d", deepPage), list(ledger.RecordFilter{}, deepPage)},
		{"list of a company, page 1", list(ledger.RecordFilter{ProviderID: big}, 1)},
		{"list, IN_CURRENT_BALANCE, page 1", list(ledger.RecordFilter{BalanceStatus: models.BalanceInCurrent}, 1)},
		{"list, a trip's title, page 1", list(ledger.RecordFilter{Search: "trip 000042"}, 1)},
		{"list, part of the titles, page 1", list(ledger.RecordFilter{Search: "trip 00001"}, 1)},
		{"list, a transaction number, page 1", list(ledger.RecordFilter{Search: "RH-2025-00004242"}, 1)},
		{"list, digits of a number, page 1", list(ledger.RecordFilter{Search: "00004242"}, 1)},
		{"list, a word in every line, page 1", list(ledger.RecordFilter{Search: "umrah"}, 1)},
		{fmt.Sprintf("list, a word in every line, page %d", deepPage), list(ledger.RecordFilter{Search: "umrah"}, deepPage)},
		{"list, a word in every twentieth line, page 1", list(ledger.RecordFilter{Search: "for trip"}, 1)},
	}
}

// compare measures every read at every size and prints medians, and how they compare with the smallest.
func (b *reportsBench) compare(ctx context.Context, out io.Writer, sizes []int) error {
	var (
		names   []string
		medians [][]time.Duration
	)

	for _, lines := range sizes {
		began := time.Now()

		if err := b.ledger.grow(ctx, lines); err != nil {
			return err
		}

		fmt.Fprintf(out, "%d lines after %s\n", lines, time.Since(began).Round(time.Second))

		for i, r := range b.reads() {
			m, err := medianOf(ctx, r.do)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}

			if i == len(names) {
				names, medians = append(names, r.name), append(medians, nil)
			}

			medians[i] = append(medians[i], m)
			fmt.Fprintf(out, "  %s: %s\n", r.name, m.Round(10*time.Microsecond))
		}
	}

	fmt.Fprintf(out, "\nmedian of up to %d, ms (and how many times that of %d lines)\n\n| read |", reportTries, sizes[0])

	for _, lines := range sizes {
		fmt.Fprintf(out, " %d lines |", lines)
	}

	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(sizes)))

	for i, name := range names {
		fmt.Fprintf(out, "| %s |", name)

		for _, m := range medians[i] {
			fmt.Fprintf(out, " %.2f (%.2f) |", float64(m.Microseconds())/1000, float64(m)/float64(medians[i][0]))
		}

		fmt.Fprintln(out)
	}

	return b.upkeep(ctx, out)
}

func medianOf(ctx context.Context, do func(context.Context) error) (time.Duration, error) {
	first, took := time.Now(), make([]time.Duration, 0, reportTries)

	for i := range reportTries + warmUps {
		began := time.Now()

		if err := do(ctx); err != nil {
			return 0, err
		}

		if i >= warmUps {
			took = append(took, time.Since(began))
		}

		if len(took) >= fewestTries && time.Since(first) > longestMeasure {
			break
		}
	}

	slices.Sort(took)

	return took[len(took)/2], nil
}
