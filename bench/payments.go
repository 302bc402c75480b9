package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"

	"rihla/api/gen"
	"rihla/e2e/rig"
	"rihla/models"
)

const useExisting = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING

func newPayments() *cobra.Command {
	var (
		payments, clients, rounds int
		statements                bool
	)

	c := &cobra.Command{
		Use:   "payments",
		Short: "Measure payments over HTTP, from the booking to the confirmed seat, beside a bare workflow: rate, CPU, statements",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchPayments(cmd.Context(), cmd.OutOrStdout(), &paymentsBench{
				payments: payments, clients: clients, rounds: rounds, statements: statements,
			})
		},
	}
	c.Flags().IntVar(&payments, "payments", 400, "payments per round")
	c.Flags().IntVar(&clients, "clients", 16, "customers at once")
	c.Flags().IntVar(&rounds, "rounds", 3, "rounds, each after one of the reference; the median counts")
	c.Flags().BoolVar(&statements, "statements", false, "list the statements of a payment")

	return c
}

func benchPayments(ctx context.Context, out io.Writer, b *paymentsBench) (err error) {
	s, err := newStage(ctx, (b.rounds+1)*b.payments, nil)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, s.close()) }()

	r, err := s.startReference(ctx)
	if err != nil {
		return err
	}
	defer r.worker.Kill()

	b.stage, b.reference = s, r

	// The first of everything makes connections and plans; it is not what a payment costs.
	if _, err := closedLoop(ctx, b.clients, min(b.payments, 4*b.clients), b.pay); err != nil {
		return err
	}

	fmt.Fprintf(out, "%d payments by %d customers at once, %d rounds; times in ms, CPU in ms for each payment\n\n%s", b.payments, b.clients,
		b.rounds, paymentsHead)

	if err := s.forgetStatements(ctx); err != nil {
		return err
	}

	for i := range b.rounds {
		if err := b.round(ctx, out, strconv.Itoa(i+1)); err != nil {
			return err
		}
	}

	b.medians(out)

	if err := b.workflowCost(ctx, out); err != nil {
		return err
	}

	if b.statements {
		if err := s.printStatements(ctx, out, b.rounds*b.payments); err != nil {
			return err
		}
	}

	return s.audit(ctx, out)
}

const paymentsHead = "| round | a second | of the reference | median | 95 % | booked | paid |" +
	" CPU | Temporal | worker | API | PostgreSQL | statements | transactions | flushes | kB of log |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

// paymentsBench takes payments through the service, and as many of the reference.
type paymentsBench struct {
	*stage

	payments, clients, rounds int
	statements                bool // are listed

	reference *reference
	next      atomic.Int64
	last      atomic.Pointer[string] // the id of the last payment's workflow

	mu           sync.Mutex
	booked, paid []time.Duration

	results, references []paymentsRound
}

type paymentsRound struct {
	load

	cost         cost
	booked, paid time.Duration // medians
	ratio        float64
}

func (b *paymentsBench) round(ctx context.Context, out io.Writer, name string) error {
	ref, err := b.measureReference(ctx)
	if err != nil {
		return err
	}

	ours, err := b.measure(ctx)
	if err != nil {
		return err
	}

	ours.ratio = ours.rate() / ref.rate()
	b.results, b.references = append(b.results, ours), append(b.references, ref)

	b.printReference(out, name+", reference", ref)
	b.line(out, name, ours)

	return nil
}

func (b *paymentsBench) measure(ctx context.Context) (r paymentsRound, err error) {
	b.booked, b.paid = nil, nil

	before, err := b.cost(ctx)
	if err != nil {
		return r, err
	}

	if r.load, err = closedLoop(ctx, b.clients, b.payments, b.pay); err != nil {
		return r, err
	}

	// What a payment leaves behind, its message first of all, is part of its cost; and PostgreSQL's figures arrive late.
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return r, ctx.Err()
	}

	after, err := b.cost(ctx)
	r.cost = after.since(before)

	slices.Sort(b.booked)
	slices.Sort(b.paid)

	r.booked, r.paid = b.booked[len(b.booked)/2], b.paid[len(b.paid)/2]

	return r, err
}

// settleTime is how long after a round its cost is read.
const settleTime = 1500 * time.Millisecond

func (b *paymentsBench) measureReference(ctx context.Context) (r paymentsRound, err error) {
	before, temporal, err := b.referenceCPU()
	if err != nil {
		return r, err
	}

	if r.load, err = closedLoop(ctx, b.clients, b.payments, b.reference.run); err != nil {
		return r, err
	}

	after, temporalAfter, err := b.referenceCPU()
	r.cost.cpu = map[string]time.Duration{partWorker: after - before, partTemporal: temporalAfter - temporal}

	return r, err
}

func (b *paymentsBench) referenceCPU() (worker, temporal time.Duration, err error) {
	if worker, err = cpuOf(b.reference.worker.PID(), false); err == nil {
		temporal, err = cpuOf(b.stack.Temporal.PID(), false)
	}

	return worker, temporal, err
}

