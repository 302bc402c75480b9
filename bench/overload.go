package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rihla/api/gen"
	"rihla/internal/rig"
	"rihla/models"
)

func newOverload() *cobra.Command {
	b := &overloadBench{}

	c := &cobra.Command{
		Use:   "overload",
		Short: "Measure payments at several times the load, with and without the limit on what is started at once",
		Long: "Take payments over HTTP by few clients (the best rate), then by many, with ADMISSION_TARGET and with 0, in turn. A client that\n" +
			"is answered 503 waits as long as Retry-After says and tries again. With --rate clients arrive at that rate instead, whatever\n" +
			"the answers.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntVar(&b.few, "few", 16, "clients that get the best rate")
	c.Flags().IntVar(&b.many, "clients", 64, "clients of an overload")
	c.Flags().DurationVar(&b.time, "time", 10*time.Second, "of each round")
	c.Flags().IntVar(&b.rounds, "rounds", 1, "rounds of each kind")
	c.Flags().StringVar(&b.target, "target", "1s", "ADMISSION_TARGET of the rounds with a limit")
	c.Flags().Float64Var(&b.rate, "rate", 0, "arrivals a second, instead of --clients that wait for their answers")

	return c
}

// overloadBench takes payments as long as a round lasts.
type overloadBench struct {
	*stage

	few, many, rounds int
	time              time.Duration
	target            string
	rate              float64

	next atomic.Int64
}

// overloadRound is what the clients of a round saw.
type overloadRound struct {
	mu       sync.Mutex
	paid     int
	wall     time.Duration
	answered []time.Duration // bookings that were taken
	refused  []time.Duration // at once: 503 of the limit
	undone   []time.Duration // 503 of a booking that no worker has taken
	other    int             // anything else but success: 502, a payment that was not confirmed in time
	cost     cost
}

// atOnce is after how long a 503 is no refusal of the limit any more, but of a payment that was begun.
const atOnce = time.Second

// seatsPerSecond bounds how many bookings a round can need.
const seatsPerSecond = 150

func (b *overloadBench) run(ctx context.Context, out io.Writer) (err error) {
	seats := int(b.time.Seconds()*seatsPerSecond) * (1 + 3*b.rounds) //nolint:mnd // warming up, and three kinds
	if b.stage, err = newStage(ctx, max(seats, seatsPerSecond), nil); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, b.close()) }()

	fmt.Fprintf(out, "Rounds of %s; times in ms, CPU in ms for each payment\n\n%s", b.time, overloadHead)

	if _, err := b.measure(ctx, b.few, 0); err != nil { // connections and plans
		return err
	}

	best := 0.0

	for range b.rounds {
		for _, kind := range []struct {
			name, target string
			clients      int
			rate         float64
		}{
			{strconv.Itoa(b.few) + " clients", b.target, b.few, 0},
			{b.manyName() + ", no limit", "0", b.many, b.rate},
			{b.manyName(), b.target, b.many, b.rate},
		} {
			if err := b.restart(ctx, kind.target); err != nil {
				return err
			}

			r, err := b.measure(ctx, kind.clients, kind.rate)
			if err != nil {
				return err
			}

			if best == 0 {
				best = r.goodput()
			}

			r.line(out, kind.name, best)
		}
	}

	return b.audit(ctx, out)
}

func (b *overloadBench) manyName() string {
	if b.rate > 0 {
		return strconv.FormatFloat(b.rate, 'g', -1, 64) + " a second"
	}

	return strconv.Itoa(b.many) + " clients"
}

// restart starts the API anew with another target.
func (b *overloadBench) restart(ctx context.Context, target string) error {
	api := b.service.APIs[0]
	api.Kill()
	api.Setenv("ADMISSION_TARGET", target)

	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	if err := api.Start(); err != nil {
		return err
	}

	return api.Await(ctx)
}

// measure has clients pay until the time is over, and waits for those that have begun.
func (b *overloadBench) measure(ctx context.Context, clients int, rate float64) (*overloadRound, error) {
	r := &overloadRound{}

	before, err := b.cost(ctx)
	if err != nil {
		return r, err
	}

	began := time.Now()
	until, cancel := context.WithDeadline(ctx, began.Add(b.time))
	defer cancel()

	if rate > 0 {
		err = b.openLoop(ctx, until, r, rate)
	} else {
		group, ctx := errgroup.WithContext(ctx)

		for range clients {
			group.Go(func() error {
				for until.Err() == nil {
					if err := b.pay(ctx, until, r); err != nil {
						return err
					}
				}

				return nil
			})
		}

		err = group.Wait()
	}

	if err != nil {
		return r, err
	}

	r.wall = time.Since(began)
	after, err := b.cost(ctx)
	r.cost = after.since(before)

	return r, err
}

