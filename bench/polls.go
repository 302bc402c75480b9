package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func newPolls() *cobra.Command {
	b := &pollsBench{}

	c := &cobra.Command{
		Use:   "polls",
		Short: "Measure customers who poll the status of their payment, beside a minimal server: rate, times, CPU, statements",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntVar(&b.clients, "clients", 64, "customers at once, each with a connection of its own")
	c.Flags().DurationVar(&b.time, "time", 4*time.Second, "of a round")
	c.Flags().IntVar(&b.rounds, "rounds", 3, "rounds, each after one of the reference; the median counts")
	c.Flags().BoolVar(&b.statements, "statements", false, "list the statements of a poll")

	return c
}

// pollsBench polls the service and the reference in turn.
type pollsBench struct {
	*stage

	clients, rounds int
	time            time.Duration
	statements      bool // are listed

	ours, reference     []*keptConn
	results, references []pollsRound
}

// pollsRound is what a round gave.
type pollsRound struct {
	load

	cost  cost
	ratio float64
}

const pollsHead = "| round | a second | of the reference | median ms | 99 % | CPU ms | API or reference | PostgreSQL | statements |\n" +
	"|---|---|---|---|---|---|---|---|---|\n"

const partReference = "reference"

func (b *pollsBench) run(ctx context.Context, out io.Writer) (err error) {
	s, customers, err := newReadStage(ctx, b.clients, nil)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, s.close()) }()

	if err := keepUnheard(ctx, s.db); err != nil {
		return err
	}

	r, err := s.startStatusServer(ctx)
	if err != nil {
		return err
	}
	defer r.Kill()

	b.stage = s

	if err := b.connect(ctx, customers, r.address); err != nil {
		return err
	}

	for _, conns := range [][]*keptConn{b.reference, b.ours} { // connections and plans are made; they are not what a poll costs
		if _, err := poll(ctx, conns, b.time/4); err != nil { //nolint:mnd // long enough
			return err
		}
	}

	if err := s.forgetStatements(ctx); err != nil {
		return err
	}

	fmt.Fprintf(out, "%d customers, %d rounds of %s; CPU in ms for each poll\n\n%s", b.clients, b.rounds, b.time, pollsHead)

	for i := range b.rounds {
		if err := b.round(ctx, out, strconv.Itoa(i+1), r.PID()); err != nil {
			return err
		}
	}

	b.line(out, "median, reference", medianPolls(b.references), partReference)
	b.line(out, "median", medianPolls(b.results), partAPI)

	if b.statements {
		return s.printStatements(ctx, out, len(b.results[0].took))
	}

	return nil
}

func (b *pollsBench) connect(ctx context.Context, customers []waitingCustomer, reference string) error {
	for _, c := range customers {
		path := "/api/v1/bookings/" + c.booking.String() + "/payment-status"

		for address, to := range map[string]*[]*keptConn{strings.TrimPrefix(b.url, "http://"): &b.ours, reference: &b.reference} {
			conn, err := dialKept(ctx, address, path, c.token)
			if err != nil {
				return err
			}

			*to = append(*to, conn)
		}
	}

	return nil
}

// round polls the reference and then the service, or the other way round every second time.
func (b *pollsBench) round(ctx context.Context, out io.Writer, name string, pid int) error {
	ref, err := b.measure(ctx, b.reference, map[string]int{partReference: pid})
	if err != nil {
		return fmt.Errorf("the reference: %w", err)
	}

	ours, err := b.measure(ctx, b.ours, map[string]int{partAPI: b.service.APIs[0].PID()})
	if err != nil {
		return err
	}

	ref.ratio, ours.ratio = 1, ours.rate()/ref.rate()
	b.references, b.results = append(b.references, ref), append(b.results, ours)

	b.line(out, name+", reference", ref, partReference)
	b.line(out, name, ours, partAPI)

	return nil
}

func (b *pollsBench) measure(ctx context.Context, conns []*keptConn, pids map[string]int) (r pollsRound, err error) {
	pids[partPostgres] = b.stack.Postgres.PID()

	before, err := b.costOf(ctx, pids)
	if err != nil {
		return r, err
	}

	if r.load, err = poll(ctx, conns, b.time); err != nil {
		return r, err
	}

	select { // PostgreSQL's figures arrive late
	case <-time.After(settleTime):
	case <-ctx.Done():
		return r, ctx.Err()
	}

	after, err := b.costOf(ctx, pids)
	r.cost = after.since(before)

	return r, err
}

// poll has each connection ask again and again for some time.
func poll(ctx context.Context, conns []*keptConn, forTime time.Duration) (load, error) {
	var (
		mu  sync.Mutex
		out load
	)

	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()

	for _, conn := range conns {
		group.Go(func() error {
			var took []time.Duration

			for time.Since(began) < forTime && ctx.Err() == nil {
				start := time.Now()

				if err := conn.get(); err != nil {
					return err
				}

				took = append(took, time.Since(start))
			}

			mu.Lock()
			defer mu.Unlock()

			out.took = append(out.took, took...)

			return nil
		})
	}

	err := group.Wait()
	out.wall = time.Since(began)

	slices.Sort(out.took)

	return out, err
}

// medianPolls is the median of every column. Rounds have different numbers of polls: what is of each poll is divided before.
func medianPolls(all []pollsRound) (m pollsRound) {
	middle := func(of func(pollsRound) float64) pollsRound {
		sorted := slices.SortedFunc(slices.Values(all), func(a, b pollsRound) int { return compareFloat(of(a), of(b)) })

		return sorted[len(sorted)/2]
	}

	m = middle(func(r pollsRound) float64 { return r.rate() })
	m.ratio = middle(func(r pollsRound) float64 { return r.ratio }).ratio

	return m
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func (b *pollsBench) line(out io.Writer, name string, r pollsRound, part string) {
	n := float64(len(r.took))
	each := func(parts ...string) string {
		return fmt.Sprintf("%.3f", float64(r.cost.total(parts...).Microseconds())/1000/n)
	}

	fmt.Fprintf(out, "| %s | %.0f | %.2f | %s | %s | %s | %s | %s | %.2f |\n", name, r.rate(), r.ratio, msFine(r.at(0.5)), msFine(r.at(0.99)),
		each(part, partPostgres), each(part), each(partPostgres), float64(r.cost.statements)/n)
}

// msFine is a time in milliseconds, to the hundredth.
func msFine(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d.Microseconds())/1000) }
