package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func TestReportHasEveryDayAndAddsUp(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		first := models.NewDate(2028, 2, 1).AddDays(rapid.IntRange(0, 60).Draw(t, "from"))
		span := models.Days{From: first, To: first.AddDays(rapid.IntRange(0, 365).Draw(t, "length"))}

		var inside models.ReportFigures

		known := make([]models.ReportDay, rapid.IntRange(0, 20).Draw(t, "known days"))
		for i := range known {
			amount := func(name string) models.Money {
				return models.Halalas(rapid.Int64Range(-1_000_000_00, 1_000_000_00).Draw(t, name))
			}
			day := models.ReportDay{
				Date: first.AddDays(rapid.IntRange(-3, 368).Draw(t, "day")),
				ReportFigures: models.ReportFigures{
					Gross: amount("gross"), Commission: amount("commission"), Net: amount("net"), VAT: amount("vat"),
					InCurrentBalance: amount("balance"), Transferred: amount("transferred"), Refunded: amount("refunded"),
					AdvertisingRevenue: amount("advertising"), Bookings: 3, Campaigns: 2, Refunds: 1,
				},
			}
			known[i] = day

			if !day.Date.Before(span.From) && !day.Date.After(span.To) {
				inside = inside.Add(day.ReportFigures)
			}
		}

		r := models.NewReport(span, known)
		require.Len(t, r.Series, span.Len())
		requireSame(t, inside, r.Cards)

		var sum models.ReportFigures

		for i, day := range r.Series {
			require.Equal(t, span.From.AddDays(i), day.Date)
			sum = sum.Add(day.ReportFigures)
		}

		requireSame(t, r.Cards, sum)
		require.Equal(t, span.To, r.Series[len(r.Series)-1].Date)
	})
}

// requireSame compares amounts by value: decimals of one value can differ inside.
func requireSame(t require.TestingT, want, got models.ReportFigures) {
	for name, pair := range map[string][2]models.Money{
		"gross": {want.Gross, got.Gross}, "commission": {want.Commission, got.Commission}, "net": {want.Net, got.Net},
		"vat": {want.VAT, got.VAT}, "balance": {want.InCurrentBalance, got.InCurrentBalance},
		"transferred": {want.Transferred, got.Transferred}, "refunded": {want.Refunded, got.Refunded},
		"advertising": {want.AdvertisingRevenue, got.AdvertisingRevenue},
	} {
		require.Equal(t, pair[0].String(), pair[1].String(), name)
	}

	require.Equal(t, want.Bookings, got.Bookings)
	require.Equal(t, want.Campaigns, got.Campaigns)
	require.Equal(t, want.Refunds, got.Refunds)
}

func TestReportOfAQuietPeriodIsZeros(t *testing.T) {
	t.Parallel()

	day := models.NewDate(2026, 3, 1)
	r := models.NewReport(models.Days{From: day, To: day.AddDays(1)}, nil)
	require.Equal(t, []models.ReportDay{{Date: day}, {Date: day.AddDays(1)}}, r.Series)
	require.True(t, r.Cards.Gross.IsZero())
}