// openLoop has clients arrive at a rate.
func (b *overloadBench) openLoop(ctx, until context.Context, r *overloadRound, rate float64) error {
	group, ctx := errgroup.WithContext(ctx)
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))

	defer tick.Stop()

	for {
		select {
		case <-until.Done():
			return group.Wait()
		case <-tick.C:
			group.Go(func() error { return b.pay(ctx, until, r) })
		}
	}
}

// pay has one customer book and pay. A refused booking is tried again with the same key, until the time is over.
func (b *overloadBench) pay(ctx, until context.Context, r *overloadRound) error {
	trip := b.trips[int(b.next.Add(1))%len(b.trips)]
	body := rig.BookingRequest(trip, 1, models.MethodCreditCard, "customer@rihla.test")
	key := map[string]string{"Idempotency-Key": uuid.NewString()}

	for until.Err() == nil {
		began := time.Now()

		a, err := b.customer.Do(ctx, http.MethodPost, "/api/v1/bookings", body, key)
		if err != nil {
			return err
		}

		if r.count(a, time.Since(began)) {
			return b.confirm(ctx, a, r)
		}

		if err := waitAsTold(until, a); err != nil {
			return err
		}
	}

	return nil
}

// count notes the answer to a booking and reports whether it was made.
func (r *overloadRound) count(a rig.Answer, took time.Duration) (made bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	switch {
	case a.Status == http.StatusCreated:
		r.answered = append(r.answered, took)

		return true
	case a.Status == http.StatusServiceUnavailable && took < atOnce:
		r.refused = append(r.refused, took)
	case a.Status == http.StatusServiceUnavailable:
		r.undone = append(r.undone, took)
	default:
		r.other++
	}

	return false
}

// waitAsTold waits for as long as Retry-After says, or until the time is over.
func waitAsTold(until context.Context, a rig.Answer) error {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		return fmt.Errorf("%d without Retry-After: %s", a.Status, a.Body)
	}

	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-until.Done():
	}

	return nil
}

// confirm pays a booking at the gateway and waits until it is confirmed. One without a checkout is not paid.
func (b *overloadBench) confirm(ctx context.Context, a rig.Answer, r *overloadRound) error {
	var booking gen.Booking
	if err := a.Data(&booking); err != nil {
		return err
	}

	confirmed := false

	if booking.Payment.Reference != nil && booking.Payment.CheckoutURL != nil {
		if open, err := b.service.Gateway.Press(*booking.Payment.Reference, "succeed"); err != nil || !open {
			return fmt.Errorf("the checkout %s cannot be paid: %w", *booking.Payment.Reference, err)
		}

		var now gen.PaymentStatus
		if err := b.customer.Get(ctx, "/api/v1/bookings/"+booking.ID.String()+"/payment-status?wait=30", &now); err != nil {
			return err
		}

		confirmed = now.BookingStatus == models.BookingConfirmed
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if confirmed {
		r.paid++
	} else {
		r.other++
	}

	return nil
}

func (r *overloadRound) goodput() float64 { return float64(r.paid) / r.wall.Seconds() }

const overloadHead = "| load | paid a second | of the best | booked: median | 95 % | longest | refused | 95 % | longest |" +
	" undone after waiting | other | CPU | Temporal | worker | API | PostgreSQL |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

func (r *overloadRound) line(out io.Writer, name string, best float64) {
	slices.Sort(r.answered)
	slices.Sort(r.refused)

	booked, refused := load{took: r.answered}, load{took: r.refused}
	ratio := 0.0

	if best > 0 {
		ratio = r.goodput() / best
	}

	fmt.Fprintf(out, "| %s | %.1f | %.2f | %s | %s | %s | %d | %s | %s | %d | %d |", name, r.goodput(), ratio,
		ms(booked.at(0.5)), ms(booked.at(0.95)), ms(booked.at(1)), len(r.refused), ms(refused.at(0.95)), ms(refused.at(1)),
		len(r.undone), r.other)

	all := []string{partTemporal, partWorker, partAPI, partPostgres}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(max(1, r.paid)) }

	fmt.Fprintf(out, " %.1f |", each(r.cost.total(all...)))

	for _, part := range all {
		fmt.Fprintf(out, " %.1f |", each(r.cost.cpu[part]))
	}

	fmt.Fprintln(out)
}
