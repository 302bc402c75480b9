package activities_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways/fake"
	"rihla/internal/store/db"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// owners records what the sweep hands over, and refuses it when it is down.
type owners struct {
	mu        sync.Mutex
	down      error
	delivered []models.Delivery
	asked     []uuid.UUID
	resumed   []models.Refund
	polled    []models.Channel
	campaigns []uuid.UUID
	requests  []uuid.UUID
	woken     int
	shown     []models.ShownIncident
	trips     []models.TripCancellationOrder
	payouts   []models.Refund
	approvals []models.Refund
	silent    bool // it does not answer about events
	tried     int
}

func (o *owners) take(do func()) error {
	o.mu.Lock()
	defer o.mu.Unlock()

	if o.down == nil {
		do()
	}

	return o.down
}

func (o *owners) Deliver(ctx context.Context, d models.Delivery) error {
	if o.silent {
		_ = o.take(func() { o.tried++ })

		<-ctx.Done()

		return ctx.Err()
	}

	return o.take(func() { o.delivered = append(o.delivered, d) })
}

func (o *owners) Reconcile(_ context.Context, id uuid.UUID, _ models.Gateway) error {
	return o.take(func() { o.asked = append(o.asked, id) })
}

func (o *owners) ResumeRefund(_ context.Context, r models.Refund) error {
	return o.take(func() { o.resumed = append(o.resumed, r) })
}

func (o *owners) PollStatus(_ context.Context, c models.Channel) error {
	return o.take(func() { o.polled = append(o.polled, c) })
}

func (o *owners) ResumeCampaign(_ context.Context, c models.AdCampaign) error {
	return o.take(func() { o.campaigns = append(o.campaigns, c.ID) })
}

func (o *owners) LookAtCancellation(_ context.Context, id uuid.UUID) error {
	return o.take(func() { o.requests = append(o.requests, id) })
}

func (o *owners) LookAtTripCancellation(_ context.Context, t models.TripCancellationOrder) error {
	return o.take(func() { o.trips = append(o.trips, t) })
}

func (o *owners) PayoutDecided(_ context.Context, r models.Refund) (func(context.Context) error, error) {
	return nil, o.take(func() { o.payouts = append(o.payouts, r) })
}

func (o *owners) ApprovalDecided(_ context.Context, r models.Refund) (func(context.Context) error, error) {
	return nil, o.take(func() { o.approvals = append(o.approvals, r) })
}

func (o *owners) Show(_ context.Context, i models.ShownIncident) error {
	return o.take(func() { o.shown = append(o.shown, i) })
}

func (o *owners) WakeOutbox(context.Context) error { return o.take(func() { o.woken++ }) }

func TestSweep(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o := &owners{}
	now := time.Now()
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: func() time.Time { return now }}

	run := func(want activities.Swept) {
		t.Helper()

		got, err := sweep.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	run(activities.Swept{})
	require.Zero(t, o.woken)

	paid := d.paid(t)             // queues notifications
	refund := d.reserved(t, paid) // stays PENDING
	stale := d.opened(t)          // its customer does not come back
	idle := d.attempt(t)          // never opened
	told := d.opened(t)           // its webhook is stored and not delivered
	require.NoError(t, d.gateway.Pay(told.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), told.ID()))

	run(activities.Swept{}) // all of it is fresh

	now = now.Add(33 * time.Minute)
	o.down = errors.New("orchestrator is down")

	run(activities.Swept{Holds: 1}) // what needs the orchestrator is left for the next
	require.Zero(t, o.woken)

	o.down = nil
	run(activities.Swept{Events: 1, Payments: 2, Refunds: 1})
	require.Equal(t, told.ID(), o.delivered[0].TransactionID)
	require.ElementsMatch(t, []uuid.UUID{stale.ID(), told.ID()}, o.asked)
	require.Equal(t, refund, o.resumed[0].ID)
	require.Equal(t, paid.ID(), o.resumed[0].PaymentTransactionID)
	require.Equal(t, paid.BookingID, *o.resumed[0].BookingID, "operators search for the new run by it, too")
	require.Equal(t, "60.00", o.resumed[0].Amount.String())
	require.Equal(t, 1, o.woken)

	booking, err := d.Store.Bookings.BookingByID(t.Context(), idle.BookingID)
	require.NoError(t, err)
	require.Equal(t, models.BookingPaymentFailed, booking.Status, "the hold of the one that nobody pays was given up at once")

	booking, err = d.Store.Bookings.BookingByID(t.Context(), stale.BookingID)
	require.NoError(t, err)
	require.Equal(t, models.BookingPendingPayment, booking.Status)
}

