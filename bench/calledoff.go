package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"rihla/api/gen"
	"rihla/e2e/rig"
	"rihla/models"
)

func newCalledOff() *cobra.Command {
	b := &calledOffBench{}

	c := &cobra.Command{
		Use:   "calledoff",
		Short: "Measure new payments while all bookings of a day's trips are refunded, beside the same payments in peace",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntVar(&b.refunds, "refunds", 1000, "paid bookings that are refunded in each round, 100 of them to a trip")
	c.Flags().Float64Var(&b.rate, "rate", 10, "new payments a second")
	c.Flags().IntVar(&b.rounds, "rounds", 3, "rounds, each after one in peace of the same time")
	c.Flags().DurationVar(&b.peace, "peace", 20*time.Second, "of the first round in peace; the others take as long as the refunds did")
	c.Flags().Float64Var(&b.pace, "pace", 0, "bookings that are cancelled a second (TRIP_CANCELLATION_RATE); 0: the service's own")

	return c
}

// calledOffBench takes payments at a rate, with and without the refunds of trips that are called off.
type calledOffBench struct {
	*paymentsBench

	refunds int
	rate    float64
	rounds  int
	pace    float64
	peace   time.Duration
	admin   rig.Client
}

// calledOffRound is what new payments took, and how long the refunds did beside them.
type calledOffRound struct {
	load

	refunded time.Duration
	events   int // of the longest history of a run that called a trip off
}

const calledOffHead = "| round | new payments | median, ms | 95 % | 95 %, of peace | refunds | took, s | most events of a run |\n" +
	"|---|---|---|---|---|---|---|---|\n"

func (b *calledOffBench) run(ctx context.Context, out io.Writer) (err error) {
	env := map[string]string{"TRIP_CANCELLATION_APPROVAL_ABOVE": "0"}
	if b.pace > 0 {
		env["TRIP_CANCELLATION_RATE"] = strconv.FormatFloat(b.pace, 'f', -1, 64)
	}

	// The doomed trips come first; new payments are for trips of their own.
	each := (b.refunds + seatsPerTrip - 1) / seatsPerTrip
	doomed := b.rounds * each
	longest := b.peace + time.Duration(b.refunds)*time.Second // a round, and far more than one takes
	s, err := newStageWith(ctx, doomed*seatsPerTrip+2*b.rounds*int(b.rate*longest.Seconds()), stageOptions{
		env: env,
	})
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, s.close()) }()

	if b.admin, err = s.signIn(ctx, models.RoleAdmin); err != nil {
		return err
	}

	trips := s.trips
	b.paymentsBench = &paymentsBench{stage: s}

	s.trips = trips[:doomed]
	if _, err := closedLoop(ctx, 16, b.rounds*b.refunds, b.pay); err != nil { //nolint:mnd // as many as keep two cores busy
		return err
	}

	s.trips = trips[doomed:]

	fmt.Fprintf(out, "%.0f new payments a second; in each round %d paid bookings of %d trips are refunded; %d rounds\n\n%s",
		b.rate, b.refunds, each, b.rounds, calledOffHead)

	if err := b.measureAll(ctx, out, trips[:doomed]); err != nil {
		return err
	}

	return s.audit(ctx, out)
}

