package hyperpay

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

// CreateRefund implements gateways.Gateway. A refund is of a payment, whose id is looked up first, and a repeated one is another
// refund: after an unknown outcome ReadRefund finds it by its reference. Our reason is not sent, since the company has no field for it.
func (d *Driver) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	entity, err := d.entity(r.Checkout.Method)
	if err != nil {
		return gateways.Refund{}, err
	}

	amount, err := amountText(r.Amount)
	if err != nil || !models.SameCurrency(r.Currency, models.Currency) {
		return gateways.Refund{}, unsendable("the amount or the currency is not one that the company takes")
	}

	payment, err := d.paymentID(ctx, entity, r.Checkout)
	if err != nil {
		return gateways.Refund{}, err
	}

	var answer entry

	err = d.call(ctx, request{method: http.MethodPost, path: "/v1/payments/" + payment, form: url.Values{
		"entityId": {entity}, "paymentType": {"RF"}, "amount": {amount}, "currency": {models.Currency},
		"merchantTransactionId": {r.MerchantReference.String()},
	}}, &answer)
	if err != nil {
		return gateways.Refund{}, err
	}

	return d.sent(r, payment, &answer)
}

// sent reads the answer to a refund.
func (d *Driver) sent(r gateways.RefundRequest, payment string, e *entry) (gateways.Refund, error) {
	switch e.outcome() {
	case success, review, pending, waiting:
	case noPayment: // it is the payment that the company does not know
		return gateways.Refund{}, &gateways.Error{Kind: gateways.KindRejected, Code: e.Result.Code, Message: e.Result.words()}
	case uncertain, rejected, busy, broken, noSession, chargedBack, throttled, unauthorized:
		return gateways.Refund{}, refusalOf(e.Result)
	}

	if !e.isTransaction() || e.PaymentType != "RF" || e.ReferencedID != "" && e.ReferencedID != payment ||
		e.Reference != "" && e.Reference != r.MerchantReference.String() {
		return gateways.Refund{}, httpcall.BadAnswer("the refund in the answer is not the one that was asked for")
	}

	return d.refund(r.Ref(), e)
}

// ReadRefund implements gateways.Gateway.
func (d *Driver) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	entity, err := d.entity(r.Checkout.Method)
	if err != nil {
		return gateways.Refund{}, err
	}

	if r.ID != "" {
		return d.readRefund(ctx, entity, r)
	}

	entries, err := d.report(ctx, entity, r.MerchantReference, "RF")
	if err != nil {
		return gateways.Refund{}, err
	}

	best := furthest(entries)
	if best == nil {
		return gateways.Refund{}, notFound(r.MerchantReference)
	}

	payment, known := r.Checkout.PaymentID, r.Checkout.PaymentID != ""
	if !known {
		payment, known = d.payments.get(r.Checkout.MerchantReference)
	}

	if known && best.ReferencedID != "" && best.ReferencedID != payment {
		return gateways.Refund{}, httpcall.BadAnswer("the refund in the answer is of another payment")
	}

	return d.refund(r, best)
}

func (d *Driver) readRefund(ctx context.Context, entity string, r gateways.RefundRef) (gateways.Refund, error) {
	var answer reportAnswer

	err := d.call(ctx, request{
		method: http.MethodGet, path: "/v1/query/" + url.PathEscape(r.ID), query: url.Values{"entityId": {entity}},
	}, &answer)
	if err != nil {
		return gateways.Refund{}, err
	}

	e := &answer.entry

	if answer.Payments != nil && len(*answer.Payments) == 1 {
		e = &(*answer.Payments)[0]
	}

	switch {
	case e.outcome() == noPayment && !e.isTransaction():
		return gateways.Refund{}, notFound(r.MerchantReference)
	case !e.isTransaction():
		return gateways.Refund{}, d.unanswered(answer.Result)
	case e.ID != r.ID || e.PaymentType != "RF" || e.Reference != r.MerchantReference.String():
		return gateways.Refund{}, httpcall.BadAnswer("the refund in the answer is not the one that was asked for")
	}

	return d.refund(r, e)
}

// refund is how a refund stands. A declined one has no amount: then it is that of the request.
func (d *Driver) refund(r gateways.RefundRef, e *entry) (gateways.Refund, error) {
	if err := d.genuine(e); err != nil {
		return gateways.Refund{}, err
	}

	f := gateways.Refund{
		ID: e.ID, CheckoutID: r.Checkout.ID, MerchantReference: r.MerchantReference, Amount: r.Amount, Currency: r.Currency,
		Status: gateways.RefundFailed, FailureReason: e.Result.words(),
	}

	switch o := e.outcome(); {
	case o.tookMoney():
		f.Status, f.FailureReason = gateways.RefundSucceeded, ""
	case o == pending, o == waiting:
		f.Status, f.FailureReason = gateways.RefundPending, ""
	case o == uncertain:
		return gateways.Refund{}, &gateways.Error{Kind: gateways.KindUnknown, Code: e.Result.Code, Message: e.Result.words()}
	default:
		return f, nil
	}

	var err error

	f.Amount, f.Currency, err = e.money()

	return f, err
}

// paymentID is the id of the payment of a checkout, by which alone it can be given back. A payment that is not found is a refusal,
// unless the report may still show it: then KindUnknown, and the refund is sent later.
func (d *Driver) paymentID(ctx context.Context, entity string, r gateways.CheckoutRef) (string, error) {
	if paymentForm.MatchString(r.PaymentID) { // a reference may have several
		return r.PaymentID, nil
	}

	if id, ok := d.payments.get(r.MerchantReference); ok {
		return id, nil
	}

	found, err := d.findPayment(ctx, entity, r)
	if err != nil {
		return "", err
	}

	if err := d.genuine(found); err != nil {
		return "", err
	}

	d.payments.put(r.MerchantReference, found.ID)

	return found.ID, nil
}

// findPayment asks about the checkout while its id is good, which lags behind nothing, and then the report.
func (d *Driver) findPayment(ctx context.Context, entity string, r gateways.CheckoutRef) (*entry, error) {
	unpaid := &gateways.Error{Kind: gateways.KindRejected, Code: "not_paid", Message: "the company has no payment of the checkout"}

	if r.ID != "" && !d.isOver(r) {
		status, err := d.status(ctx, entity, r)

		switch {
		case err == nil && status.outcome().tookMoney():
			return status, nil
		case err == nil:
			return nil, unpaid
		case !saysNothing(err):
			return nil, err
		}
	}

	entries, err := d.report(ctx, entity, r.MerchantReference, "DB")
	if err != nil {
		return nil, err
	}

	best := furthest(entries)

	switch {
	case best != nil && best.outcome().tookMoney():
		return best, nil
	case best == nil && !d.isOver(r):
		return nil, &gateways.Error{Kind: gateways.KindUnknown, Code: "not_reported", Message: "the report does not show the payment yet"}
	default:
		return nil, unpaid
	}
}

// maxPayments bounds what is remembered.
const maxPayments = 4096

// paymentIDs remembers the ids of payments by our references: they never change, and each question about one costs one of the two
// that the company answers in a minute.
type paymentIDs struct {
	mu    sync.Mutex
	known map[uuid.UUID]string
}

func newPaymentIDs() *paymentIDs { return &paymentIDs{known: map[uuid.UUID]string{}} }

func (p *paymentIDs) get(reference uuid.UUID) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	id, ok := p.known[reference]

	return id, ok
}

func (p *paymentIDs) put(reference uuid.UUID, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if len(p.known) >= maxPayments {
		clear(p.known)
	}

	p.known[reference] = id
}
