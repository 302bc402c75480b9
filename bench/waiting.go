package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

func newWaiting() *cobra.Command {
	b := &waitingBench{}

	c := &cobra.Command{
		Use:   "waiting",
		Short: "Measure customers who wait for their payment with ?wait=30: memory of each, idle CPU and statements, and when they are told",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntVar(&b.customers, "customers", 20000, "who wait at once, each over a connection of its own; also a tenth of them")
	c.Flags().Float64Var(&b.arrivals, "arrivals", 2000, "customers who come a second")
	c.Flags().DurationVar(&b.quiet, "quiet", 8*time.Second, "for how long nothing happens while they wait")
	c.Flags().IntVar(&b.settled, "settled", 500, "payments that are settled while the others wait on")
	c.Flags().Float64Var(&b.settles, "settles", 50, "payments that are settled a second")

	return c
}

const (
	// longestWait is the longest ?wait= that the service takes.
	longestWait = 30 * time.Second
	// filesBesides is how many open files a process has at most besides the customers' connections.
	filesBesides = 300
)

// waitingBench has customers wait at the service, and at a minimal server that keeps a request until its time is over.
type waitingBench struct {
	*stage

	customers, settled int
	arrivals, settles  float64
	quiet              time.Duration
	all                []waitingCustomer // with an open payment
}

// waitingRound is what so many waiting customers have cost, and when those whose payments were settled were told.
type waitingRound struct {
	customers   int
	memory      int64         // of the process, resident
	quiet       cost          // while nothing happened
	quietFor    time.Duration // which was that long
	told, plain load          // from the commit of a settlement to the answer of a request that waits, and to that of a poll sent then
}

const waitingHead = "| | customers | MB resident | kB each | statements/s, quiet | API, % of a core | PostgreSQL, % |" +
	" told, median ms | 99 % | most | un-waited, median ms | 99 % |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"

func (b *waitingBench) run(ctx context.Context, out io.Writer) (err error) {
	files, err := allowFiles(uint64(b.customers) + filesBesides) //nolint:gosec // not negative
	if err != nil {
		return err
	}

	if most := int(files) - filesBesides; b.customers > most { //nolint:gosec // a limit of the system, in the thousands
		fmt.Fprintf(out, "This system allows %d open files to a process: fewer customers than %d.\n\n", files, b.customers)
		b.customers = most
	}

	few := max(b.customers/10, 1) //nolint:mnd // what depends on the number shows
	if b.settled = min(b.settled, few/2); b.settled < 1 {
		return errors.New("--customers must be at least 20, and --settled at least 1")
	}

	// Settled once, a customer waits for nothing: each round has customers of its own.
	if b.stage, b.all, err = newReadStage(ctx, few+b.customers, nil); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, b.close()) }()

	if err := keepUnheard(ctx, b.db); err != nil {
		return err
	}

	fmt.Fprintf(out, "%.0f customers come a second and wait for %s, quiet for %s, then %d payments are settled, %.0f a second\n\n%s",
		b.arrivals, longestWait, b.quiet, b.settled, b.settles, waitingHead)

	if err := b.reference(ctx, out); err != nil {
		return fmt.Errorf("the reference: %w", err)
	}

	var fewer *waitingRound

	for _, customers := range [][]waitingCustomer{nil, b.all[:few], b.all[few:]} {
		r, err := b.measure(ctx, customers, strings.TrimPrefix(b.url, "http://"), map[string]int{partAPI: b.service.APIs[0].PID()},
			len(customers) > 0)
		if err != nil {
			return err
		}

		r.line(out, "API", partAPI, fewer)
		fewer = &r

		if err := b.restart(ctx); err != nil { // memory is given back slowly: the next ones come to a process that has just begun
			return err
		}
	}

	return b.audit(ctx, out)
}

// reference has as many customers wait at a server that looks once and then keeps the request.
func (b *waitingBench) reference(ctx context.Context, out io.Writer) error {
	var fewer *waitingRound

	for _, customers := range [][]waitingCustomer{b.all[:len(b.all)-b.customers], b.all[len(b.all)-b.customers:]} {
		r, err := b.measureReference(ctx, customers)
		if err != nil {
			return err
		}

		r.line(out, "reference", partReference, fewer)
		fewer = &r
	}

	return nil
}

