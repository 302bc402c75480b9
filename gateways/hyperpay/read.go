package hyperpay

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

// ReadCheckout implements gateways.Gateway. The status of a checkout is asked for by its id while that is good, and the report by our
// reference when it is not, or when the id was asked about too often: after half an hour the company says of every checkout, paid or
// not, that there is none. Unpaid is one only when the report has no payment either, and its time is over with what the report lags.
func (d *Driver) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	entity, err := d.entity(r.Method)
	if err != nil {
		return gateways.Checkout{}, err
	}

	if r.ID == "" {
		return d.readReport(ctx, entity, r, notFound(r.MerchantReference))
	}

	status, err := d.status(ctx, entity, r)
	if err != nil {
		if saysNothing(err) {
			return d.readReport(ctx, entity, r, err)
		}

		return gateways.Checkout{}, err
	}

	switch o := status.outcome(); {
	case o.tookMoney() && r.PaymentID == "":
		return d.paid(ctx, entity, r, status)
	case o.tookMoney():
		return d.settled(ctx, entity, r, status)
	case !d.isOver(r):
		return d.openAfter(r, status), nil // a decline leaves it to another card
	default:
		return d.readReport(ctx, entity, r, nil)
	}
}

// saysNothing reports an answer to a question about a checkout that leaves it to the report: its time there is over, it was asked about
// too often, or the question was refused.
func saysNothing(err error) bool {
	kind := gateways.KindOf(err)

	return kind == gateways.KindNotFound || kind == gateways.KindRateLimited || kind == gateways.KindRejected
}

// status asks about a checkout by its id. Errors: KindNotFound when its time there is over, paid or not, or never was.
func (d *Driver) status(ctx context.Context, entity string, r gateways.CheckoutRef) (*entry, error) {
	var status entry

	err := d.call(ctx, request{
		method: http.MethodGet, path: "/v1/checkouts/" + url.PathEscape(r.ID) + "/payment", query: url.Values{"entityId": {entity}},
	}, &status)
	if err != nil {
		return nil, err
	}

	switch o := status.outcome(); {
	case o == noSession:
		return nil, notFound(r.MerchantReference)
	case o == pending || o == waiting:
		return &status, nil
	case !status.isTransaction():
		return nil, d.unanswered(status.Result)
	case o.tookMoney() && (status.PaymentType != "DB" || status.Reference != r.MerchantReference.String()):
		return nil, httpcall.BadAnswer("the payment in the answer is not the one that was asked for")
	default:
		return &status, nil
	}
}

// unanswered is a question that was refused, or answered with a success of nothing.
func (d *Driver) unanswered(r result) error {
	if e := refusalOf(r); e.Kind != gateways.KindUnknown {
		return e
	}

	return httpcall.BadAnswer("the answer has no transaction")
}

// readReport finds the payment by our reference. otherwise is what comes of a report that has none while the time to pay may not be
// over, or while the report may lag; nil is an open checkout.
func (d *Driver) readReport(
	ctx context.Context, entity string, r gateways.CheckoutRef, otherwise error,
) (gateways.Checkout, error) {
	entries, err := d.report(ctx, entity, r.MerchantReference, "DB")
	if err != nil {
		return gateways.Checkout{}, err
	}

	best, over := furthest(entries), d.isOver(r)
	if named := of(entries, r.PaymentID); named != nil {
		best = named
	}

	switch {
	case best == nil && r.ID == "":
		return gateways.Checkout{}, otherwise // made or not, its id was never shown to anybody
	case best == nil && over:
		return d.closed(r, gateways.CheckoutExpired, nil), nil
	case best == nil && otherwise != nil:
		return gateways.Checkout{}, otherwise
	case best == nil:
		return d.open(r), nil
	}

	if r.ID == "" {
		if r.ID = best.checkoutID(); r.ID == "" {
			r.ID = best.ID
		}
	}

	switch o := best.outcome(); {
	case o.tookMoney() && r.PaymentID != "" && best.ID != r.PaymentID:
		return gateways.Checkout{}, httpcall.BadAnswer("the report does not show the payment that is meant")
	case o.tookMoney():
		return d.paidAmong(ctx, entity, r, best, entries)
	case !over && o == rejected:
		return d.openAfter(r, best), nil
	case !over, o == waiting, o == pending && d.now().Before(d.overAt(r).Add(pendingFor)):
		return d.open(r), nil
	case o == pending:
		return d.closed(r, gateways.CheckoutExpired, nil), nil
	case o == uncertain:
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindUnknown, Code: best.Result.Code, Message: best.Result.words()}
	default:
		return d.closed(r, gateways.CheckoutFailed, best), nil
	}
}

