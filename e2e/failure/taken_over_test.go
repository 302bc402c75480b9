package failure_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestHeldUpRequestGivesUp: a request is held up for longer than its lease, another one with its key takes over,
// and then the first goes on and gives up the booking that they both wait for. No answer names a booking that does not exist,
// and a retry gets the one that does.
func TestHeldUpRequestGivesUp(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"REFUND_WAIT": "15s"})})
	paid := s.As(models.RoleEndUser).BookPaid(1)

	s.Worker.Kill()

	// One after the other: the worker is dead in the first, and starts in the second.
	giveUpBooking(t, s, paid)
	orderedRefund(t, s, paid)
}

func giveUpBooking(t *testing.T, s *harness.Stack, paid harness.Booking) {
	t.Helper()

	booking := keyed{s.As(models.RoleEndUser), "/api/v1/bookings", s.BookingRequest(1), uuid.NewString()}
	answer := booking.begin(t)

	// The statement of DiscardBooking.
	discard := `
			WITH gone AS (DELETE FROM bookings WHERE id <> $1 RETURNING trip_id, seats)
			UPDATE trips AS t SET seats_taken = t.seats_taken - gone.seats FROM gone WHERE t.id = gone.trip_id`

	require.Eventually(t, func() bool {
		res, err := s.DB.ExecContext(t.Context(), discard, paid.ID)
		require.NoError(t, err)

		n, err := res.RowsAffected()

		return err == nil && n == 1
	}, patience, 10*time.Millisecond)

	a := answer()
	require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM bookings"))
}

// orderedRefund is held up, too, but its order is not: a request with the same key gets the same refund.
func orderedRefund(t *testing.T, s *harness.Stack, paid harness.Booking) {
	t.Helper()

	refund := keyed{s.As(models.RoleFinanceAdmin), refundPath(paid.ID), map[string]any{"refund_type": "FULL"}, uuid.NewString()}
	answer := refund.begin(t)

	s.AwaitWorkflow("Refund", 1)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE status = 'PENDING' AND sends = 0"))
	s.Worker.Start()

	a := answer()
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	require.JSONEq(t, string(a.Body), string(refund.again(t).Body))
	await(t, patience, func() error { return paidBack(s, []harness.Booking{paid}) })
}

// begin sends the request; what it returns waits for the answer.
func (k keyed) begin(t *testing.T) func() harness.Answer {
	t.Helper()

	var (
		sent sync.WaitGroup
		a    harness.Answer
		err  error
	)

	sent.Go(func() { a, err = k.send() })

	return func() harness.Answer {
		sent.Wait()
		require.NoError(t, err)

		return a
	}
}
