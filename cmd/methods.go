package cmd

import (
	"rihla/api/operations"
	"rihla/gateways/drivers"
	"rihla/internal/config"
	"rihla/models"
)

// methods are the payment methods with the accounts that take them, the preferred one first.
type methods []operations.Method

// offered asks the drivers what they can do. A method is offered when the first account of its gateway has it: the backup is for
// when that one fails.
func offered(cfg config.Config) methods {
	var all methods

	for _, m := range models.PaymentMethods() {
		offer := operations.Method{Method: m}

		for _, account := range []models.MerchantAccount{m.Gateway().Primary(), m.Gateway().Backup()} {
			with := driverConfig(cfg, account)

			driver, err := drivers.Of(with.Driver)
			if err != nil {
				continue // there is no backup, or checkDrivers says what is wrong
			}

			if can, ok := driver.Capabilities(with).Of(m); ok {
				offer.Accounts = append(offer.Accounts, account)
				if !account.IsBackup() {
					offer.Terms = can
				}
			}
		}

		if offer.Terms.Method != "" {
			all = append(all, offer)
		}
	}

	return all
}

// terms are the bounds by which the store refuses payments.
func (m methods) terms() models.Methods {
	terms := models.Methods{}
	for _, offer := range m {
		terms[offer.Method] = models.MethodTerms{
			MinAmount: offer.Terms.MinAmount, MaxAmount: offer.Terms.MaxAmount, MaxTimeToPay: offer.Terms.MaxTimeToPay,
		}
	}

	return terms
}