func (b *waitingBench) measureReference(ctx context.Context, customers []waitingCustomer) (waitingRound, error) {
	s, err := b.startStatusServer(ctx)
	if err != nil {
		return waitingRound{}, err
	}
	defer s.Kill()

	return b.measure(ctx, customers, s.address, map[string]int{partReference: s.PID()}, false)
}

// restart has the API begin anew.
func (b *waitingBench) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	api := b.service.APIs[0]
	api.Kill()

	if err := api.Start(); err != nil {
		return err
	}

	return api.Await(ctx)
}

// measure has customers come and wait, and leave in the end.
func (b *waitingBench) measure(
	ctx context.Context, customers []waitingCustomer, address string, pids map[string]int, settles bool,
) (r waitingRound, err error) {
	r.customers = len(customers)

	var pid int
	for _, pid = range pids {
		break
	}

	crowd := newCrowd(customers, address)
	defer func() { err = errors.Join(err, crowd.leave()) }()

	// Connections to the database and plans are made; they are not what a waiting customer costs.
	if err := b.warm(ctx, crowd); err != nil {
		return r, err
	}

	began := time.Now()

	if err := crowd.come(ctx, rate.NewLimiter(rate.Limit(b.arrivals), 1)); err != nil {
		return r, err
	}

	if err := b.pause(ctx, settleTime); err != nil { // the last ones have been looked at
		return r, err
	}

	if r.quiet, r.quietFor, err = b.during(ctx, pids, func() error { return b.pause(ctx, b.quiet) }); err != nil {
		return r, err
	}

	if r.memory, err = residentMemory(pid); err != nil {
		return r, err
	}

	if over := time.Since(began); over > longestWait {
		return r, fmt.Errorf("the first customers had waited for %s before it was quiet for long enough: lower --customers or --quiet", over)
	}

	if n := crowd.answered.Load(); n > 0 {
		return r, fmt.Errorf("%d customers were answered although nothing was settled", n)
	}

	if !settles {
		return r, nil
	}

	return r, b.settleAll(ctx, crowd, &r)
}

// warm polls a few times over more connections than the service has to its database.
func (b *waitingBench) warm(ctx context.Context, c *crowd) error {
	const connections, times = 32, 8

	group, ctx := errgroup.WithContext(ctx)

	for i := range min(connections, len(c.members)) {
		group.Go(func() error {
			conn, err := c.dial(ctx, i, "")
			if err != nil {
				return err
			}
			defer conn.Close()

			for range times {
				if err := conn.get(); err != nil {
					return err
				}
			}

			return nil
		})
	}

	return group.Wait()
}

func (b *waitingBench) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// during is what something has cost, and how long it took.
func (b *waitingBench) during(ctx context.Context, pids map[string]int, do func() error) (used cost, took time.Duration, err error) {
	all := map[string]int{partPostgres: b.stack.Postgres.PID()}
	maps.Copy(all, pids)

	before, err := b.costOf(ctx, all)
	if err != nil {
		return used, 0, err
	}

	began := time.Now()

	if err := do(); err != nil {
		return used, 0, err
	}

	took = time.Since(began)
	after, err := b.costOf(ctx, all)

	return after.since(before), took, err
}

// settleAll settles payments at a rate, and notes when requests that wait for them are notified.
func (b *waitingBench) settleAll(ctx context.Context, c *crowd, r *waitingRound) error {
	// Of those who came at different times.
	step := len(c.members) / b.settled
	pace := rate.NewLimiter(rate.Limit(b.settles), 1)
	told, plain := make([]time.Duration, b.settled), make([]time.Duration, b.settled)
	polls := make(chan *keptConn, b.settled)

	group, ctx := errgroup.WithContext(ctx)

	for i := range b.settled {
		m := &c.members[i*step]

		if err := pace.Wait(ctx); err != nil {
			break
		}

		group.Go(func() error {
			if err := b.settle(ctx, m.waitingCustomer); err != nil {
				return err
			}

			began := time.Now()

			if err := b.store.Payments.AnnounceDecided(ctx, []uuid.UUID{m.booking}); err != nil {
				return err
			}

			took, err := c.pollOnce(ctx, polls, i*step+1)
			if err != nil {
				return err
			}

			plain[i] = took

			select {
			case at := <-m.told:
				told[i] = at.Sub(began)

				return nil
			case <-time.After(longestWait):
				return errors.New("a customer whose payment is settled was not told")
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}

	err := group.Wait()

	slices.Sort(told)
	slices.Sort(plain)

	r.told.took, r.plain.took = told, plain

	return err
}
