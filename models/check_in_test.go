package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestCheckInTime(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 12, 1, 12, 0, 0, 999, time.UTC)
	booked := now.Add(-24 * time.Hour)
	whole := now.Truncate(time.Microsecond)

	for name, c := range map[string]struct {
		at, want time.Time
	}{
		"now": {now, whole}, "hours ago": {now.Add(-7 * time.Hour), whole.Add(-7 * time.Hour)},
		"a little ahead": {now.Add(5 * time.Minute), whole}, "further ahead": {now.Add(5*time.Minute + time.Second), time.Time{}},
		"a slow clock":       {booked.Add(-24 * time.Hour), whole.Add(-48 * time.Hour)},
		"before the booking": {booked.Add(-24*time.Hour - time.Second), time.Time{}}, "never": {time.Time{}, time.Time{}},
	} {
		got, ok := models.CheckInTime(c.at, booked, now)
		require.Equal(t, !c.want.IsZero(), ok, name)
		require.True(t, c.want.Equal(got), "%s: %s", name, got)
	}
}

func TestManifestOpen(t *testing.T) {
	t.Parallel()

	leaves := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	trip := models.Trip{DepartureAt: leaves, ReturnAt: leaves.AddDate(0, 0, 3)}

	for at, open := range map[time.Time]bool{
		leaves.Add(-48*time.Hour - 1): false, leaves.Add(-48 * time.Hour): true, leaves.AddDate(0, 0, 5): true, leaves.AddDate(0, 0, 5).Add(1): false,
	} {
		err := trip.ManifestOpen(at)
		require.Equal(t, open, err == nil, at)

		if !open {
			require.Equal(t, models.CodeInvalidState, models.CodeOf(err))
		}
	}
}