// report are the transactions of one type with our reference; none is no error.
func (d *Driver) report(ctx context.Context, entity string, reference uuid.UUID, kind string) ([]entry, error) {
	var answer reportAnswer

	err := d.call(ctx, request{
		method: http.MethodGet, path: "/v1/query",
		query: url.Values{"entityId": {entity}, "merchantTransactionId": {reference.String()}},
	}, &answer)
	if err != nil {
		return nil, err
	}

	switch {
	case answer.outcome() == noPayment:
		return nil, nil
	case !reportedCode.MatchString(answer.Result.Code):
		return nil, d.unanswered(answer.Result)
	case answer.Payments == nil:
		return nil, httpcall.BadAnswer("the report has no payments")
	}

	var found []entry

	for _, e := range *answer.Payments {
		if !e.isTransaction() || !resultCode.MatchString(e.Result.Code) {
			return nil, httpcall.BadAnswer("the report has something that is no transaction")
		}

		if e.Reference == reference.String() && e.PaymentType == kind {
			found = append(found, e)
		}
	}

	return found, nil
}

// settled is a checkout of which the payment is known that settled it. The status tells of one payment, be it another one; the report
// shows them all. While it shows nothing, what the status tells of the payment is all there is.
func (d *Driver) settled(ctx context.Context, entity string, r gateways.CheckoutRef, status *entry) (gateways.Checkout, error) {
	entries, err := d.report(ctx, entity, r.MerchantReference, "DB")

	switch {
	case err != nil && status.ID == r.PaymentID: // the report is asked twice in a minute, and no more
		c, err := d.paid(ctx, entity, r, status)
		c.OthersUnread = true

		return c, err
	case err != nil:
		return gateways.Checkout{}, err
	}

	if of(entries, status.ID) == nil {
		entries = append(entries, *status)
	}

	named := of(entries, r.PaymentID)
	if named == nil || !named.outcome().tookMoney() {
		return gateways.Checkout{}, httpcall.BadAnswer("the report does not show the payment that is meant")
	}

	return d.paidAmong(ctx, entity, r, named, entries)
}

// paidAmong is paid, with the other payments of our reference that took money.
func (d *Driver) paidAmong(
	ctx context.Context, entity string, r gateways.CheckoutRef, by *entry, entries []entry,
) (gateways.Checkout, error) {
	c, err := d.paid(ctx, entity, r, by)
	if err != nil {
		return c, err
	}

	for i := range entries {
		e := &entries[i]
		if e.ID == by.ID || !e.outcome().tookMoney() {
			continue
		}

		if err := d.genuine(e); err != nil {
			return gateways.Checkout{}, err
		}

		amount, currency, err := e.money()
		if err != nil {
			return gateways.Checkout{}, err
		}

		other := gateways.Debit{PaymentID: storable(e.ID), Amount: amount, Currency: currency}
		if at, ok := e.at(); ok {
			other.PaidAt = &at
		}

		c.Others = append(c.Others, other)
	}

	return c, nil
}

// of is the entry with the id; nil when there is none.
func of(entries []entry, id string) *entry {
	for i := range entries {
		if entries[i].ID == id {
			return &entries[i]
		}
	}

	return nil
}

