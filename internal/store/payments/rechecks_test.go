package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRecheckOfAClockThatIsAhead: a worker whose clock is hours ahead neither puts the question off nor keeps it for as long.
func TestRecheckOfAClockThatIsAhead(t *testing.T) {
	t.Parallel()

	b := setup(t)
	paid := b.Paid(t, 1)
	ahead := time.Now().Add(10 * time.Hour)
	claim := func(lease time.Duration, now time.Time) int {
		t.Helper()

		rows, err := b.Store.Payments.ClaimRechecks(t.Context(), paid.Channel, lease, 9, now)
		require.NoError(t, err)

		return len(rows)
	}

	due, err := b.Store.Payments.RecheckPayment(t.Context(), paid.ID, ahead)
	require.NoError(t, err)
	require.True(t, due)
	require.Equal(t, 1, claim(time.Minute, ahead), "it is due now")
	require.Zero(t, claim(time.Minute, time.Now()))
	require.Equal(t, 1, claim(time.Minute, time.Now().Add(2*time.Minute)), "and comes up again after the lease")

	require.NoError(t, b.Store.Payments.ExpectComparison(t.Context(), paid.ID, ahead))
	require.Equal(t, 1, claim(time.Minute, time.Now().Add(time.Second)))
}
