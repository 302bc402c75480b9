package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// spreadOver is over how many trips the reference spreads its bookings.
const spreadOver = 64

func newTrip() *cobra.Command {
	var (
		b       tripBench
		callers []int
	)

	c := &cobra.Command{
		Use:   "trip",
		Short: "Measure bookings of one trip, through the store alone, beside as many spread over 64 trips",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := b.open(cmd.Context(), slices.Max(callers)); err != nil {
				return errors.Join(err, b.close())
			}

			defer func() { err = errors.Join(err, b.close()) }()

			return b.compare(cmd.Context(), cmd.OutOrStdout(), callers)
		},
	}
	c.Flags().IntVar(&b.bookings, "bookings", 2000, "bookings per round")
	c.Flags().IntVar(&b.rounds, "rounds", 5, "rounds of each way, in turn; the median counts")
	c.Flags().IntSliceVar(&callers, "callers", []int{16, 64}, "callers at once, each with a connection")

	return c
}

// tripBench is a private PostgreSQL that waits for its disk, and the store on it. Every booking is of an account and a phone of its
// own, under the limits of a deployment.
type tripBench struct {
	bookings, rounds int

	dir      string
	postgres *devstack.Postgres
	store    *store.Store
	db       *sql.DB
	users    []uuid.UUID
	next     atomic.Int64 // user
	made     int
}

func (b *tripBench) open(ctx context.Context, conns int) (err error) {
	if b.dir, err = os.MkdirTemp("", "rihla-bench"); err != nil {
		return err
	}

	b.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{
		DataDir: b.dir, BinDir: devstack.DefaultDataDir + "/bin", Database: "rihla",
	})
	if err != nil {
		return err
	}

	policies := models.DefaultPolicies()
	policies.UnpaidBookings, policies.UnpaidSeats, policies.UnpaidAttempts = 5, 20, 60 //nolint:mnd // as configured by default

	if b.store, err = store.Open(ctx, b.postgres.URL(), policies, db.Options{MaxConns: conns}); err != nil {
		return err
	}

	if _, err = b.store.DB.Migrate(ctx); err != nil {
		return err
	}

	if b.db, err = sql.Open("pgx", b.postgres.URL()); err != nil {
		return err
	}

	// A trip has up to 100 seats; one that sells out within a tenth of a second could not be measured.
	_, err = b.db.ExecContext(ctx, "ALTER TABLE trips DROP CONSTRAINT trips_capacity_check")

	return err
}

func (b *tripBench) compare(ctx context.Context, out io.Writer, callers []int) error {
	fmt.Fprintf(out, "%d bookings of one seat per round, %d rounds of each, in turn; a second\n\n", b.bookings, b.rounds)
	fmt.Fprintf(out, "| callers | of one trip | 95 %%, ms | spread over %d trips | 95 %%, ms | ratio | PostgreSQL's CPU, ms | spread |\n",
		spreadOver)
	fmt.Fprint(out, "|---|---|---|---|---|---|---|---|\n")

	for _, n := range callers {
		// The first bookings make connections and plans.
		if err := b.warm(ctx, n); err != nil {
			return err
		}

		var one, spread, ratios []tripRound

		for range b.rounds {
			o, err := b.round(ctx, n, 1)
			if err != nil {
				return err
			}

			s, err := b.round(ctx, n, spreadOver)
			if err != nil {
				return err
			}

			one, spread, ratios = append(one, o), append(spread, s), append(ratios, tripRound{ratio: o.rate() / s.rate()})
		}

		late := func(r tripRound) float64 { return float64(r.at(0.95).Microseconds()) / 1000 } //nolint:mnd // the 95th percentile
		cpu := func(r tripRound) float64 { return float64(r.cpu.Microseconds()) / 1000 / float64(len(r.took)) }

		fmt.Fprintf(out, "| %d | %.0f | %.1f | %.0f | %.1f | %.2f | %.2f | %.2f |\n", n,
			medianBy(one, tripRound.rate), medianBy(one, late), medianBy(spread, tripRound.rate), medianBy(spread, late),
			medianBy(ratios, func(r tripRound) float64 { return r.ratio }), medianBy(one, cpu), medianBy(spread, cpu))
	}

	return b.check(ctx, out)
}