func (b *calledOffBench) measureAll(ctx context.Context, out io.Writer, doomed []uuid.UUID) error {
	var peace, beside []calledOffRound

	took, each := b.peace, len(doomed)/b.rounds

	for i := range b.rounds {
		calm, err := b.payFor(ctx, func(ctx context.Context) error { return sleep(ctx, took) })
		if err != nil {
			return err
		}

		busy, err := b.payFor(ctx, func(ctx context.Context) error { return b.callOff(ctx, doomed[i*each:(i+1)*each]) })
		if err != nil {
			return err
		}

		if busy.events, err = b.longestRun(ctx, doomed[i*each:(i+1)*each]); err != nil {
			return err
		}

		took = busy.refunded
		peace, beside = append(peace, calm), append(beside, busy)
		calm.line(out, fmt.Sprintf("%d, in peace", i+1), 0, calm)
		busy.line(out, strconv.Itoa(i+1), b.refunds, calm)
	}

	medianOf := func(all []calledOffRound) calledOffRound {
		return slices.SortedFunc(slices.Values(all), func(a, b calledOffRound) int { return int(a.at(tail) - b.at(tail)) })[len(all)/2]
	}
	calm, busy := medianOf(peace), medianOf(beside)
	calm.line(out, "median, in peace", 0, calm)
	busy.line(out, "median", b.refunds, calm)

	return nil
}

const half, tail = 0.5, 0.95

func (r calledOffRound) line(out io.Writer, name string, refunds int, peace calledOffRound) {
	fmt.Fprintf(out, "| %s | %d | %s | %s | %.2f | %d | %.1f | %d |\n", name, len(r.took), ms(r.at(half)), ms(r.at(tail)),
		float64(r.at(tail))/float64(peace.at(tail)), refunds, r.refunded.Seconds(), r.events)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// payFor has customers come at the rate while something is done, however long their payments take.
func (b *calledOffBench) payFor(ctx context.Context, do func(context.Context) error) (r calledOffRound, err error) {
	var mu sync.Mutex

	group, ctx := errgroup.WithContext(ctx)
	busy, done := context.WithCancel(ctx)

	defer done()

	group.Go(func() error {
		defer done()

		began := time.Now()
		err := do(ctx)
		r.refunded = time.Since(began)

		return err
	})

	pace := rate.NewLimiter(rate.Limit(b.rate), 1)

	for pace.Wait(busy) == nil {
		group.Go(func() error {
			began := time.Now()
			if err := b.pay(ctx); err != nil {
				return err
			}

			mu.Lock()
			defer mu.Unlock()

			r.took = append(r.took, time.Since(began))

			return nil
		})
	}

	err = group.Wait()
	slices.Sort(r.took)

	return r, err
}

// callOff has trips called off, all at once, and waits until every refund has succeeded.
func (b *calledOffBench) callOff(ctx context.Context, trips []uuid.UUID) error {
	group, ctx := errgroup.WithContext(ctx)

	for _, trip := range trips {
		group.Go(func() error { return b.callOneOff(ctx, trip) })
	}

	return group.Wait()
}

func (b *calledOffBench) callOneOff(ctx context.Context, trip uuid.UUID) error {
	var preview gen.TripCancellationPreview

	path := "/api/v1/provider/trips/" + trip.String()
	if err := b.admin.Get(ctx, path+"/cancel-preview", &preview); err != nil {
		return err
	}

	var c gen.TripCancellation

	order := gen.CancelTripRequest{Reason: "The bus broke down", ExpectedRefundTotal: preview.RefundTotal}
	if err := b.admin.Post(ctx, path+"/cancel", order, &c); err != nil {
		return err
	}

	for c.Status == models.TripCancellationRunning || c.RefundsPending > 0 {
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}

		if err := b.admin.Get(ctx, path+"/cancellation", &c); err != nil {
			return err
		}
	}

	if c.RefundsSucceeded != preview.Bookings || preview.Bookings == 0 {
		return fmt.Errorf("trip %s: %d bookings, %d refunds succeeded", trip, preview.Bookings, c.RefundsSucceeded)
	}

	return nil
}

// longestRun is how many events the longest run has that called one of the trips off.
func (b *calledOffBench) longestRun(ctx context.Context, trips []uuid.UUID) (most int, err error) {
	for _, trip := range trips {
		d, err := b.temporal.DescribeWorkflow(ctx, models.TripCancellationWorkflowID(trip), "")
		if err != nil {
			return most, err
		}

		most = max(most, d.HistoryLength)
	}

	return most, nil
}
