package bookstest

import "rihla/models"

// ByPolicy is a request for a refund by the cancellation policy.
func (b *Books) ByPolicy(tx models.PaymentTransaction) models.RefundRequest {
	r := b.Ask(tx, "")
	r.Type = models.RefundPolicy

	return r
}
