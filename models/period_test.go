package models_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestPeriod(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		period   models.Period
		now      string
		from, to string
	}{
		{"today", models.PeriodToday, "2026-03-04T12:00:00Z", "2026-03-04", "2026-03-04"},
		{"the last second of a day in Riyadh", models.PeriodToday, "2026-03-04T20:59:59Z", "2026-03-04", "2026-03-04"},
		{"the first second of a day in Riyadh", models.PeriodToday, "2026-03-04T21:00:00Z", "2026-03-05", "2026-03-05"},
		{"a week in its middle", models.PeriodWeek, "2026-03-04T12:00:00Z", "2026-03-01", "2026-03-07"},
		{"a week begins on Sunday", models.PeriodWeek, "2026-03-01T12:00:00Z", "2026-03-01", "2026-03-07"},
		{"the last second of Saturday", models.PeriodWeek, "2026-03-07T20:59:59Z", "2026-03-01", "2026-03-07"},
		{"Sunday in Riyadh, Saturday in London", models.PeriodWeek, "2026-03-07T21:00:00Z", "2026-03-08", "2026-03-14"},
		{"a week over New Year", models.PeriodWeek, "2026-12-31T12:00:00Z", "2026-12-27", "2027-01-02"},
		{"a month of 31 days", models.PeriodMonth, "2026-03-31T20:59:59Z", "2026-03-01", "2026-03-31"},
		{"a month of 30 days", models.PeriodMonth, "2026-03-31T21:00:00Z", "2026-04-01", "2026-04-30"},
		{"February", models.PeriodMonth, "2026-02-10T00:00:00Z", "2026-02-01", "2026-02-28"},
		{"February of a leap year", models.PeriodMonth, "2028-02-10T00:00:00Z", "2028-02-01", "2028-02-29"},
		{"December", models.PeriodMonth, "2026-12-31T20:59:59Z", "2026-12-01", "2026-12-31"},
		{"January", models.PeriodMonth, "2026-12-31T21:00:00Z", "2027-01-01", "2027-01-31"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			now, err := time.Parse(time.RFC3339, tt.now)
			require.NoError(t, err)

			// Dates are for custom periods only.
			got, err := tt.period.Resolve(models.NewDate(2000, 1, 1), models.Date{}, now)
			require.NoError(t, err)
			require.Equal(t, tt.from, got.From.String())
			require.Equal(t, tt.to, got.To.String())
			require.False(t, got.IsAll())
		})
	}
}

func TestCustomPeriod(t *testing.T) {
	t.Parallel()

	day := models.NewDate(2026, 3, 1)
	tests := []struct {
		name     string
		from, to models.Date
		field    string
	}{
		{"one day", day, day, ""},
		{"366 days", day, day.AddDays(365), ""},
		{"367 days", day, day.AddDays(366), "date_to"},
		{"a leap year", models.NewDate(2028, 1, 1), models.NewDate(2028, 12, 31), ""},
		{"a leap year and a day", models.NewDate(2028, 1, 1), models.NewDate(2029, 1, 1), "date_to"},
		{"backwards", day, day.AddDays(-1), "date_to"},
		{"without a beginning", models.Date{}, day, "date_from"},
		{"without an end", day, models.Date{}, "date_to"},
		{"without both", models.Date{}, models.Date{}, "date_from"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := models.PeriodCustom.Resolve(tt.from, tt.to, time.Now())
			if tt.field == "" {
				require.NoError(t, err)
				require.Equal(t, models.Days{From: tt.from, To: tt.to}, got)

				return
			}

			e, ok := errors.AsType[*models.Error](err)
			require.True(t, ok)
			require.Equal(t, models.CodeValidation, e.Code)
			require.Contains(t, e.Details, tt.field)
		})
	}
}

func TestOtherPeriods(t *testing.T) {
	t.Parallel()

	all, err := models.Period("").Resolve(models.Date{}, models.Date{}, time.Now())
	require.NoError(t, err)
	require.True(t, all.IsAll())

	first, last := models.NewDate(2026, 3, 1), models.NewDate(2026, 3, 9)
	days, err := models.Period("").Resolve(first, last, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.Days{From: first, To: last}, days, "dates alone are a custom period")
	_, err = models.Period("").Resolve(first, models.Date{}, time.Now())
	require.Equal(t, models.CodeValidation, models.CodeOf(err))

	_, err = models.Period("this_year").Resolve(models.Date{}, models.Date{}, time.Now())
	require.Equal(t, models.CodeValidation, models.CodeOf(err))
}
