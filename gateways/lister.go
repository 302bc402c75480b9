package gateways

import (
	"context"
	"time"
)

// CheckoutLister is a driver whose company lists checkouts by the time at which they were made. A database that was restored to an earlier
// moment has no attempt for what was made after it, so that only a list shows it. Drivers without it cannot list (docs/gateways.md).
type CheckoutLister interface {
	// ListCheckouts is a page of the checkouts that were made at or after since, and where the next page begins, "" after the last one. The
	// first page is that of from "". One without a reference of ours has MerchantReference uuid.Nil: it is none of ours.
	ListCheckouts(ctx context.Context, since time.Time, from string) (page []Checkout, next string, err error)
}

// RefundLister is the same for refunds.
type RefundLister interface {
	ListRefunds(ctx context.Context, since time.Time, from string) (page []ListedRefund, next string, err error)
}

// ListedRefund is a refund as a list shows it. Of CheckoutID and PaymentID one may be empty: companies name the payment by either. A refund
// that was made in the company's dashboard has MerchantReference uuid.Nil.
type ListedRefund struct {
	Refund

	PaymentID string // as of Checkout
}
