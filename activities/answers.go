package activities

import (
	"context"
	"time"

	"rihla/gateways"
	"rihla/internal/inbox"
	"rihla/internal/store"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Answers brings into the books what gateways answer to a question that no workflow asked (rihla reconcile). It is the same way that polls
// and comparisons take: an answer becomes an event, once, and the workflows settle it.
type Answers struct {
	Store *store.Store
	Now   func() time.Time
}

// RefOf names the checkout of an attempt.
func RefOf(t *models.PaymentTransaction) gateways.CheckoutRef { return refOf(t) }

// RefundRefOf names a refund of the payment t.
func RefundRefOf(r *models.Refund, t *models.PaymentTransaction) gateways.RefundRef {
	return refundRefOf(r, t)
}

// Checkout stores what the gateway said of an attempt's checkout; an open one leaves nothing.
func (a Answers) Checkout(ctx context.Context, t *models.PaymentTransaction, c gateways.Checkout) (inbox.Stored, error) {
	return recordAnswer(ctx, a.Store, t, c, a.Now())
}

// Close closes the open checkout of an attempt that has ended, and returns how it stands then.
func (a Answers) Close(
	ctx context.Context, g gateways.Gateway, t *models.PaymentTransaction, c gateways.Checkout,
) (gateways.Checkout, error) {
	return cancelOpenCheckout(ctx, g, t, c)
}

// Taken compares a payment of which money was taken with its gateway: refunds that were not ordered here, and second payments.
func (a Answers) Taken(ctx context.Context, g gateways.Gateway, t *models.PaymentTransaction) (refunds.Compared, error) {
	return comparePayment(ctx, a.Store, g, t)
}

// Refund stores what the gateway decided about a refund. One that failed after it had counted as made takes that back.
func (a Answers) Refund(
	ctx context.Context, r *models.Refund, t *models.PaymentTransaction, sent gateways.Refund,
) (inbox.Stored, error) {
	kind := models.EventRefundSucceeded
	if sent.Status == gateways.RefundFailed {
		kind = models.EventRefundFailed
	}

	return storeRefundAnswer(ctx, a.Store, r, t, sent, kind, a.Now())
}
