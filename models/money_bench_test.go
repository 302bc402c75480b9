package models_test

import (
	"encoding/json"
	"testing"

	"rihla/models"
)

// BenchmarkCommission is the arithmetic of a ledger entry: commission, what is left of it, and the VAT within.
func BenchmarkCommission(b *testing.B) {
	gross, commission, vat := models.MustMoney("1149.99"), models.MustRate("0.1"), models.MustRate("0.15")

	b.ReportAllocs()

	for b.Loop() {
		share := gross.AtRate(commission)
		if net := gross.Sub(share); !models.Sum(net, share).Equal(gross) || models.VATWithin(gross, vat).IsNegative() {
			b.Fatal("the sums do not add up")
		}
	}
}

// BenchmarkMoneyRead is an amount on its way from the database into an answer.
func BenchmarkMoneyRead(b *testing.B) {
	b.ReportAllocs()

	for b.Loop() {
		var m models.Money
		if err := m.Scan("1149.99"); err != nil {
			b.Fatal(err)
		}

		if _, err := json.Marshal(m); err != nil {
			b.Fatal(err)
		}
	}
}
