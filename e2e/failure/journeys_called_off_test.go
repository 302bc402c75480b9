package failure_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
	"rihla/workflows"
)

// tripTotals is what calling a trip off comes to.
type tripTotals struct {
	Refunds models.Money `json:"refund_total"`
}

// callOff has a company call off a trip with a paid booking, one that is being paid, one whose refund waits for an approval, and a campaign.
func callOff(t *testing.T, s *harness.Stack) act {
	t.Helper()

	customer, company, finance := s.As(models.RoleEndUser), insisting(t, s, models.RoleProviderAdmin), s.As(models.RoleFinanceAdmin)
	admin := insisting(t, s, models.RoleAdmin)
	paid, waits := customer.BookPaid(1), customer.BookPaid(2)
	customer.Book(1)
	s.NewCampaign("1000.00", 3)

	var ordered struct {
		ID uuid.UUID `json:"id"`
	}

	a := finance.Post("/api/v1/admin/bookings/"+waits.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&ordered))

	trip := s.World.Trip.ID.String()

	var totals tripTotals

	a = company.caller.Get("/api/v1/provider/trips/" + trip + "/cancel-preview")
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&totals))

	// lookUntil has the workflow look again until there is what the query counts.
	lookUntil := func(ctx context.Context, query string, args ...any) error {
		looking, stop := context.WithCancel(ctx)
		defer stop()

		go func() {
			for tick := time.NewTicker(500 * time.Millisecond); ; {
				select {
				case <-looking.Done():
					tick.Stop()

					return
				case <-tick.C:
					_ = s.Temporal.SignalWorkflow(looking, models.TripCancellationWorkflowID(s.World.Trip.ID), "", workflows.SignalLook, nil)
				}
			}
		}()

		return awaitCount(ctx, s, query, args...)
	}

	return func(ctx context.Context) (string, error) {
		body := map[string]any{"reason": "The bus broke down", "expected_refund_total": totals.Refunds}
		if _, ok := company.retryUntilDecided(ctx, "/api/v1/provider/trips/"+trip+"/cancel", body, nil); !ok {
			return "", company.failure()
		}

		if err := lookUntil(ctx, "SELECT count(*) FROM incidents WHERE kind = 'TRIP_CANCELLATION_BLOCKED' AND booking_id = $1", waits.ID); err != nil {
			return "", err
		}

		if _, ok := admin.retryUntilDecided(ctx, "/api/v1/admin/refunds/"+ordered.ID.String()+"/approve", map[string]any{}, nil); !ok {
			return "", admin.failure()
		}

		if err := lookUntil(ctx, "SELECT count(*) FROM trips WHERE id = $1 AND status = 'CANCELLED'", trip); err != nil {
			return "", err
		}

		return paid.ID.String(), awaitCount(ctx, s, "SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'SUCCEEDED'", paid.ID)
	}
}
