package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func TestVATWithin(t *testing.T) {
	t.Parallel()

	tests := []struct{ amount, rate, vat string }{
		{"115.00", "0.15", "15.00"},
		{"1150.00", "0.15", "150.00"},
		{"100.00", "0.15", "13.04"}, // 13.0434…
		{"0.01", "0.15", "0.00"},
		{"0.04", "0.15", "0.01"}, // 0.00521… rounds up
		{"0.03", "0.15", "0.00"}, // 0.00391…
		{"0.23", "0.15", "0.03"}, // exactly 0.03
		{"1.05", "0.05", "0.05"},
		{"999999999999.99", "0.15", "130434782608.69"}, // …608.6943
		{"120.00", "0.20", "20.00"},
		{"50.00", "0", "0.00"},
		{"0.03", "1", "0.02"}, // 0.015, half-up
	}
	for _, tt := range tests {
		got := models.VATWithin(models.MustMoney(tt.amount), models.MustRate(tt.rate))
		require.Equal(t, tt.vat, got.String(), "%s at %s", tt.amount, tt.rate)
	}
}

func TestAddVAT(t *testing.T) {
	t.Parallel()

	tests := []struct{ price, rate, amount, vat string }{
		{"100.00", "0.20", "120.00", "20.00"},
		{"0.01", "0.20", "0.01", "0.00"},
		{"0.02", "0.20", "0.02", "0.00"},
		{"0.03", "0.20", "0.04", "0.01"},
		{"33.33", "0.20", "40.00", "6.67"}, // 6.666
		{"0.05", "0.10", "0.06", "0.01"},   // 0.005, half-up
		{"10.00", "0", "10.00", "0.00"},
	}
	for _, tt := range tests {
		amount, vat := models.AddVAT(models.MustMoney(tt.price), models.MustRate(tt.rate))
		require.Equal(t, tt.amount, amount.String(), tt.price)
		require.Equal(t, tt.vat, vat.String(), tt.price)
	}
}

// The formula of bookings (rules: prices.booking) with the division first, in integers: an independent way to the same number.
func TestVATWithinAgreesWithIntegers(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(1, 10_000_000_000).Draw(t, "halalas")
		rate := rapid.Int64Range(0, 10_000).Draw(t, "rate in 1/10000")

		// vat = amount × r ÷ (10000 + r), half-up: floor((2n + d) ÷ 2d)
		n, d := amount*rate, 10_000+rate
		want := (2*n + d) / (2 * d)

		require.Equal(t, want, models.VATWithin(models.Halalas(amount), rateOf(rate)).Halalas())

		total, vat := models.AddVAT(models.Halalas(amount), rateOf(rate))
		require.Equal(t, (2*n+10_000)/20_000, vat.Halalas())
		require.True(t, total.Sub(vat).Equal(models.Halalas(amount)))
	})
}

func TestRefundVAT(t *testing.T) {
	t.Parallel()

	sale := models.PaymentTransaction{Amount: models.MustMoney("99.99"), VATRate: models.MustRate("0.15"), VATAmount: models.MustMoney("13.04")}
	require.Equal(t, "4.35", models.RefundVAT(&sale, models.MustMoney("33.33")).String())
	require.Equal(t, "13.04", models.RefundVAT(&sale, sale.Amount).String())

	sale.SuspenseAt = &paidAt
	require.Equal(t, "0.00", models.RefundVAT(&sale, models.MustMoney("33.33")).String(), "nothing was sold")
}

// A refund in one piece has the VAT of what it gives back, also of a campaign, to whose price VAT was added: the rule for parts has the same
// result for the whole, so that no two refunds of one amount have different documents (rules: refunds.vat).
func TestRefundVATOfTheWhole(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		price := models.Halalas(rapid.Int64Range(1, 10_000_000_000).Draw(t, "halalas"))
		rate := rateOf(rapid.Int64Range(0, 10_000).Draw(t, "rate in 1/10000"))

		amount, vat := models.AddVAT(price, rate)
		require.Equal(t, vat.String(), models.VATWithin(amount, rate).String())
	})
}
