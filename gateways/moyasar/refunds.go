package moyasar

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

// A refund has no id at the company, and no list: the sum that a payment has given back is all there is
// (docs.moyasar.com/api/payments/05-refund-payment). So refunds of one checkout go one at a time, and what was given back beyond
// RefundedBefore is the refund.

// CreateRefund implements gateways.Gateway with a read and one POST. What was given back since the refund was ordered may be this
// very refund, sent by a call whose answer was lost: then nothing is sent, and KindInProgress has the caller ask ReadRefund, which
// tells. KindRejected would be final, and is not true of a refund that was made.
func (d *Driver) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	c, err := d.read(ctx, r.Checkout)

	switch {
	case gateways.KindOf(err) == gateways.KindNotFound && err != nil:
		return gateways.Refund{}, refusal("not_found", "the company has no such invoice")
	case err != nil:
		return gateways.Refund{}, err
	}

	from, err := c.refundable(r)
	if err != nil {
		return gateways.Refund{}, err
	}

	amount, err := toMinor(r.Amount, r.Currency)
	if err != nil {
		return gateways.Refund{}, refusal("amount", err.Error())
	}

	var after payment

	err = d.call(ctx, request{
		method: http.MethodPost, path: "/v1/payments/" + url.PathEscape(from.ID) + "/refund",
		body: struct {
			Amount int64 `json:"amount"`
		}{amount},
	}, &after)
	if err != nil {
		return gateways.Refund{}, err
	}

	if after.ID != from.ID || !models.SameCurrency(after.Currency, from.Currency) || after.Refunded != from.Refunded+amount {
		return gateways.Refund{}, httpcall.BadAnswer("the payment in the answer has not given back what was asked for")
	}

	return refundOf(c, r.MerchantReference, r.Amount), nil
}

// refundable is the payment that can give the amount back.
func (r *reading) refundable(want gateways.RefundRequest) (paid, error) {
	switch {
	case want.Checkout.MerchantReference != uuid.Nil && r.MerchantReference != want.Checkout.MerchantReference:
		return paid{}, refusal("other_checkout", "the invoice has the reference of another payment")
	case len(r.payments) == 0 && r.voided:
		return paid{}, refusal("payment_voided", "the payment was voided: its money went back already")
	case len(r.payments) == 0:
		return paid{}, refusal("not_paid", "the invoice has no payment that took money")
	case !models.SameCurrency(r.Currency, want.Currency):
		return paid{}, refusal("currency", "the invoice was paid in another currency")
	case !r.RefundedAmount.Equal(want.RefundedBefore):
		return paid{}, &gateways.Error{
			Kind: gateways.KindInProgress, Code: gateways.CodeRefundedMeanwhile,
			Message: "what was given back is not what it was when the refund was ordered; it may be this refund",
		}
	}

	p := r.payments[0]

	switch {
	case p.Source.Type == sourceSadad:
		return paid{}, refusal("sadad", "the invoice was paid by SADAD, which gives nothing back")
	case p.amount.Sub(p.refunded).Cmp(want.Amount) < 0:
		return paid{}, refusal("refund_exceeds_paid", "the payment of the invoice has not so much left")
	default:
		return p, nil
	}
}

// ReadRefund implements gateways.Gateway: the refund is what was given back beyond RefundedBefore. An amount that is not the one
// that was ordered is returned as it is, for a person to look at; it is negative where less was given back than before.
func (d *Driver) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	c, err := d.read(ctx, r.Checkout)
	if err != nil {
		return gateways.Refund{}, err
	}

	since := c.RefundedAmount.Sub(r.RefundedBefore)
	if since.IsZero() || len(c.payments) == 0 {
		return gateways.Refund{}, &gateways.Error{
			Kind: gateways.KindNotFound, Code: "not_found", Message: "nothing was given back since the refund was ordered",
		}
	}

	return refundOf(c, r.MerchantReference, since), nil
}

func refundOf(c reading, reference uuid.UUID, amount models.Money) gateways.Refund {
	return gateways.Refund{
		CheckoutID: c.ID, MerchantReference: reference, Amount: amount, Currency: c.Currency, Status: gateways.RefundSucceeded,
	}
}
