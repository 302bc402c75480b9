package models_test

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// Amounts are exact to the halala, and rounded half-up where a rate is applied.
func ExampleMoney() {
	price := models.MustMoney("115.00").Times(3)
	commission := price.AtRate(models.MustRate("0.1"))

	fmt.Println(price, commission, price.Sub(commission))
	fmt.Println(models.VATWithin(price, models.MustRate("0.15")), "of it is VAT")
	// Output:
	// 345.00 34.50 310.50
	// 45.00 of it is VAT
}

// A sale is one ledger entry and two transfers, which add up to what was paid.
func ExampleSale() {
	taken, company := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), uuid.MustParse("5d498386-bbe6-598c-aca6-d89456ff54fe")
	payment := models.PaymentTransaction{
		ProviderID: company, CapturedAt: &taken, Amount: models.MustMoney("115.00"), VATAmount: models.MustMoney("15.00"), CommissionRate: models.MustRate("0.1"),
		Currency: models.Currency, Gateway: "gateway_a",
	}
	line := models.Sale(&payment, "Discover AlUla")

	for _, t := range models.SettlementTransfers(&line, payment.Gateway) {
		fmt.Println(t.DebitAccount, "pays", t.Amount)
	}

	fmt.Println(line.GrossAmount, "=", line.PlatformCommissionAmount, "+", line.NetAmount)
	// Output:
	// gateway:gateway_a pays 103.50
	// gateway:gateway_a pays 11.50
	// 115.00 = 11.50 + 103.50
}

// What goes back by the policy depends on the whole hours to departure.
func ExampleCancellationPolicy_Terms() {
	var policy models.CancellationPolicy
	if err := policy.UnmarshalText([]byte("72h:100,24h:50,0h:0")); err != nil {
		panic(err)
	}

	departure := time.Date(2026, 12, 7, 6, 0, 0, 0, time.UTC)
	taken := departure.AddDate(0, 0, -9)
	payment := models.PaymentTransaction{Status: models.TransactionPaid, CapturedAt: &taken, Amount: models.MustMoney("575.00")}

	for _, before := range []time.Duration{80 * time.Hour, 30 * time.Hour, 5 * time.Hour} {
		terms := policy.Terms(&payment, departure, departure.Add(-before))
		fmt.Println(terms.Hours, "hours before:", terms.Amount)
	}
	// Output:
	// 80 hours before: 575.00
	// 30 hours before: 287.50
	// 5 hours before: 0.00
}
