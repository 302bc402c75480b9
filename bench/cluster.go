package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"rihla/api/gen"
	"rihla/chaos/env"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/models"
)

func newCluster() *cobra.Command {
	var (
		payments, parallel, rounds int
		stay                       bool
	)

	c := &cobra.Command{
		Use:   "cluster",
		Short: "Run the service as it is deployed: a Temporal cluster on PostgreSQL, two API and two worker processes",
		Long: "Start PostgreSQL, a Temporal cluster of two nodes on it, the sandbox gateway, two API and two worker processes, show\n" +
			"their health, take one payment from the seat to the confirmed booking, then as many as asked for, in turn with one\n" +
			"and with two processes of each, and print how many a second that were and what each costs. The first run builds\n" +
			"Temporal's server, about 7 minutes on 2 cores.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCluster(cmd.Context(), cmd.OutOrStdout(), payments, parallel, rounds, stay)
		},
	}
	c.Flags().IntVar(&payments, "payments", 200, "payments per round")
	c.Flags().IntVar(&rounds, "rounds", 3, "rounds with each number of processes; the median counts")
	c.Flags().IntVar(&parallel, "parallel", 16, "payments under way at once")
	c.Flags().BoolVar(&stay, "stay", false, "go on running until Ctrl-C")

	return c
}

func runCluster(ctx context.Context, out io.Writer, payments, parallel, rounds int, stay bool) (err error) {
	began := time.Now()

	binary, err := rig.Build(ctx, "rihla-bench")
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "rihla-cluster-")
	if err != nil {
		return err
	}

	// The account that PostgreSQL runs as has to reach its data.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // no more than it needs
		return err
	}

	h, err := env.Build(ctx, env.Options{
		Dir: dir, Binary: binary, BinDir: filepath.Dir(binary), Cluster: true, Hold: 30 * time.Minute,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}

	defer func() { err = errors.Join(err, h.Close(), h.Remove(context.Background())) }()

	fmt.Fprintf(out, "Everything runs after %.0f s.\n\n", time.Since(began).Seconds())
	showHealth(ctx, out, h)

	b := &clusterBench{environment: h, processes: schedule.APIs}
	if err := b.smoke(ctx, out); err != nil {
		return err
	}

	if err := b.compare(ctx, out, payments, parallel, rounds); err != nil {
		return err
	}

	if text, err := h.Audit(ctx); err != nil {
		return fmt.Errorf("the audit: %w\n%s", err, text)
	} else if _, err := fmt.Fprintf(out, "  audit: %s\n", strings.TrimSpace(text)); err != nil {
		return err
	}

	if stay {
		fmt.Fprintf(out, "\nAPI %s and %s, data in %s. Ctrl-C ends it.\n", h.API(0), h.API(1), h.Dir)
		<-ctx.Done()
	}

	return nil
}

func showHealth(ctx context.Context, out io.Writer, h *env.Environment) {
	for _, line := range h.Cluster.Health() {
		fmt.Fprintln(out, "  "+line)
	}

	for _, line := range h.Health(ctx) {
		fmt.Fprintln(out, "  "+line)
	}

	fmt.Fprintln(out)
}

// clusterBench takes payments through both API processes, as customers do.
type clusterBench struct {
	environment *env.Environment
	token       string
	trips       []uuid.UUID
	processes   int // of API and worker each, that run

	mu   sync.Mutex
	next int
}

func (b *clusterBench) smoke(ctx context.Context, out io.Writer) error {
	admin, err := rig.Client{URL: b.environment.API(0)}.LogIn(ctx, "admin@rihla.test", env.Password)
	if err != nil {
		return err
	}

	b.token = admin.Token

	took, err := b.pay(ctx)
	if err != nil {
		return fmt.Errorf("smoke payment: %w", err)
	}

	fmt.Fprintf(out, "A payment from the seat to the confirmed booking: %d ms.\n", took.Milliseconds())

	return nil
}

// pay books a seat, pays at the gateway and polls until the booking is confirmed.
func (b *clusterBench) pay(ctx context.Context) (time.Duration, error) {
	n, trip, err := b.seat(ctx)
	if err != nil {
		return 0, err
	}

	began := time.Now()

	booking, err := b.book(ctx, n, trip)
	if err == nil {
		err = b.settle(ctx, n, booking)
	}

	return time.Since(began), err
}

// book takes a seat, whose payment is open then.
func (b *clusterBench) book(ctx context.Context, n int, trip uuid.UUID) (booking gen.Booking, err error) {
	err = b.api(n).Post(ctx, "/api/v1/bookings", rig.BookingRequest(trip, 1, models.MethodCreditCard, "customer@rihla.test"), &booking)

	return booking, err
}

// settle pays at the gateway and polls until the booking is confirmed.
func (b *clusterBench) settle(ctx context.Context, n int, booking gen.Booking) error {
	if open, err := b.environment.Gateway.Press(*booking.Payment.Reference, "succeed"); err != nil || !open {
		return fmt.Errorf("the checkout %s cannot be paid: %w", *booking.Payment.Reference, err)
	}

	var now gen.PaymentStatus

	err := b.api(n+1).Get(ctx, "/api/v1/bookings/"+booking.ID.String()+"/payment-status?wait=30", &now)
	if err == nil && now.BookingStatus != models.BookingConfirmed {
		err = fmt.Errorf("booking %s is %s", booking.ID, now.BookingStatus)
	}

	return err
}

// clusterSeats is what a bus of the development data has room for, and less than its capacity.
const clusterSeats = 40

// seat is one on a trip that has room; every so many a new trip is put on sale.
func (b *clusterBench) seat(ctx context.Context) (n int, trip uuid.UUID, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	n = b.next
	b.next++

	if n/clusterSeats < len(b.trips) {
		return n, b.trips[n/clusterSeats], nil
	}

	var buses []gen.Bus
	if err := b.api(0).Get(ctx, "/api/v1/provider/buses", &buses); err != nil {
		return n, trip, err
	}

	leaves := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, 30)

	var made gen.Trip

	err = b.api(0).Post(ctx, "/api/v1/provider/trips?provider_id="+buses[0].ProviderID.String(),
		rig.TripRequest("Measured", buses[0].ID, leaves, models.Halalas(57500), clusterSeats), &made)
	if err == nil {
		err = b.api(0).Post(ctx, "/api/v1/trips/"+made.ID.String()+"/publish", nil, nil)
	}

	b.trips = append(b.trips, made.ID)

	return n, made.ID, err
}

// api is one of the API processes that run, as the admin sees it.
func (b *clusterBench) api(n int) rig.Client {
	return rig.Client{URL: b.environment.API(n % b.processes), Token: b.token}
}