// pay books a seat, pays at the gateway and asks until the booking is confirmed, as the app does.
func (b *paymentsBench) pay(ctx context.Context) error {
	n := b.next.Add(1)
	trip := b.trips[int(n)%len(b.trips)]

	// Each customer has an address and a phone: messages to one are sent one after another.
	body := rig.BookingRequest(trip, 1, models.MethodCreditCard, fmt.Sprintf("customer-%d@rihla.test", n))
	body.Contact.Phone = fmt.Sprintf("+9665%08d", n)

	var booking gen.Booking

	began := time.Now()

	err := b.customer.Post(ctx, "/api/v1/bookings", body, &booking)
	if err != nil {
		return err
	}

	booked := time.Since(began)

	if open, err := b.service.Gateway.Press(*booking.Payment.Reference, "succeed"); err != nil || !open {
		return fmt.Errorf("the checkout %s cannot be paid: %w", *booking.Payment.Reference, err)
	}

	var now gen.PaymentStatus

	err = b.customer.Get(ctx, "/api/v1/bookings/"+booking.ID.String()+"/payment-status?wait=30", &now)
	if err == nil && now.BookingStatus != models.BookingConfirmed {
		err = fmt.Errorf("booking %s is %s", booking.ID, now.BookingStatus)
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	b.booked, b.paid = append(b.booked, booked), append(b.paid, time.Since(began)-booked)

	id := models.PaymentWorkflowID(booking.Payment.TransactionID)
	b.last.Store(&id)

	return err
}

// workflowCost tells how many events and tasks the last payment's workflow has.
func (b *paymentsBench) workflowCost(ctx context.Context, out io.Writer) error {
	var events, tasks int

	it := b.temporal.GetWorkflowHistory(ctx, *b.last.Load(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			return err
		}

		events++

		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks++
		}
	}

	_, err := fmt.Fprintf(out, "\nA payment's workflow: %d history events, %d workflow tasks.\n", events, tasks)

	return err
}

// medians prints the median of every column: a machine that others use, too, is disturbed in one round and not in another.
func (b *paymentsBench) medians(out io.Writer) {
	b.printReference(out, "median, reference", medianRound(b.references))
	b.line(out, "median", medianRound(b.results))
}

func medianRound(all []paymentsRound) (m paymentsRound) {
	m.ratio = medianBy(all, func(r paymentsRound) float64 { return r.ratio })
	m.wall = medianBy(all, func(r paymentsRound) time.Duration { return r.wall })
	m.booked = medianBy(all, func(r paymentsRound) time.Duration { return r.booked })
	m.paid = medianBy(all, func(r paymentsRound) time.Duration { return r.paid })
	m.took = make([]time.Duration, len(all[0].took))

	for i := range m.took {
		m.took[i] = medianBy(all, func(r paymentsRound) time.Duration { return r.took[i] })
	}

	m.cost.cpu = map[string]time.Duration{}
	for part := range all[0].cost.cpu {
		m.cost.cpu[part] = medianBy(all, func(r paymentsRound) time.Duration { return r.cost.cpu[part] })
	}

	m.cost.statements = medianBy(all, func(r paymentsRound) int64 { return r.cost.statements })
	m.cost.transactions = medianBy(all, func(r paymentsRound) int64 { return r.cost.transactions })
	m.cost.flushes = medianBy(all, func(r paymentsRound) int64 { return r.cost.flushes })
	m.cost.wal = medianBy(all, func(r paymentsRound) int64 { return r.cost.wal })

	return m
}

// medianBy is the median of what of says about each.
func medianBy[R any, V cmp.Ordered](all []R, of func(R) V) V {
	values := make([]V, len(all))
	for i, one := range all {
		values[i] = of(one)
	}

	slices.Sort(values)

	return values[len(values)/2]
}

func (b *paymentsBench) line(out io.Writer, name string, r paymentsRound) {
	n := float64(len(r.took))
	each := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000/n) }
	all := []string{partTemporal, partWorker, partAPI, partPostgres}

	cells := slices.Grow([]string{
		name, fmt.Sprintf("%.1f", r.rate()), fmt.Sprintf("%.2f", r.ratio), ms(r.at(0.5)), ms(r.at(0.95)), ms(r.booked), ms(r.paid),
		each(r.cost.total(all...)),
	}, len(all)+4) //nolint:mnd // three counts and the log
	for _, part := range all {
		cells = append(cells, each(r.cost.cpu[part]))
	}

	for _, count := range []int64{r.cost.statements, r.cost.transactions, r.cost.flushes} {
		cells = append(cells, fmt.Sprintf("%.1f", float64(count)/n))
	}

	cells = append(cells, fmt.Sprintf("%.1f", float64(r.cost.wal)/1000/n))
	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}

func (b *paymentsBench) printReference(out io.Writer, name string, r paymentsRound) {
	n := float64(len(r.took))
	each := func(parts ...string) string {
		return fmt.Sprintf("%.1f", float64(r.cost.total(parts...).Microseconds())/1000/n)
	}

	fmt.Fprintf(out, "| %s | %.1f | 1.00 | %s | %s | – | – | %s | %s | %s | – | – | – | – | – | – |\n", name, r.rate(),
		ms(r.at(0.5)), ms(r.at(0.95)), each(partTemporal, partWorker), each(partTemporal), each(partWorker))
}

// ms is a time in milliseconds.
func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
