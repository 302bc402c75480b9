package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newExports() *cobra.Command {
	var (
		records, rounds int
		keep            string
	)

	c := &cobra.Command{
		Use:   "exports",
		Short: "Compare the export of ledger entries with psql, and tell what it costs the API in memory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := newBench(cmd.Context())
			if err != nil {
				return err
			}
			defer b.close()

			return b.exports(cmd.Context(), cmd.OutOrStdout(), records, rounds, keep)
		},
	}
	c.Flags().IntVar(&records, "records", 1_000_000, "ledger entries")
	c.Flags().IntVar(&rounds, "rounds", 3, "rounds; the median counts")
	c.Flags().StringVar(&keep, "keep", "", "a directory to keep the files in; by default they are not kept")

	return c
}

// exportRun is one way to have the entries as a file.
type exportRun struct {
	name string
	do   func(ctx context.Context) (bytes int64, err error)
	idle bool // the API has no part in it
	took []time.Duration
	size int64
	grew int64 // the API's memory, at most
}

func (b *bench) exports(ctx context.Context, out io.Writer, records, rounds int, keep string) error {
	if err := b.fillRecords(ctx, records); err != nil {
		return err
	}

	s, err := b.startService(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close(context.WithoutCancel(ctx)) }()

	runs := []*exportRun{
		{name: "CSV", do: func(ctx context.Context) (int64, error) { return s.export(ctx, "csv", keep) }},
		{name: `psql \copy, plain columns`, do: b.psqlCopy, idle: true},
		{name: "XLSX", do: func(ctx context.Context) (int64, error) { return s.export(ctx, "xlsx", keep) }},
	}

	for range rounds {
		for _, r := range runs {
			if err := s.measure(ctx, r); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}

	fmt.Fprintf(out, "%d ledger entries, %d rounds in turn; rows/s are those of the median\n\n", records, rounds)
	fmt.Fprintf(out, "| what | rows/s | of psql's | seconds of each round | MiB of file | API grew by, MiB |\n|---|---|---|---|---|---|\n")

	base := middle(runs[1].took).Seconds()
	for _, r := range runs {
		took := middle(r.took).Seconds()
		fmt.Fprintf(out, "| %s | %.0f | %.2f | %s | %.1f | %s |\n", r.name, float64(records)/took, base/took, r.seconds(),
			mebibytes(r.size), r.growth())
	}

	return nil
}

// seconds are those of each round.
func (r *exportRun) seconds() string {
	all := make([]string, len(r.took))
	for i, took := range r.took {
		all[i] = strconv.FormatFloat(took.Seconds(), 'f', 2, 64)
	}

	return strings.Join(all, ", ")
}

// growth is that of the API's memory; psql does not ask the API.
func (r *exportRun) growth() string {
	if r.idle {
		return "–"
	}

	return strconv.FormatFloat(mebibytes(r.grew), 'f', 1, 64)
}

func middle[T cmp.Ordered](all []T) T {
	sorted := slices.Sorted(slices.Values(all))

	return sorted[len(sorted)/2]
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// fillRecords makes ledger entries of many providers and days. They are rows to export, and no books that add up.
func (b *bench) fillRecords(ctx context.Context, n int) error {
	if err := b.seed(ctx, 1); err != nil {
		return err
	}

	a, err := b.book(ctx)
	if err != nil {
		return err
	}

	if _, _, err := b.store.Payments.OpenPayment(ctx, a, time.Now); err != nil {
		return err
	}

	// For the entries triggers are off: their work comes before and after. The indexes of searches are not used here, and cost
	// more than everything else to fill.
	return b.psql(ctx, fmt.Sprintf(`
		DROP INDEX records_text, records_number, records_number_part, records_clawback;
		INSERT INTO providers (id, name, email, phone, commission_rate)
		SELECT gen_random_uuid(), 'شركة الرحلات ' || n, n || '@rihla.test', '+966500000000', 0.1 FROM generate_series(1, 50) AS n;
		CREATE TEMP TABLE tours AS SELECT n AS tour, title, record_text_id('SALE', title, title) AS text_id
		FROM generate_series(0, 999) AS n, LATERAL (SELECT 'رحلة العُلا ' || n AS title) AS t;
		SET session_replication_role = replica;
		INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, gross_amount,
			platform_commission_amount, net_amount, vat_amount, refunded_amount, trip_title, details, text_id, record_date, balance_status,
			payout_reference, payout_date, transferred_at, commission_rate)
		SELECT gen_random_uuid(), 'RH-2026-' || lpad(n::text, 8, '0'), 'SALE', t.id, p.ids[1 + n %% 51], t.booking_id,
			100 + n %% 900, (100 + n %% 900) / 10.0, (100 + n %% 900) * 0.9, 15, 100 + n %% 900, title, tours.title, text_id,
			'2026-01-01'::date + n %% 300, 'REFUNDED', CASE n %% 3 WHEN 0 THEN 'TRF-' || n END, CASE n %% 3 WHEN 0 THEN '2026-11-01'::date END,
			CASE n %% 3 WHEN 0 THEN now() END, 0.1
		FROM generate_series(1, %d) AS n JOIN tours ON tour = n %% 1000, (SELECT array_agg(id) AS ids FROM providers) AS p,
			(SELECT id, booking_id FROM payment_transactions LIMIT 1) AS t;
		SELECT rebuild_reports();
		ANALYZE financial_records, providers;`, n), "-q", "-o", os.DevNull)
}

// psqlCopy has PostgreSQL's own client write the entries as CSV: the same columns in the same order, as they are.
func (b *bench) psqlCopy(ctx context.Context) (int64, error) {
	name := filepath.Join(b.dir, "copy.csv")
	defer os.Remove(name)

	err := b.psql(ctx, `\copy (SELECT transaction_number, record_date, fr.kind, p.name, details, gross_amount, platform_commission_amount, `+
		`net_amount, fr.vat_amount, fr.refunded_amount, fr.currency, balance_status, payout_reference, payout_date, transferred_at, `+
		`bn.booking_number, fr.booking_id, fr.ad_campaign_id, payment_transaction_id, fr.id, split_from, fr.created_at, fr.commission_rate, `+
		`captured_at, payment_method, gateway, netted_against, `+reverted+
		` FROM financial_records AS fr JOIN providers AS p ON p.id = fr.provider_id `+
		`JOIN payment_transactions AS pt ON pt.id = fr.payment_transaction_id LEFT JOIN bookings AS bn ON bn.id = fr.booking_id `+
		`ORDER BY record_date DESC, fr.created_at DESC, fr.id) TO '`+name+`' CSV HEADER`, "-q")
	if err != nil {
		return 0, err
	}

	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}

	return info.Size(), nil
}

// reverted is when the transfer of a ledger entry was taken back: of those that can have been, which are few.
const reverted = `CASE WHEN fr.balance_status = 'IN_CURRENT_BALANCE' AND fr.id IN (SELECT record_id FROM payout_reversals)
	THEN (SELECT max(v.created_at) FROM payout_reversals AS v WHERE v.record_id = fr.id)
	WHEN fr.balance_status = 'REFUNDED' AND fr.transferred_at IN (SELECT transferred_at FROM payout_reversals)
	THEN (SELECT max(v.created_at) FROM payout_reversals AS v JOIN financial_records AS rest ON rest.id = v.record_id
		WHERE rest.payment_transaction_id = fr.payment_transaction_id AND rest.kind = fr.kind AND v.transferred_at = fr.transferred_at)
	END`

func (b *bench) psql(ctx context.Context, command string, flags ...string) error {
	program, err := exec.LookPath("psql")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		if len(found) == 0 {
			return errors.New("psql is needed, PostgreSQL's own client")
		}

		program = found[len(found)-1]
	}

	args := append([]string{"-v", "ON_ERROR_STOP=1", "-X", "-d", b.stack.DatabaseURL}, flags...)

	text, err := exec.CommandContext(ctx, program, append(args, "-c", command)...).CombinedOutput() //nolint:gosec // our own SQL
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, text)
	}

	return nil
}
