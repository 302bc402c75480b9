package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestPolicyInWords: every step is a line, and there is one for less notice than the last step.
func TestPolicyInWords(t *testing.T) {
	t.Parallel()

	for policy, want := range map[string]map[models.Locale][]string{
		"72h:100,24h:50,0h:0": {
			models.LocaleEnglish: {
				"72 hours or more before departure: the full amount is refunded",
				"Less than 72 and at least 24 hours before departure: 50% is refunded",
				"Less than 24 hours before departure: nothing is refunded",
			},
			models.LocaleArabic: {
				"قبل المغادرة بـ72 ساعة أو أكثر: يُسترد كامل المبلغ",
				"قبل المغادرة بأقل من 72 ساعة وحتى 24 ساعة: يُسترد 50% من المبلغ",
				"قبل المغادرة بأقل من 24 ساعة: لا يُسترد شيء",
			},
		},
		"2h:80": {
			models.LocaleEnglish: {"2 hours or more before departure: 80% is refunded", "Less than 2 hours before departure: nothing is refunded"},
			models.LocaleArabic:  {"قبل المغادرة بساعتين أو أكثر: يُسترد 80% من المبلغ", "قبل المغادرة بأقل من ساعتين: لا يُسترد شيء"},
		},
		"48h:100,0h:100": {
			models.LocaleEnglish: {"Any time before departure: the full amount is refunded"},
			models.LocaleArabic:  {"في أي وقت قبل المغادرة: يُسترد كامل المبلغ"},
		},
	} {
		var p models.CancellationPolicy

		require.NoError(t, p.UnmarshalText([]byte(policy)))

		for locale, lines := range want {
			require.Equal(t, lines, p.Words(locale), policy)
		}
	}
}

// TestPurchaseInWords: seats and a campaign are described in both languages, and what is not known is left out.
func TestPurchaseInWords(t *testing.T) {
	t.Parallel()

	campaign := models.Purchase{
		Title: "Ramadan offer", Company: "Noor", Locale: models.LocaleEnglish, VAT: models.MustMoney("20.00"), Trip: "Umrah by coach",
		StartsOn: models.NewDate(2026, 12, 1), EndsOn: models.NewDate(2026, 12, 7),
	}
	require.Equal(t, "Ramadan offer", campaign.Name())
	require.Equal(t, []string{
		"Advertised trip: Umrah by coach", "Dates of the ad: 1 December 2026 to 7 December 2026", "Company: Noor", "VAT included: 20.00 SAR",
	}, campaign.Details())

	seats := models.Purchase{Title: "عمرة", Number: "RB-1", Locale: models.LocaleArabic, Seats: 2, Policy: models.DefaultCancellationPolicy()}
	require.Equal(t, "عمرة (RB-1)", seats.Name())

	details := seats.Details()
	require.Len(t, details, 2)
	require.Equal(t, "عدد المقاعد: 2", details[0])
	require.Contains(t, details[1], "سياسة الإلغاء: قبل المغادرة بـ72 ساعة أو أكثر")
}
