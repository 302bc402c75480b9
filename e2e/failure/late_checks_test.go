package failure_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestLateChecksCatchUp: an outage has ended hundreds of attempts, and no worker was there to ask about them. The metric shows it, and
// once there is a worker they are worked off at a quarter of the gateway's rate, the last of them with money that came late and whose
// webhook was lost.
func TestLateChecksCatchUp(t *testing.T) {
	t.Parallel()

	const backlog, rate = 400, "200"

	s := harness.Start(t, harness.Options{Env: map[string]string{"GATEWAY_A_RATE": rate, "GATEWAY_A_BURST": rate}})
	customer := s.As(models.RoleEndUser)

	b := customer.Book(1)
	a := customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancel", nil)
	require.Less(t, a.Status, http.StatusMultipleChoices, "%s", a.Body)
	require.Eventually(t, func() bool {
		return strings.Contains(fmt.Sprint(s.GatewayLedger().Checkouts), "canceled")
	}, patience, 20*time.Millisecond)

	s.Worker.Kill()
	fault(s, "webhook", "drop", 1)
	s.PayLate(*b.Payment.Reference)
	s.Tampered("attempts that ended are copied in the database")

	_, err := s.DB.ExecContext(t.Context(), `
		INSERT INTO payment_transactions
		SELECT (jsonb_populate_record(pt, jsonb_build_object('id', gen_random_uuid(), 'attempt', pt.attempt + n,
			'reference', 'co_' || gen_random_uuid(), 'check_at', now() - interval '1 hour'))).*
		FROM payment_transactions AS pt, generate_series(1, $2) AS n WHERE pt.id = $1`, b.Payment.TransactionID, backlog)
	require.NoError(t, err)
	_, err = s.DB.ExecContext(t.Context(), "UPDATE payment_transactions SET check_at = now() - interval '11 minutes' WHERE id = $1",
		b.Payment.TransactionID)
	require.NoError(t, err)

	overdue := func() string {
		for line := range strings.Lines(string(s.Anybody().Get("/metrics").Body)) {
			if count, ok := strings.CutPrefix(line, `rihla_overdue{what="late_checks"} `); ok {
				return strings.TrimSpace(count)
			}
		}

		return "none"
	}

	require.Eventually(t, func() bool { return overdue() == strconv.Itoa(backlog+1) }, patience, 100*time.Millisecond)

	began := time.Now()

	s.Worker.Start()
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE check_at < now()") == 0
	}, time.Minute, 50*time.Millisecond, "one round and sweep at a time they would take several minutes")

	took := time.Since(began)
	t.Logf("%d late checks in %s: %.0f a second", backlog+1, took.Round(100*time.Millisecond), (backlog+1)/took.Seconds())

	require.Eventually(t, func() bool { return overdue() == "0" }, patience, 100*time.Millisecond)
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'SUCCEEDED'", b.ID) == 1
	}, patience, 100*time.Millisecond, "the money that came late is found, and goes back")
}
