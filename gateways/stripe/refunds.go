package stripe

import (
	"context"
	"errors"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

var (
	errTooMany = errors.New("stripe: too many sessions were made in the time to look through")
	errForeign = errors.New("stripe: the list has something else in it")
)

// CreateRefund implements gateways.Gateway. The key is our reference; but keys are forgotten after a day, and then the same request would
// give the money back again. So the payment's refunds are looked through first: they are needed anyway, as the session is, for the
// payment intent that a refund is of.
func (d *Driver) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	amount, err := toMinor(r.Amount, r.Currency)
	if err != nil {
		return gateways.Refund{}, unsendable(err.Error())
	}

	payment, err := d.paymentOf(ctx, r.Checkout)
	if gateways.KindOf(err) == gateways.KindNotFound && err != nil {
		return gateways.Refund{}, unsendable("there is no such payment") // lists lag behind nothing: there never will be
	}

	if err != nil {
		return gateways.Refund{}, err
	}

	made, err := d.findRefund(ctx, r.Ref(), payment)
	if gateways.KindOf(err) != gateways.KindNotFound || err == nil {
		return made, err
	}

	made, err = d.sendRefund(ctx, r, payment, amount, "refund/"+r.MerchantReference.String())
	if !isReplayed(err) {
		return made, err
	}

	if made, err = d.findRefund(ctx, r.Ref(), payment); gateways.KindOf(err) != gateways.KindNotFound || err == nil {
		return made, err
	}

	return d.sendRefund(ctx, r, payment, amount, "refund/"+r.MerchantReference.String()+"/2")
}

func (d *Driver) sendRefund(
	ctx context.Context, r gateways.RefundRequest, payment payment, amount int64, key string,
) (gateways.Refund, error) {
	params := &sdk.RefundCreateParams{
		PaymentIntent: sdk.String(payment.intent), Amount: new(amount),
		Metadata: map[string]string{metaReference: r.MerchantReference.String()},
	}
	params.SetIdempotencyKey(key)

	var made *sdk.Refund

	err := d.call(ctx, gateways.KindRejected, func(ctx context.Context) (err error) {
		made, err = d.client.V1Refunds.Create(ctx, params)

		return err
	})
	if err != nil {
		return gateways.Refund{}, err
	}

	refund, err := refundOf(made, payment)
	if err == nil && (refund.MerchantReference != r.MerchantReference || !refund.Amount.Equal(r.Amount)) {
		return gateways.Refund{}, httpcall.BadAnswer("the refund in the answer does not match the request")
	}

	return refund, err
}

// ReadRefund implements gateways.Gateway: by the refund's id, or among those of the payment by our reference.
func (d *Driver) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	if r.ID == "" {
		payment, err := d.paymentOf(ctx, r.Checkout)
		if err != nil {
			if gateways.KindOf(err) == gateways.KindRejected { // what was not paid has no refunds
				return gateways.Refund{}, notFound()
			}

			return gateways.Refund{}, err
		}

		return d.findRefund(ctx, r, payment)
	}

	if !isID(r.ID, "re_") && !isID(r.ID, "pyr_") {
		return gateways.Refund{}, notFound()
	}

	var found *sdk.Refund

	err := d.call(ctx, gateways.KindNotFound, func(ctx context.Context) (err error) {
		found, err = d.client.V1Refunds.Retrieve(ctx, r.ID, &sdk.RefundRetrieveParams{})

		return err
	})
	if err != nil {
		return gateways.Refund{}, err
	}

	if found.ID != r.ID {
		return gateways.Refund{}, httpcall.BadAnswer("the refund in the answer is another one")
	}

	return refundOf(found, payment{session: r.Checkout.ID})
}

// payment is what refunds belong to.
type payment struct{ session, intent string }

// paymentOf finds the payment of a checkout. Errors: KindRejected for one that is not paid, KindNotFound.
func (d *Driver) paymentOf(ctx context.Context, r gateways.CheckoutRef) (payment, error) {
	if r.ID == "" {
		found, err := d.find(ctx, r)
		if err != nil {
			return payment{}, err
		}

		r.ID = found.ID
	}

	s, err := d.session(ctx, r.ID, nil)
	if err != nil {
		return payment{}, err
	}

	c, err := d.checkoutOf(s)

	switch {
	case err != nil:
		return payment{}, err
	case c.Status != gateways.CheckoutPaid:
		return payment{}, &gateways.Error{Kind: gateways.KindRejected, Code: "not_paid", Message: "the session is " + string(c.Status)}
	case s.PaymentIntent == nil || !isID(s.PaymentIntent.ID, "pi_"):
		return payment{}, httpcall.BadAnswer("the paid session has no payment intent")
	default:
		return payment{session: s.ID, intent: s.PaymentIntent.ID}, nil
	}
}

// findRefund looks through the refunds of a payment; the list lags behind nothing.
func (d *Driver) findRefund(ctx context.Context, r gateways.RefundRef, of payment) (gateways.Refund, error) {
	params := &sdk.RefundListParams{PaymentIntent: sdk.String(of.intent)}
	params.Limit = sdk.Int64(pageSize)

	var found *sdk.Refund

	err := d.call(ctx, gateways.KindUnknown, func(ctx context.Context) error {
		for one, err := range d.client.V1Refunds.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}

			if one == nil || one.Object != "refund" {
				return errForeign
			}

			if one.Metadata[metaReference] == r.MerchantReference.String() {
				found = one

				return nil
			}
		}

		return nil
	})

	switch {
	case err != nil:
		return gateways.Refund{}, err
	case found == nil:
		return gateways.Refund{}, notFound()
	default:
		return refundOf(found, of)
	}
}

// refundStates is the table of states (docs.stripe.com/refunds). One that succeeded can fail later.
var refundStates = map[sdk.RefundStatus]gateways.RefundStatus{
	sdk.RefundStatusSucceeded:      gateways.RefundSucceeded,
	sdk.RefundStatusPending:        gateways.RefundPending,
	sdk.RefundStatusRequiresAction: gateways.RefundPending,
	sdk.RefundStatusFailed:         gateways.RefundFailed,
	sdk.RefundStatusCanceled:       gateways.RefundFailed,
}

func refundOf(r *sdk.Refund, of payment) (gateways.Refund, error) {
	reference, err := uuid.Parse(r.Metadata[metaReference])
	status, known := refundStates[r.Status]

	switch {
	case r.Object != "refund" || r.ID == "" || r.Amount <= 0 || !known:
		return gateways.Refund{}, httpcall.BadAnswer("the answer is no refund")
	case err != nil:
		return gateways.Refund{}, httpcall.BadAnswer("the refund has no reference of ours")
	case of.intent != "" && (r.PaymentIntent == nil || r.PaymentIntent.ID != of.intent):
		return gateways.Refund{}, httpcall.BadAnswer("the refund is of another payment")
	}

	refund := gateways.Refund{ID: r.ID, CheckoutID: of.session, MerchantReference: reference, Status: status}
	refund.Amount, refund.Currency = fromMinor(r.Amount, string(r.Currency))

	if status == gateways.RefundFailed {
		refund.FailureReason = httpcall.Plain(string(r.FailureReason), maxWords)
		if refund.FailureReason == "" {
			refund.FailureReason = string(r.Status)
		}
	}

	return refund, nil
}
