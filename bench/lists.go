package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rihla/e2e/rig"
	"rihla/internal/store/seed"
)

func newLists() *cobra.Command {
	b := listsBench{}

	c := &cobra.Command{
		Use:   "lists",
		Short: "Measure lists of staff over HTTP by several connections at once, each beside the bare statement of its page",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntSliceVar(&b.records, "records", []int{200_000, 1_000_000}, "ledger entries, with their bookings and payments")
	c.Flags().IntVar(&b.clients, "clients", 16, "connections at once")
	c.Flags().DurationVar(&b.time, "time", 3*time.Second, "of each measurement; half of it is run before to warm up")

	return c
}

type listsBench struct {
	*bench

	records []int // each more than the one before
	clients int
	time    time.Duration
}

// measuredList is a list, and what reads the rows of its page without counting, joining or encoding anything.
type measuredList struct {
	name, path string
	statement  string
}

const (
	newestBookings = "SELECT * FROM bookings ORDER BY created_at DESC, id LIMIT 21"
	newestEntries  = "SELECT * FROM financial_records ORDER BY record_date DESC, created_at DESC, id LIMIT 21"
)

func measuredLists() []measuredList {
	const bookings, lines = "/api/v1/admin/bookings", "/api/v1/admin/financial-records"

	search := func(path, text string) string { return path + "?search=" + url.QueryEscape(text) }

	return []measuredList{
		{"bookings", bookings, newestBookings},
		{"bookings, page 1,500", bookings + "?page=1500", `SELECT * FROM bookings WHERE id IN
			(SELECT id FROM bookings ORDER BY created_at DESC, id OFFSET 29980 LIMIT 21) ORDER BY created_at DESC, id`},
		{"bookings, search RB- (all)", search(bookings, "RB-"), newestBookings},
		{"bookings, largest amount", bookings + "?sort=-amount", "SELECT * FROM bookings ORDER BY amount DESC, id LIMIT 21"},
		{"bookings, latest departure", bookings + "?sort=-departure_at", newestBookings},
		{"records", lines, newestEntries},
		{"records, search 00", search(lines, "00"), newestEntries},
		{"records, search x1 (none)", search(lines, "x1"), newestEntries},
		{"records, search RH-2026-1", search(lines, "RH-2026-1"), newestEntries},
		{"totals of records", lines + "/totals", "SELECT balance_status, count(*), sum(net_amount) FROM financial_records GROUP BY 1"},
		{
			"totals of records, search RH", search(lines+"/totals", "RH"),
			"SELECT balance_status, count(*), sum(net_amount) FROM financial_records GROUP BY 1",
		},
		{
			"payments, PAID, largest amount", "/api/v1/admin/payment-transactions?status=PAID&sort=-amount",
			"SELECT * FROM payment_transactions WHERE status = 'PAID' ORDER BY amount DESC, id LIMIT 21",
		},
		{
			"payments, search RB- (all)", search("/api/v1/admin/payment-transactions", "RB-"),
			"SELECT * FROM payment_transactions ORDER BY created_at DESC, id LIMIT 21",
		},
		{"balances of companies", "/api/v1/admin/provider-balances", `SELECT credit_account, sum(amount) FROM ledger_transfers
			WHERE credit_account LIKE 'provider:%' GROUP BY 1`},
	}
}

func (l *listsBench) run(ctx context.Context, out io.Writer) (err error) {
	if l.bench, err = newBench(ctx); err != nil {
		return err
	}
	defer l.close()

	s, err := l.startService(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()

	there := 0

	for _, records := range l.records {
		if err := l.grow(ctx, records-there); err != nil {
			return err
		}

		there = records

		fmt.Fprintf(out, "%d ledger entries; %d connections, p50 in ms\n\n", there, l.clients)
		fmt.Fprintf(out, "| list | alone | %d at once | 95 %% | its page by the bare statement | ratio |\n|---|---|---|---|---|---|\n", l.clients)

		for _, list := range measuredLists() {
			if err := l.measure(ctx, out, s, list); err != nil {
				return fmt.Errorf("%s: %w", list.name, err)
			}
		}

		fmt.Fprintln(out)
	}

	return nil
}

// grow adds past bookings with their payments and entries.
func (l *listsBench) grow(ctx context.Context, records int) error {
	_, err := seed.Of(l.store).Grow(ctx, seed.Seed{Records: records, Seed: 1, Now: time.Now(), Password: "none", Progress: func(int) {}})
	if err != nil {
		return err
	}

	_, err = l.store.DB.ExecContext(ctx, "VACUUM ANALYZE")

	return err
}

func (l *listsBench) measure(ctx context.Context, out io.Writer, s *service, list measuredList) error {
	ask := func(ctx context.Context) error {
		r, err := s.client.Request(ctx, http.MethodGet, list.path, nil, nil)
		if err != nil {
			return err
		}

		answer, err := rig.Send(r)
		if err == nil && answer.Status != http.StatusOK {
			err = fmt.Errorf("%d %s", answer.Status, answer.Body)
		}

		return err
	}
	bare := func(ctx context.Context) error {
		rows, err := l.store.DB.Raw.QueryContext(ctx, list.statement)
		if err != nil {
			return err
		}
		defer rows.Close()

		for rows.Next() {
		}

		return rows.Err()
	}

	if _, err := repeat(ctx, l.clients, l.time/2, ask); err != nil { //nolint:mnd // long enough
		return err
	}

	alone, err := repeat(ctx, 1, l.time/2, ask) //nolint:mnd // the same
	if err != nil {
		return err
	}

	many, err := repeat(ctx, l.clients, l.time, ask)
	if err != nil {
		return err
	}

	reference, err := repeat(ctx, l.clients, l.time, bare)
	if err != nil {
		return err
	}

	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 } //nolint:mnd // microseconds
	half, most := many.at(0.5), many.at(0.95)                                       //nolint:mnd // shares
	aloneHalf, bareHalf := alone.at(0.5), reference.at(0.5)                         //nolint:mnd // shares

	_, err = fmt.Fprintf(out, "| %s | %.1f | %.1f | %.1f | %.1f | %.1f |\n", list.name, ms(aloneHalf), ms(half), ms(most),
		ms(bareHalf), float64(half)/float64(bareHalf))

	return err
}

// repeat does something again and again for some time by as many clients.
func repeat(ctx context.Context, clients int, forTime time.Duration, do func(context.Context) error) (load, error) {
	group, ctx := errgroup.WithContext(ctx)
	parts, began := make([][]time.Duration, clients), time.Now()

	for i := range clients {
		group.Go(func() error {
			for time.Since(began) < forTime && ctx.Err() == nil {
				start := time.Now()

				if err := do(ctx); err != nil {
					return err
				}

				parts[i] = append(parts[i], time.Since(start))
			}

			return nil
		})
	}

	err := group.Wait()

	return loadOf(parts, time.Since(began)), err
}