// TestSweepOfAnOrchestratorThatDoesNotAnswer: it is not pressed, and what needs it not is done all the same.
func TestSweepOfAnOrchestratorThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o := &owners{silent: true}
	now := time.Now()
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: func() time.Time { return now }}

	idle := d.attempt(t)
	d.paid(t) // has messages

	for range 20 {
		told := d.opened(t)
		require.NoError(t, d.gateway.Pay(told.ID()))
		require.NoError(t, d.CloseCheckout(t.Context(), told.ID()))
	}

	now = now.Add(33 * time.Minute)

	got, err := sweep.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, activities.Swept{Holds: 1}, got)
	require.Equal(t, 16, o.tried, "those that were side by side")
	require.Empty(t, o.asked, "nor about payments")
	require.Zero(t, o.woken, "nor about messages")

	booking, err := d.Store.Bookings.BookingByID(t.Context(), idle.BookingID)
	require.NoError(t, err)
	require.Equal(t, models.BookingPaymentFailed, booking.Status)

	// It answers again.
	o.silent = false
	got, err = sweep.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, activities.Swept{Events: 20, Payments: 20}, got)
	require.Equal(t, 1, o.woken)
}

// TestSweepOfEndedAttempts: the gateways are queried again about attempts that ended without money.
// An incident is shown once, and once more when it is resolved. An orchestrator that is away gets it later.
func TestSweepShowsIncidents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o := &owners{down: errors.New("orchestrator is down")}
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: time.Now}

	run := func(want int) {
		t.Helper()

		got, err := sweep.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got.Shown)
	}

	id := uuid.New()
	require.NoError(t, d.Store.Refunds.ReportUnorderedRefund(t.Context(), id))

	run(0)

	o.down = nil

	run(1)
	run(0)
	require.Equal(t, models.IncidentOpen, o.shown[0].Status)
	require.Equal(t, models.IncidentRefundUnordered, o.shown[0].Kind)

	_, err := d.Store.Incidents.ResolveIncident(t.Context(), db.Actor{Operator: "root"}, o.shown[0].ID, "it was a test")
	require.NoError(t, err)

	run(1)
	run(0)
	require.Equal(t, models.IncidentResolved, o.shown[1].Status)
	require.Equal(t, o.shown[0].ID, o.shown[1].ID)
}

func TestSweepOfEndedAttempts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o := &owners{}
	now := time.Now()
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: func() time.Time { return now }}

	d.end(t, d.opened(t), models.FailureCancelled)

	for _, want := range []int{0, 1, 1} { // until it is queried
		got, err := sweep.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got.Ended)

		now = now.Add(11 * time.Minute)
	}

	require.Equal(t, []models.Channel{models.ChannelGatewayA, models.ChannelGatewayA}, o.polled)
}

// TestSweepMakesMonths: a table has the partitions of the months to come, again when one is missing.
func TestSweepMakesMonths(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: &owners{}, Now: time.Now}

	const newest = `SELECT max(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'audit_log'::regclass
		AND inhrelid::regclass::text ~ '_[0-9]{2}$'`

	var was, left, is string
	require.NoError(t, d.db.QueryRowContext(t.Context(), newest).Scan(&was))

	_, err := d.db.ExecContext(t.Context(), "DROP TABLE "+was)
	require.NoError(t, err)
	require.NoError(t, d.db.QueryRowContext(t.Context(), newest).Scan(&left))
	require.Less(t, left, was)

	_, err = sweep.Run(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.db.QueryRowContext(t.Context(), newest).Scan(&is))
	require.Equal(t, was, is)
}

// TestSweepOfASilentBackup: no webhook comes from the second account either, and its customers wait.
func TestSweepOfASilentBackup(t *testing.T) {
	t.Parallel()

	d, _ := withBackup(t)
	d.gateway.Always(fake.CreateCheckout, fake.Fault{Mode: fake.Unreachable})
	d.opened(t)

	o := &owners{}
	sweep := &activities.Sweep{
		Log: silent, Store: d.Store, Deliver: o, WebhookSilence: time.Minute, Now: func() time.Time { return time.Now().Add(2 * time.Minute) },
	}

	got, err := sweep.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, got.Silent)
	require.Equal(t, []models.Channel{models.ChannelGatewayABackup}, o.polled)
}

// The cancellation of a trip whose workflow was not started, or is not heard of any more, is looked at.
func TestSweepOfCalledOffTrips(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o, now := &owners{}, time.Now()
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: func() time.Time { return now }}

	admin := db.Actor{UserID: d.world.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}
	c, err := d.Store.TripCancellations.Order(t.Context(), admin, tripcancel.Order{TripID: d.world.Trip.ID, Reason: "no bus"}, now)
	require.NoError(t, err)

	run := func(want int) {
		t.Helper()

		got, err := sweep.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got.Trips)
	}

	run(0) // its API is given some time

	now = now.Add(11 * time.Second)
	run(1)
	require.Equal(t, models.TripCancellationOrder{ID: c.ID, TripID: c.TripID, ProviderID: d.world.Provider.ID}, o.trips[0])

	_, err = d.LookAtTripCancellation(t.Context(), c.ID, now)
	require.NoError(t, err)
	run(0)

	now = now.Add(16 * time.Minute)
	run(1)

	done, err := d.FinishTripCancellation(t.Context(), c.ID)
	require.NoError(t, err)
	require.True(t, done)
	run(0)
}
