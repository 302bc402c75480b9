package models_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestDateInRiyadh(t *testing.T) {
	t.Parallel()

	tests := map[string]string{
		"2026-03-01T20:59:59Z":      "2026-03-01",
		"2026-03-01T21:00:00Z":      "2026-03-02", // midnight in Riyadh
		"2026-12-31T21:00:00Z":      "2027-01-01",
		"2028-02-28T21:00:00Z":      "2028-02-29", // leap year
		"2026-02-28T21:00:00Z":      "2026-03-01",
		"2026-03-02T00:00:00+03:00": "2026-03-02",
		"2026-03-01T23:59:59-05:00": "2026-03-02",
	}
	for at, want := range tests {
		moment, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, want, models.DateIn(moment).String(), at)
	}

	require.Equal(t, "2026-03-01T21:00:00Z", models.NewDate(2026, 3, 2).Start().UTC().Format(time.RFC3339))
}

func TestDateText(t *testing.T) {
	t.Parallel()

	var d models.Date

	require.NoError(t, json.Unmarshal([]byte(`"2028-02-29"`), &d))

	out, err := json.Marshal(d)
	require.NoError(t, err)
	require.JSONEq(t, `"2028-02-29"`, string(out))

	for _, in := range []string{
		"", "2026-02-29", "2026-13-01", "2026-04-31", "2026-2-1", "20260201", "01-02-2026", "2026-02-01T00:00:00Z", "today", "2026-02-0١",
	} {
		_, err := models.ParseDate(in)
		require.ErrorIs(t, err, models.ErrDateFormat, in)
	}
}

func TestDateScan(t *testing.T) {
	t.Parallel()

	want := models.NewDate(2026, 3, 2)

	for _, in := range []any{time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), "2026-03-02", []byte("2026-03-02")} {
		var d models.Date

		require.NoError(t, d.Scan(in))
		require.Equal(t, want, d, "comparable with ==")
	}

	d := want
	require.NoError(t, d.Scan(nil))
	require.True(t, d.IsZero())
	require.Error(t, d.Scan(42))

	v, err := d.Value()
	require.NoError(t, err)
	require.Nil(t, v, "no day is NULL")

	v, err = want.Value()
	require.NoError(t, err)
	require.Equal(t, "2026-03-02", v)
}

func TestDateArithmetic(t *testing.T) {
	t.Parallel()

	require.Equal(t, "2028-02-29", models.NewDate(2028, 2, 28).AddDays(1).String())
	require.Equal(t, "2026-12-31", models.NewDate(2027, 1, 1).AddDays(-1).String())
	require.Equal(t, 366, models.NewDate(2028, 1, 1).DaysUntil(models.NewDate(2029, 1, 1)))
	require.Equal(t, -1, models.NewDate(2026, 3, 2).DaysUntil(models.NewDate(2026, 3, 1)))
	require.Equal(t, "2026-03-01", models.NewDate(2026, 3, 31).FirstOfMonth().String())
	require.True(t, models.NewDate(2026, 3, 1).Before(models.NewDate(2026, 3, 2)))
	require.True(t, models.NewDate(2026, 3, 2).After(models.NewDate(2026, 3, 1)))
	require.False(t, models.NewDate(2026, 3, 1).After(models.NewDate(2026, 3, 1)))
	require.Equal(t, 2026, models.NewDate(2026, 3, 1).Year())
	require.Equal(t, time.Sunday, models.NewDate(2026, 3, 1).Weekday())
}
