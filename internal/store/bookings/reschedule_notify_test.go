package bookings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// A company cannot use up the messages of its customers by moving a trip again and again.
func TestMovesUseUpNobodysMessages(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 20
	b := setup(t, p)
	b.Paid(t, 1)

	for range 25 {
		b.move(t, time.Second)
	}

	last := b.move(t, 3*time.Hour)
	b.Paid(t, 1)

	sent := b.Deliverable(t)
	told := make([]string, 0, len(sent))

	for _, n := range sent {
		told = append(told, string(n.Kind)+" "+string(n.Channel))

		b.Sent(t, &n, time.Now())

		if n.Kind == models.NotifyTripMoved {
			require.Equal(t, last.DepartureAt.UTC().Format(time.RFC3339), n.Data["departure_at"])
			require.Equal(t, b.Trip.DepartureAt.UTC().Format(time.RFC3339), n.Data["departure_was"])
			require.Equal(t, "true", n.Data["refundable"])
		}
	}

	require.ElementsMatch(t, []string{
		"PAYMENT_SUCCEEDED EMAIL", "PAYMENT_SUCCEEDED SMS", "PAYMENT_SUCCEEDED EMAIL", "PAYMENT_SUCCEEDED SMS",
		"TRIP_MOVED EMAIL", "TRIP_MOVED SMS",
	}, told)
	require.Equal(t, 50, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED' AND last_error LIKE '%moved again%'"))
}

// A message that is being sent while the trip is moved again has been sent, and the next one follows it.
func TestAMoveWhileTheLastIsBeingTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Paid(t, 1)
	b.move(t, time.Hour)

	sending := b.Deliverable(t)
	require.Len(t, sending, 4)

	b.move(t, time.Hour)

	for _, n := range sending {
		b.Sent(t, &n, time.Now())
	}

	require.Equal(t, 4, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'SENT' AND sent_at IS NOT NULL"))
	require.Len(t, b.Deliverable(t), 2)

	// One that is given up for another reason is not sent by a deliverer that comes late.
	b.Exec(t, "UPDATE notifications SET status = 'FAILED', last_error = 'refused for good' WHERE status = 'PENDING'")

	for _, n := range sending {
		b.Sent(t, &n, time.Now())
	}

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED'"))
}

func TestTripMovesPerDay(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.TripMovesPerDay = 2
	b := setup(t, p)

	for range 3 {
		b.move(t, time.Minute)
	}

	b.Paid(t, 1)

	// Were midnight in between, there would be more: the moves of a day are counted by the day.
	day := models.DateIn(time.Now())

	b.move(t, time.Minute)
	b.move(t, time.Minute)
	err := b.tryMove(t, time.Now().AddDate(0, 0, 20))

	if models.DateIn(time.Now()) == day {
		bookstest.RequireCode(t, models.CodeInvalidState, err)
		require.Equal(t, 5, b.Count(t, "SELECT count(*) FROM trip_moves"))
	}
}