// paid is a checkout whose money was taken.
func (d *Driver) paid(ctx context.Context, entity string, r gateways.CheckoutRef, e *entry) (gateways.Checkout, error) {
	if err := d.genuine(e); err != nil {
		return gateways.Checkout{}, err
	}

	amount, currency, err := e.money()
	if err != nil {
		return gateways.Checkout{}, err
	}

	if r.PaymentID == "" {
		d.payments.put(r.MerchantReference, e.ID)
	}

	c := d.closed(r, gateways.CheckoutPaid, e)
	c.Amount, c.Currency, c.FailureReason, c.Method = amount, currency, "", e.paidBy()
	c.PaymentID = storable(e.ID) // a chargeback names it, and perhaps nothing else
	c.RefundedAmount, c.RefundsUnread = d.refunded(ctx, entity, e.ID)

	// Should the time of a status be that of the answer, it is no later than the moment that counts without it.
	if at, ok := e.at(); ok {
		c.PaidAt = &at
	}

	return c, nil
}

// refunded is what has been given back of a payment, as the report tells it; unread where it does not, or not yet. That the money was
// taken must not get lost with an answer about what went back.
func (d *Driver) refunded(ctx context.Context, entity, payment string) (sum models.Money, unread bool) {
	var answer reportAnswer

	err := d.call(ctx, request{
		method: http.MethodGet, path: "/v1/query/" + payment,
		query: url.Values{"entityId": {entity}, "includeLinkedTransactions": {"true"}},
	}, &answer)
	if err != nil || answer.Payments == nil {
		return sum, true
	}

	for _, e := range *answer.Payments {
		o := e.outcome()
		back := e.PaymentType == "RF" || e.PaymentType == "RV"

		if !back || e.ReferencedID != payment || !o.tookMoney() && o != pending && o != waiting {
			continue
		}

		if amount, _, err := e.money(); err == nil {
			sum = sum.Add(amount)
		}
	}

	return sum, false
}

func (d *Driver) open(r gateways.CheckoutRef) gateways.Checkout {
	return d.closed(r, gateways.CheckoutOpen, nil)
}

// openAfter is an open checkout whose last try may have been declined.
func (d *Driver) openAfter(r gateways.CheckoutRef, last *entry) gateways.Checkout {
	if last.PaymentType != "DB" || last.outcome() != rejected || last.Result.words() == "" {
		return d.open(r)
	}

	c := d.closed(r, gateways.CheckoutOpen, last)
	c.PaymentID = storable(last.ID)

	return c
}

// closed is the checkout in a state, with the word of the transaction that made it so.
func (d *Driver) closed(r gateways.CheckoutRef, status gateways.CheckoutStatus, by *entry) gateways.Checkout {
	c := gateways.Checkout{
		ID: r.ID, MerchantReference: r.MerchantReference, Status: status, Amount: r.Amount, Currency: r.Currency,
	}

	if by != nil {
		c.ResultCode, c.FailureReason = by.Result.Code, by.Result.words()
	}

	return c
}

// overAt is when a checkout cannot be paid any more, and the report has caught up with it.
func (d *Driver) overAt(r gateways.CheckoutRef) time.Time {
	opened := r.OpenedAt
	if opened.IsZero() {
		opened = r.CreatedAt.Add(openedAfter)
	}

	return opened.Add(sessionLife + d.lag)
}

func (d *Driver) isOver(r gateways.CheckoutRef) bool {
	known := !r.OpenedAt.IsZero() || !r.CreatedAt.IsZero()

	return known && !d.now().Before(d.overAt(r))
}

func notFound(reference uuid.UUID) *gateways.Error {
	return &gateways.Error{
		Kind: gateways.KindNotFound, Code: "not_found", Message: "the gateway knows nothing of reference " + reference.String(),
	}
}