type tripRound struct {
	load

	cpu   time.Duration // PostgreSQL's
	ratio float64
}

func (r tripRound) rate() float64 { return r.load.rate() }

func (b *tripBench) warm(ctx context.Context, callers int) error {
	_, err := b.bookingsOf(ctx, callers, 4*callers, spreadOver)

	return err
}

// round makes the bookings of so many trips, one after the other in turn, and has PostgreSQL's files written before: a checkpoint in
// one round and not in another would be measured else.
func (b *tripBench) round(ctx context.Context, callers, trips int) (tripRound, error) {
	if _, err := b.db.ExecContext(ctx, "CHECKPOINT"); err != nil {
		return tripRound{}, err
	}

	return b.bookingsOf(ctx, callers, b.bookings, trips)
}

func (b *tripBench) bookingsOf(ctx context.Context, callers, n, trips int) (r tripRound, err error) {
	sold := &bench{store: b.store}
	if err := sold.seed(ctx, trips*seatsPerTrip-1); err != nil {
		return r, err
	}

	if err := b.prepare(ctx, sold.trips, n); err != nil {
		return r, err
	}

	before, err := cpuOf(b.postgres.PID(), true)
	if err != nil {
		return r, err
	}

	var turn atomic.Int64

	r.load, err = closedLoop(ctx, callers, n, func(ctx context.Context) error {
		return b.book(ctx, sold.trips[int(turn.Add(1))%len(sold.trips)])
	})
	if err != nil {
		return r, err
	}

	after, err := cpuOf(b.postgres.PID(), true)
	r.cpu, b.made = after-before, b.made+n

	return r, err
}

// prepare has the trips hold as many as are going to be booked, and makes as many accounts.
func (b *tripBench) prepare(ctx context.Context, trips []uuid.UUID, n int) error {
	for _, trip := range trips {
		if _, err := b.db.ExecContext(ctx, "UPDATE trips SET capacity = $1 WHERE id = $2", n, trip); err != nil {
			return err
		}
	}

	rows, err := b.db.QueryContext(ctx, `INSERT INTO users (id, name, email, password_hash, role)
		SELECT id, 'Customer', id || '@bench.rihla.test', 'none', 'END_USER' FROM (
			SELECT gen_random_uuid() AS id FROM generate_series(1, $1)) AS n
		RETURNING id`, n)
	if err != nil {
		return err
	}
	defer rows.Close()

	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return err
		}

		b.users = append(b.users, id)
	}

	return rows.Err()
}

func (b *tripBench) book(ctx context.Context, trip uuid.UUID) error {
	n := int(b.next.Add(1)) - 1

	_, err := b.store.Bookings.CreateBooking(ctx, bookings.NewBooking{
		UserID: b.users[n], TripID: trip, Passengers: []models.Passenger{{Name: "Passenger"}},
		ContactName: "Customer", ContactEmail: "customer@rihla.test", ContactPhone: fmt.Sprintf("+9665%08d", n),
		Locale: models.LocaleEnglish, Method: models.MethodCreditCard,
	}, time.Now())

	return err
}

// check holds what the trips have sold against the bookings.
func (b *tripBench) check(ctx context.Context, out io.Writer) error {
	var booked, wrong int

	err := b.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM bookings), count(*) FROM trips AS t WHERE t.seats_taken <> (
		SELECT coalesce(sum(bk.seats), 0) FROM bookings AS bk WHERE bk.trip_id = t.id AND bk.seats_held)`).Scan(&booked, &wrong)
	if err != nil {
		return err
	}

	if booked != b.made || wrong > 0 {
		return fmt.Errorf("%d bookings of %d were made, and %d trips have sold another number of seats", booked, b.made, wrong)
	}

	_, err = fmt.Fprintf(out, "\n%d bookings; every trip has sold the seats of its bookings.\n", booked)

	return err
}

func (b *tripBench) close() error {
	var errs []error

	if b.db != nil {
		errs = append(errs, b.db.Close())
	}

	if b.store != nil {
		errs = append(errs, b.store.Close())
	}

	if b.postgres != nil {
		errs = append(errs, b.postgres.Stop(context.Background()))
	}

	if b.dir != "" {
		errs = append(errs, os.RemoveAll(b.dir))
	}

	return errors.Join(errs...)
}
