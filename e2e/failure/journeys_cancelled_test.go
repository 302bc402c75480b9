package failure_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"rihla/e2e/harness"
	"rihla/models"
)

// cancelRequested has a customer ask for the cancellation of one passenger of a paid booking; finance staff approve it after they were
// reminded.
func cancelRequested(t *testing.T, s *harness.Stack) act {
	t.Helper()

	customer, finance := insisting(t, s, models.RoleEndUser), insisting(t, s, models.RoleFinanceAdmin)
	b := customer.caller.BookPaid(2)
	key := map[string]string{"Idempotency-Key": uuid.NewString()}
	body := map[string]any{"passenger_ids": []any{b.Passengers[0].ID}, "reason": "One of us cannot come"}

	return func(ctx context.Context) (string, error) {
		if _, ok := customer.retryUntilDecided(ctx, "/api/v1/bookings/"+b.ID.String()+"/cancellation-requests", body, key); !ok {
			return "", customer.failure()
		}

		err := awaitCount(ctx, s, "SELECT count(*) FROM notifications WHERE kind = 'CANCELLATION_WAITING' AND data->>'booking_id' = $1", b.ID.String())
		if err != nil {
			return "", err
		}

		var request string
		if err := s.DB.QueryRowContext(ctx, "SELECT id FROM cancellation_requests WHERE booking_id = $1", b.ID).Scan(&request); err != nil {
			return "", errors.Join(err, customer.failure())
		}

		if _, ok := finance.retryUntilDecided(ctx, "/api/v1/admin/cancellation-requests/"+request+"/approve", map[string]any{}, nil); !ok {
			return "", finance.failure()
		}

		return b.ID.String(), awaitCount(ctx, s, "SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'SUCCEEDED'", b.ID)
	}
}
