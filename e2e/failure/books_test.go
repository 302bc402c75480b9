// Package failure_test breaks the running service on purpose: it kills the API, the worker, Temporal and PostgreSQL
// under load, and has the gateway misbehave. Afterwards the service's books must be the gateway's: every customer who has paid
// has their booking, once, and no other has one.
package failure_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const (
	// recovery is how long a service that was killed may take, once it is up again, until everything that the gateway had
	// taken is settled.
	recovery = 15 * time.Second
	// patience bounds the waits for what has no limit of its own.
	patience = 40 * time.Second
)

// awaitSettled waits until the payments of these attempts are settled, each exactly once, and returns how long it took.
func awaitSettled(t *testing.T, s *harness.Stack, attempts []string) time.Duration {
	t.Helper()

	return await(t, recovery, func() error { return settled(s.DB, attempts) })
}

// awaitBooks waits until the books agree, and returns how long it took.
func awaitBooks(t *testing.T, s *harness.Stack) time.Duration {
	t.Helper()

	t.Cleanup(func() {
		if t.Failed() {
			logUnsettled(t, s)
		}
	})

	return await(t, patience, func() error { return books(s.DB, s.GatewayLedger()) })
}

// logUnsettled shows where the workflows of events without effect stand: what to look at cannot be repeated.
func logUnsettled(t *testing.T, s *harness.Stack) {
	t.Helper()

	ctx := context.WithoutCancel(t.Context())

	rows, err := s.DB.QueryContext(ctx, "SELECT DISTINCT transaction_id FROM webhook_events WHERE processed_at IS NULL AND transaction_id IS NOT NULL")
	if err != nil {
		t.Log(err)

		return
	}
	defer rows.Close()

	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			t.Log(err)

			return
		}

		d, err := s.Temporal.DescribeWorkflow(ctx, models.PaymentWorkflowID(id), "")
		if err != nil {
			t.Log(id, err)

			continue
		}

		t.Log(d.RawResponse.GetWorkflowExecutionInfo(), d.RawResponse.GetPendingActivities(), d.RawResponse.GetPendingWorkflowTask())

		for events := s.Temporal.GetWorkflowHistory(ctx, models.PaymentWorkflowID(id), "", false, 0); events.HasNext(); {
			e, err := events.Next()
			if err != nil {
				t.Log(err)

				break
			}

			t.Log(e.GetEventId(), e.GetEventTime().AsTime().Format(time.StampMilli), e.GetEventType())
		}
	}

	if err := rows.Err(); err != nil {
		t.Log(err)
	}
}

func await(t *testing.T, atMost time.Duration, check func() error) time.Duration {
	t.Helper()

	var last error

	began := time.Now()

	for time.Since(began) < atMost {
		if last = check(); last == nil {
			return time.Since(began)
		}

		if !pause(t.Context(), 20*time.Millisecond) {
			break
		}
	}

	require.NoError(t, last, "after %s", atMost)

	return 0
}

// takenBy are the attempts that the gateway has been paid for.
func takenBy(l harness.GatewayLedger) []string {
	var paid []string

	for _, c := range l.Checkouts {
		if c.Status == "paid" {
			paid = append(paid, c.MerchantReference)
		}
	}

	return paid
}

// settledSQL counts, of some attempts, those that have had all their effects exactly once.
const settledSQL = `
SELECT count(*) FROM payment_transactions AS pt JOIN bookings AS bk ON bk.id = pt.booking_id
WHERE pt.id = ANY($1::uuid[]) AND pt.status = 'PAID' AND bk.status = 'CONFIRMED'
  AND 1 = (SELECT count(*) FROM financial_records AS r WHERE r.payment_transaction_id = pt.id AND r.kind = 'SALE')
  AND 1 = (SELECT count(*) FROM financial_records AS r WHERE r.booking_id = bk.id)
  AND 'EMAIL SENT, SMS SENT' = (SELECT string_agg(n.channel || ' ' || n.status, ', ' ORDER BY n.channel)
                                FROM notifications AS n WHERE n.transaction_id = pt.id)`

func settled(db *sql.DB, attempts []string) error {
	var n int
	if err := db.QueryRow(settledSQL, attempts).Scan(&n); err != nil {
		return err
	}

	if n != len(attempts) {
		return fmt.Errorf("%d of %d payments are settled", n, len(attempts))
	}

	return nil
}

// differences are queries that find what must not be, whatever the gateway says.
var differences = map[string]string{
	"bookings confirmed without a payment": `
		SELECT count(*) FROM bookings AS bk WHERE status = 'CONFIRMED' AND NOT EXISTS
			(SELECT FROM payment_transactions AS pt WHERE pt.booking_id = bk.id AND pt.status = 'PAID')`,
	"ledger entries without a payment": `
		SELECT count(*) FROM financial_records AS r JOIN payment_transactions AS pt ON pt.id = r.payment_transaction_id
		WHERE pt.status <> 'PAID'`,
	"trips whose seats are not those of their bookings": `
		SELECT count(*) FROM trips AS t WHERE seats_taken <>
			(SELECT COALESCE(sum(seats), 0) FROM bookings AS bk WHERE bk.trip_id = t.id AND bk.seats_held)`,
	"payments whose transfers do not add up": `
		SELECT count(*) FROM payment_transactions AS pt WHERE kind = 'PAYMENT' AND status IN ('PAID', 'PENDING') AND
			CASE status WHEN 'PAID' THEN amount ELSE 0 END <>
			(SELECT COALESCE(sum(amount), 0) FROM ledger_transfers AS lt WHERE lt.transaction_id = pt.id
			 AND lt.debit_account LIKE 'gateway:%')`,
	"events without effect": `SELECT count(*) FROM webhook_events WHERE processed_at IS NULL`,
	"incidents":             `SELECT count(*) FROM incidents`,
}

// books compares the service's books with the gateway's. nil: every payment that the gateway took is settled once, no
// booking was paid twice, and nothing else is confirmed, booked or notified.
func books(db *sql.DB, gateway harness.GatewayLedger) error {
	taken := takenBy(gateway)
	problems := []error{settled(db, taken)}

	var paid, bookings int

	err := db.QueryRow(`SELECT count(*) FILTER (WHERE status = 'PAID'), count(DISTINCT booking_id) FILTER (WHERE id = ANY($1::uuid[]))
		FROM payment_transactions`, taken).Scan(&paid, &bookings)
	if err != nil {
		return err
	}

	if paid != len(taken) || bookings != len(taken) {
		problems = append(problems, fmt.Errorf("the gateway took %d payments; here %d are paid, of %d bookings", len(taken), paid, bookings))
	}

	for what, query := range differences {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil {
			return err
		}

		if n != 0 {
			problems = append(problems, fmt.Errorf("%d %s", n, what))
		}
	}

	return errors.Join(problems...)
}
