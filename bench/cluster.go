package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rihla/chaos/house"
	"rihla/internal/devstack"
	"rihla/models"
)

func newCluster() *cobra.Command {
	var (
		payments, parallel int
		stay               bool
	)

	c := &cobra.Command{
		Use:   "cluster",
		Short: "Run the service as it is deployed: a Temporal cluster on PostgreSQL, two API and two worker processes",
		Long: "Start PostgreSQL, a Temporal cluster of two nodes on it, the sandbox gateway, two API and two worker processes, show\n" +
			"their health, take one payment from the seat to the confirmed booking, then as many as asked for, and print how many\n" +
			"a second that were. The first run builds Temporal's server, about 7 minutes on 2 cores.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCluster(cmd.Context(), cmd.OutOrStdout(), payments, parallel, stay)
		},
	}
	c.Flags().IntVar(&payments, "payments", 200, "payments to measure")
	c.Flags().IntVar(&parallel, "parallel", 16, "payments under way at once")
	c.Flags().BoolVar(&stay, "stay", false, "go on running until Ctrl-C")

	return c
}

func runCluster(ctx context.Context, out io.Writer, payments, parallel int, stay bool) (err error) {
	began := time.Now()

	root, err := devstack.ModuleRoot()
	if err != nil {
		return err
	}

	binDir := filepath.Join(root, devstack.DefaultDataDir, "bin")
	binary := filepath.Join(binDir, "rihla-bench")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".") //nolint:gosec // our own module
	build.Dir = root

	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the service: %w\n%s", err, text)
	}

	dir, err := os.MkdirTemp("", "rihla-cluster-")
	if err != nil {
		return err
	}

	// The account that PostgreSQL runs as has to reach its data.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // no more than it needs
		return err
	}

	h, err := house.Build(ctx, house.Options{
		Dir: dir, Binary: binary, BinDir: binDir, Cluster: true, Hold: 30 * time.Minute,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}

	defer func() { err = errors.Join(err, h.Close(), h.Remove(context.Background())) }()

	fmt.Fprintf(out, "Everything runs after %.0f s.\n\n", time.Since(began).Seconds())
	showHealth(ctx, out, h)

	b := &clusterBench{house: h}
	if err := b.smoke(ctx, out); err != nil {
		return err
	}

	if err := b.measure(ctx, out, payments, parallel); err != nil {
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

func showHealth(ctx context.Context, out io.Writer, h *house.House) {
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
	house *house.House
	token string
	trips []uuid.UUID

	mu   sync.Mutex
	next int
}

func (b *clusterBench) smoke(ctx context.Context, out io.Writer) error {
	var tokens struct {
		Access string `json:"access_token"`
	}

	err := b.call(ctx, http.MethodPost, 0, "/api/v1/auth/login",
		map[string]string{"email": "admin@rihla.test", "password": house.Password}, &tokens)
	if err != nil {
		return err
	}

	b.token = tokens.Access

	took, err := b.pay(ctx)
	if err != nil {
		return fmt.Errorf("smoke payment: %w", err)
	}

	fmt.Fprintf(out, "A payment from the seat to the confirmed booking: %d ms.\n", took.Milliseconds())

	return nil
}

func (b *clusterBench) measure(ctx context.Context, out io.Writer, payments, parallel int) error {
	var (
		group errgroup.Group
		mu    sync.Mutex
		took  []time.Duration
	)

	group.SetLimit(parallel)

	began := time.Now()

	for range payments {
		group.Go(func() error {
			d, err := b.pay(ctx)

			mu.Lock()
			defer mu.Unlock()

			took = append(took, d)

			return err
		})
	}

	if err := group.Wait(); err != nil || len(took) == 0 {
		return err
	}

	rate := float64(payments) / time.Since(began).Seconds()

	slices.Sort(took)
	fmt.Fprintf(out, "%d payments, %d at once: %.1f a second; from the seat to the confirmed booking %d ms (median), %d ms (95 %%).\n",
		payments, parallel, rate, took[len(took)/2].Milliseconds(), took[len(took)*95/100].Milliseconds())

	return nil
}

// pay books a seat, pays at the gateway and polls until the booking is confirmed.
func (b *clusterBench) pay(ctx context.Context) (time.Duration, error) {
	n, trip, err := b.seat(ctx)
	if err != nil {
		return 0, err
	}

	var booking struct {
		ID      uuid.UUID `json:"id"`
		Payment struct {
			Reference string `json:"reference"`
		} `json:"payment"`
	}

	began := time.Now()

	err = b.call(ctx, http.MethodPost, n, "/api/v1/bookings", map[string]any{
		"trip_id": trip, "passengers": []map[string]string{{"name": "Passenger"}}, "payment_method": models.MethodCreditCard,
		"contact": map[string]string{"name": "Customer", "email": "customer@rihla.test", "phone": "+966500000001"},
	}, &booking)
	if err != nil {
		return 0, err
	}

	if open, err := b.house.Gateway.Press(booking.Payment.Reference, "succeed"); err != nil || !open {
		return 0, fmt.Errorf("the checkout %q cannot be paid: %w", booking.Payment.Reference, err)
	}

	var now struct {
		Status models.BookingStatus `json:"booking_status"`
	}

	err = b.call(ctx, http.MethodGet, n+1, "/api/v1/bookings/"+booking.ID.String()+"/payment-status?wait=30", nil, &now)
	if err == nil && now.Status != models.BookingConfirmed {
		err = fmt.Errorf("booking %s is %s", booking.ID, now.Status)
	}

	return time.Since(began), err
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

	var buses []struct {
		ID         uuid.UUID `json:"id"`
		ProviderID uuid.UUID `json:"provider_id"`
	}

	if err := b.call(ctx, http.MethodGet, 0, "/api/v1/provider/buses", nil, &buses); err != nil {
		return n, trip, err
	}

	leaves := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, 30)

	var made struct {
		ID uuid.UUID `json:"id"`
	}

	err = b.call(ctx, http.MethodPost, 0, "/api/v1/provider/trips?provider_id="+buses[0].ProviderID.String(), map[string]any{
		"type": models.TripUmrah, "title": "Measured", "origin": "Riyadh", "destination": "Makkah", "departure_at": leaves,
		"return_at": leaves.AddDate(0, 0, 3), "bus_id": buses[0].ID, "price_per_seat": models.Halalas(57500), "capacity": clusterSeats,
	}, &made)
	if err == nil {
		err = b.call(ctx, http.MethodPost, 0, "/api/v1/trips/"+made.ID.String()+"/publish", nil, nil)
	}

	b.trips = append(b.trips, made.ID)

	return n, made.ID, err
}

var clusterHTTP = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// call sends one request to an API process and decodes the `data` of its answer.
func (b *clusterBench) call(ctx context.Context, method string, api int, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}

	if body == nil {
		text = nil
	}

	r, err := http.NewRequestWithContext(ctx, method, b.house.API(api)+path, bytes.NewReader(text))
	if err != nil {
		return err
	}

	r.Header.Set("Authorization", "Bearer "+b.token)

	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}

	a, err := clusterHTTP.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()

	answer, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode >= http.StatusMultipleChoices {
		return errors.Join(err, fmt.Errorf("%s %s: %s: %s", method, path, a.Status, answer))
	}

	if into == nil {
		return nil
	}

	return json.Unmarshal(answer, &struct {
		Data any `json:"data"`
	}{into})
}
