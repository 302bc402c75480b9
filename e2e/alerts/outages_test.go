//go:build drill

package alerts_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"rihla/e2e/harness"
	"rihla/models"
)

// databaseKilled kills PostgreSQL under requests. It comes back with an archive whose command fails.
func databaseKilled(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	customer := s.As(models.RoleEndUser)
	b := customer.BookPaid(1)
	body := paidEvent(t, b)

	for _, setting := range []string{"archive_mode = 'on'", "archive_command = 'false'"} {
		_, err := s.DB.ExecContext(t.Context(), "ALTER SYSTEM SET "+setting)
		require.NoError(t, err)
	}

	s.Components.Postgres.Kill()
	d.provoke(t, "PostgreSQL killed under requests", both(
		side(2, 100*time.Millisecond, asks(customer, "/api/v1/bookings/"+b.ID.String()+"/payment-status")),
		side(2, 100*time.Millisecond, asks(customer, "/api/v1/trips")), side(2, 100*time.Millisecond, func() { deliver(s, body, true) }),
	), func() {
		require.NoError(t, s.Components.Postgres.Start(t.Context()))
	}, "RihlaBooksUnread", "RihlaErrors", "RihlaBudgetFast", "RihlaBudgetSlow")
}

// archiveFails has PostgreSQL write segments that its archive does not take.
func archiveFails(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	turn := func() {
		_, _ = s.DB.ExecContext(context.WithoutCancel(t.Context()), "SELECT pg_logical_emit_message(false, 'drill', 'x'), pg_switch_wal()")
	}

	d.provoke(t, "`archive_command` fails", side(1, 5*time.Second, turn), func() {
		_, err := s.DB.ExecContext(t.Context(), "ALTER SYSTEM SET archive_command = 'true'")
		require.NoError(t, err)
		_, err = s.DB.ExecContext(t.Context(), "SELECT pg_reload_conf()")
		require.NoError(t, err)
		turn()
	}, "RihlaWALArchiveBehind")
}

// gatewayHangs has the gateway answer nothing.
func gatewayHangs(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	s.Fault(map[string]any{"operation": "create_checkout", "mode": "timeout", "times": 100_000})

	d.provoke(t, "the gateway does not answer", side(4, 100*time.Millisecond, bookAnd(s, s.As(models.RoleEndUser), "")), func() {
		s.ClearFaults()
		bookAnd(s, s.As(models.RoleEndUser), "succeed")()
	}, "RihlaGatewayDoesNotAnswer", "RihlaGatewayCircuitOpen")
}

// workerKilled kills the worker while there is work, which grows old. When it is back it finds a workflow that other code has begun.
func workerKilled(t *testing.T, d *drill) {
	t.Helper()

	const told = 40

	s := d.view(t)
	customer := s.As(models.RoleEndUser)
	expired, declined, paid := customer.Book(1), customer.Book(1), make([]harness.Booking, told)

	for i := range paid {
		paid[i] = customer.Book(1)
	}

	require.NoError(t, s.Pay(*declined.Payment.CheckoutURL, "decline"))
	customer.Await(declined.ID)

	began := time.Now()

	s.Worker.Kill()

	stuck := d.otherCode(t)

	for _, b := range paid {
		deliver(s, paidEvent(t, b), true)
	}

	d.growOld(t, expired, declined)

	down := []string{
		"RihlaWorkerDown", "RihlaOverdue", "RihlaLateChecks", "RihlaAuditLogUnsealed", "RihlaWebhooksWait", "RihlaAuditSealsFell",
	}
	d.await(t, true, down)

	back := time.Now()

	d.execute(t, "DELETE FROM audit_unsealed WHERE digest = sha256('drill')")
	s.Worker.Start()
	require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), stuck, "", "drill", nil))

	// Its workflow counts from when it was opened: the customer ends it.
	a := customer.Post("/api/v1/bookings/"+expired.ID.String()+"/cancel", nil)
	require.Less(t, a.Status, http.StatusMultipleChoices, "%s", a.Body)

	other := []string{"RihlaNonDeterminism"}
	d.await(t, true, other)

	mended := time.Now()

	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), stuck, "", "drill"))
	d.await(t, false, slices.Concat(down, other))

	for _, name := range down {
		d.note(name, "the worker killed; its work made older, the newest seal deleted", began, back, true)
	}

	d.note(other[0], "a workflow that a worker of other code has begun", back, mended, true)
}

// growOld makes what waits for the worker older than it is.
func (d *drill) growOld(t *testing.T, expired, declined harness.Booking) {
	t.Helper()
	d.execute(
		t,
		"UPDATE payment_transactions SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' WHERE id = '"+
			expired.Payment.TransactionID.String()+"'",
		"UPDATE payment_transactions SET check_at = now() - interval '1 hour' WHERE id = '"+declined.Payment.TransactionID.String()+"'",
		"UPDATE webhook_events SET received_at = received_at - interval '2 minutes' WHERE processed_at IS NULL",
		`INSERT INTO audit_unsealed (entry, created_at, noted_at, digest)
			SELECT id, created_at, now() - interval '1 hour', sha256('drill') FROM audit_log LIMIT 1`,
		"DELETE FROM audit_seals WHERE number > (SELECT max(number) - 3 FROM audit_seals)",
	)
}

// otherCode has a worker of other code begin a workflow that the service's does not replay.
func (d *drill) otherCode(t *testing.T) (id string) {
	t.Helper()

	w := worker.New(d.Temporal, d.Queue, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error { return workflow.Sleep(ctx, time.Hour) },
		workflow.RegisterOptions{Name: "Reconcile"})
	require.NoError(t, w.Start())

	defer w.Stop()

	id = "drill/" + uuid.NewString()
	run, err := d.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: d.Queue}, "Reconcile")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		events := d.Temporal.GetWorkflowHistory(t.Context(), id, run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			if e, err := events.Next(); err == nil && e.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
				return true
			}
		}

		return false
	}, patience, 100*time.Millisecond)

	return id
}

// apisKilled kills both API processes.
func apisKilled(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	s.API.Kill()
	d.replica.API.Kill()

	d.provoke(t, "all API processes killed", nothing, func() {
		s.API.Start()
		d.replica.API.Start()
	}, "RihlaAPIDown")
}

// webhooksLost has customers pay, and no webhook arrive.
func webhooksLost(t *testing.T, d *drill) {
	t.Helper()

	s := d.view(t)
	s.Fault(map[string]any{"operation": "webhook", "mode": "drop", "times": 100_000})

	d.provoke(t, "every webhook lost", side(1, time.Second, bookAnd(s, s.As(models.RoleEndUser), "succeed")), func() {
		s.ClearFaults()
		// The channel is silent until webhooks come again.
		d.during(t, side(1, time.Second, bookAnd(s, s.As(models.RoleEndUser), "succeed")), func() {
			d.await(t, false, []string{"RihlaWebhooksSilent"})
		})
	}, "RihlaWebhooksSilent")
}
