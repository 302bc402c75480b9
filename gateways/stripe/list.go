package stripe

import (
	"context"
	"time"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
)

var (
	_ gateways.CheckoutLister = (*Driver)(nil)
	_ gateways.RefundLister   = (*Driver)(nil)
)

// ListCheckouts implements gateways.CheckoutLister: the sessions that were made since (docs.stripe.com/api/checkout/sessions/list).
func (d *Driver) ListCheckouts(ctx context.Context, since time.Time, from string) ([]gateways.Checkout, string, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	params := &sdk.CheckoutSessionListParams{CreatedRange: &sdk.RangeQueryParams{GreaterThanOrEqual: since.Unix()}}
	page := paged(&params.ListParams, from)

	var listed []gateways.Checkout

	err := d.call(ctx, gateways.KindUnknown, func(ctx context.Context) error {
		for s, err := range d.client.V1CheckoutSessions.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}

			if !isSession(s) {
				return errForeign
			}

			one := gateways.Checkout{ID: s.ID}

			if _, err := uuid.Parse(s.ClientReferenceID); err == nil {
				if one, err = d.checkoutOf(s); err != nil {
					return err
				}
			}

			listed = append(listed, one)

			if page.full(s.ID) {
				return nil
			}
		}

		return nil
	})

	return listed, page.next, err
}

// ListRefunds implements gateways.RefundLister (docs.stripe.com/api/refunds/list).
func (d *Driver) ListRefunds(ctx context.Context, since time.Time, from string) ([]gateways.ListedRefund, string, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	params := &sdk.RefundListParams{CreatedRange: &sdk.RangeQueryParams{GreaterThanOrEqual: since.Unix()}}
	page := paged(&params.ListParams, from)

	var listed []gateways.ListedRefund

	err := d.call(ctx, gateways.KindUnknown, func(ctx context.Context) error {
		for r, err := range d.client.V1Refunds.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}

			if r == nil || r.Object != "refund" {
				return errForeign
			}

			listed = append(listed, listedRefund(r))

			if page.full(r.ID) {
				return nil
			}
		}

		return nil
	})

	return listed, page.next, err
}

// listedRefund reads a refund that may have been made in the dashboard: then it has no reference of ours.
func listedRefund(r *sdk.Refund) gateways.ListedRefund {
	one := gateways.ListedRefund{Refund: gateways.Refund{ID: r.ID, Status: refundStates[r.Status]}}
	one.Amount, one.Currency = fromMinor(r.Amount, string(r.Currency))

	if reference, err := uuid.Parse(r.Metadata[metaReference]); err == nil {
		one.MerchantReference = reference
	}

	if r.PaymentIntent != nil {
		one.PaymentID = r.PaymentIntent.ID
	}

	return one
}

// page ends the SDK's way through all pages after one.
type page struct {
	seen int
	next string
}

func paged(params *sdk.ListParams, from string) *page {
	params.Limit = sdk.Int64(pageSize)
	if from != "" {
		params.StartingAfter = sdk.String(from)
	}

	return &page{}
}

// full reports that the page has no further item; the next one begins behind id.
func (p *page) full(id string) bool {
	if p.seen++; p.seen < pageSize {
		return false
	}

	p.next = id

	return true
}
