package invariants

import (
	"context"
	"fmt"
	"time"

	"rihla/chaos/env"
)

// idlePatience is how long the service may take, once everything is up again, until nothing is left to do. The longest
// legitimate wait is for the first question about a refund that the gateway keeps pending and whose webhook is lost: a minute.
const idlePatience = 90 * time.Second

// WaitIdle waits until nothing moves any more: every checkout decided, every webhook delivered and processed, nothing PENDING,
// every message sent, no workflow under way. The items that still move when the time is over are returned: they hang.
func WaitIdle(ctx context.Context, e *env.Environment) (took time.Duration, moving []string, err error) {
	return await(ctx, e, unsettled+unasked)
}

// WaitSettled is WaitIdle without the questions that are due seconds after the end of an attempt.
func WaitSettled(ctx context.Context, e *env.Environment) (took time.Duration, moving []string, err error) {
	return await(ctx, e, unsettled)
}

func await(ctx context.Context, e *env.Environment, open string) (took time.Duration, moving []string, err error) {
	began := time.Now()

	ctx, cancel := context.WithTimeout(ctx, idlePatience)
	defer cancel()

	for {
		moving, err = movement(ctx, e, open)
		if ctx.Err() != nil {
			return time.Since(began), append(moving, fmt.Sprintf("not idle after %s: %v", idlePatience, err)), nil
		}

		if err == nil && len(moving) == 0 {
			return time.Since(began), nil, nil
		}

		select {
		case <-ctx.Done():
			return time.Since(began), append(moving, fmt.Sprintf("not idle after %s: %v", idlePatience, err)), nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// unasked are attempts that have ended and about which the gateway is to be polled once more. A worker whose clock is ahead ends
// them in the future and has it polled then, which the wait here does not include: near midnight in Riyadh that is minutes away.
const unasked = `
	UNION ALL SELECT format('the gateway is to be asked about payment %s at %s', id, check_at) FROM payment_transactions
		WHERE status = 'FAILED' AND captured_at IS NULL AND check_at < now() + interval '1 hour'
			AND updated_at <= now()`

func movement(ctx context.Context, e *env.Environment, open string) ([]string, error) {
	moving, err := texts(ctx, e.DB, open)
	if err != nil || len(moving) > 0 {
		return moving, err
	}

	ledger, err := e.Gateway.Ledger()
	if err != nil {
		return nil, err
	}

	for _, c := range ledger.Checkouts {
		if c.Status == "open" && (e.Company.Can.Cancel || e.Gateway.AtBackup(c.ID)) { // others stay open until their time is over
			moving = append(moving, "checkout "+c.ID+" is open until "+c.ExpiresAt.Format(time.RFC3339))
		}
	}

	for _, r := range ledger.Refunds {
		if r.Status == "pending" {
			moving = append(moving, "refund "+r.ID+" is not decided by the gateway")
		}
	}

	stats, err := e.Gateway.Stats()
	if stats.WebhooksPending > 0 {
		moving = append(moving, fmt.Sprintf("%d webhooks are not delivered", stats.WebhooksPending))
	}

	if err != nil || len(moving) > 0 {
		return moving, err
	}

	return listWorkflows(ctx, &Evidence{Env: e}, running)
}
