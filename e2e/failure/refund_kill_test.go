package failure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestKillDuringRefunds kills the worker and the API while refunds are between their reservation and their end. Finance staff
// repeat what was not answered, with the same key.
func TestKillDuringRefunds(t *testing.T) {
	s := harness.Start(t, harness.Options{Env: inLife()})

	t.Run("worker", func(t *testing.T) { surviveRefunds(t, s.For(t), s.Worker) })
	t.Run("API and worker", func(t *testing.T) { surviveRefunds(t, s.For(t), s.API, s.Worker) })
}

func surviveRefunds(t *testing.T, s *harness.Stack, killed ...*harness.Process) {
	t.Helper()

	const refunds = 16

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	booked := make([]harness.Booking, refunds)
	for i := range booked {
		booked[i] = s.As(models.RoleEndUser).BookPaid(1)
	}

	before := len(s.GatewayLedger().Refunds)

	// Half of the gateway's answers are late, so that a kill finds refunds in every state.
	s.Fault(map[string]any{"operation": "refund", "mode": "slow", "delay_ms": 1500, "times": refunds / 2})

	finance := load{stack: s, caller: s.As(models.RoleFinanceAdmin)}

	var asked sync.WaitGroup
	for i, b := range booked {
		asked.Go(func() {
			if pause(ctx, share(time.Second, i, refunds)) {
				finance.refund(ctx, b.ID, map[string]string{"Idempotency-Key": uuid.NewString()})
			}
		})
	}

	require.Eventually(t, func() bool { return len(s.GatewayLedger().Refunds) >= before+3 }, patience, time.Millisecond)

	for _, p := range killed {
		p.Kill()
	}

	open := s.Count("SELECT count(*) FROM refunds WHERE status = 'PENDING'")
	t.Logf("at the kill: %d refunds reserved and not settled, %d made at the gateway", open, len(s.GatewayLedger().Refunds)-before)
	require.NotZero(t, open)

	for _, p := range killed {
		p.Start()
	}

	asked.Wait()
	require.Empty(t, finance.broken)
	t.Logf("all refunded %s after the last answer", await(t, recovery, func() error { return paidBack(s, booked) }).Round(time.Millisecond))
}

// refund asks for everything back until the answer is final.
func (l *load) refund(ctx context.Context, booking uuid.UUID, header map[string]string) {
	for {
		a, err := l.caller.Do(http.MethodPost, refundPath(booking), map[string]any{"refund_type": "FULL"}, header)
		if err == nil && (a.Status == http.StatusCreated || a.Status == http.StatusAccepted) {
			return
		}

		if err == nil && a.Status != http.StatusServiceUnavailable && a.Code() != models.CodeIdempotencyKeyInProcess {
			l.expect(fmt.Errorf("refund: %d %s", a.Status, a.Body))

			return
		}

		if !pause(ctx, retryPause) {
			l.expect(fmt.Errorf("refund: given up at %d %s %w", a.Status, a.Body, err))

			return
		}
	}
}

// paidBack checks that each booking was given back once and whole, here and at the gateway, and that the books say so.
func paidBack(s *harness.Stack, booked []harness.Booking) error {
	gateway := map[string]int{}
	for _, r := range s.GatewayLedger().Refunds {
		gateway[r.CheckoutID]++
	}

	var problems []error

	for _, b := range booked {
		if n := gateway[*b.Payment.Reference]; n != 1 {
			problems = append(problems, fmt.Errorf("booking %s was paid back %d times", b.ID, n))
		}

		const once = `
			SELECT count(*) FROM payment_transactions AS pt JOIN bookings AS bk ON bk.id = pt.booking_id
			WHERE bk.id = $1 AND bk.status = 'CANCELLED' AND NOT bk.seats_held AND pt.kind = 'PAYMENT'
			  AND pt.refunded_amount = pt.amount AND pt.refund_reserved_amount = 0
			  AND 1 = (SELECT count(*) FROM refunds AS r WHERE r.booking_id = bk.id AND r.status = 'SUCCEEDED' AND r.amount = pt.amount)
			  AND 1 = (SELECT count(*) FROM refunds AS r WHERE r.booking_id = bk.id)
			  AND 1 = (SELECT count(*) FROM financial_records AS r WHERE r.booking_id = bk.id AND r.balance_status = 'REFUNDED')
			  AND 0 = (SELECT COALESCE(sum(CASE WHEN lt.credit_account = 'customer:refunds' THEN amount END), 0) - pt.amount
			           FROM ledger_transfers AS lt WHERE lt.transaction_id = pt.id)
			  AND 2 = (SELECT count(*) FROM notifications AS n WHERE n.kind = 'REFUND_SUCCEEDED' AND n.data->>'booking_id' = bk.id::text)`
		if s.Count(once, b.ID) != 1 {
			problems = append(problems, fmt.Errorf("booking %s is not refunded exactly once", b.ID))
		}
	}

	return errors.Join(problems...)
}

// refundsWithoutOrchestrator: a refund is ordered all the same, once, and executed when the orchestrator is back, without
// another request.
func refundsWithoutOrchestrator(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance, key := s.As(models.RoleFinanceAdmin), map[string]string{"Idempotency-Key": uuid.NewString()}
	keyed, keyless := s.As(models.RoleEndUser).BookPaid(1), s.As(models.RoleEndUser).BookPaid(1)
	full := map[string]any{"refund_type": "FULL", "reason": "Plans changed"}

	require.NoError(t, s.Components.Temporal.Stop(t.Context()))

	for _, asked := range []struct {
		booking uuid.UUID
		header  map[string]string
		again   int
	}{{keyed.ID, key, http.StatusAccepted}, {keyless.ID, nil, http.StatusConflict}} {
		a, err := finance.Do(http.MethodPost, refundPath(asked.booking), full, asked.header)
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		require.Contains(t, string(a.Body), `"PENDING"`)

		a, err = finance.Do(http.MethodPost, refundPath(asked.booking), full, asked.header)
		require.NoError(t, err)
		require.Equal(t, asked.again, a.Status, "%s", a.Body)
	}

	require.Equal(t, 2, s.Count(`SELECT count(*) FROM refunds AS f JOIN audit_log AS a ON a.entity_id = f.id AND a.action = 'REFUND_REQUESTED'
		WHERE f.booking_id IN ($1, $2) AND f.status = 'PENDING' AND f.reason = 'Plans changed'`, keyed.ID, keyless.ID))
	require.NoError(t, s.Components.Temporal.Start(t.Context()))

	await(t, patience, func() error { return paidBack(s, []harness.Booking{keyed, keyless}) })
}
