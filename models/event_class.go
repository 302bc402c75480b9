package models

import "github.com/google/uuid"

// EventClass is what an event can still change, decided when it is stored.
type EventClass struct {
	Delivery Delivery
	Deliver  bool         // a workflow has to apply it
	Outcome  EventOutcome // what became of it at once; empty: its workflow decides
	Repeated bool         // the state already says so
	NoMatter bool         // it is stored and ignored, whatever it is about
}

// Classify decides before an event is stored what it can still change, so that the hundredth delivery of a settled payment costs one
// INSERT and no workflow. t and refund are what it is about, t nil when that is nothing we know; the ids of both are in e. It is pure;
// Judge decides again under the row lock.
func Classify(t *PaymentTransaction, refund *Refund, e *WebhookEvent) EventClass {
	switch {
	case e.Type.IsAboutDispute() && t != nil:
		return EventClass{Outcome: OutcomeIncident}
	case !e.Type.IsAboutRefund() && !e.Type.IsAboutPayment() && !e.Type.IsAboutDispute():
		// A type that we do not know is stored and ignored, whatever it is about (rules: webhooks.unknown-type). So is a notice.
		return EventClass{Outcome: OutcomeIgnored, NoMatter: true}
	case t == nil:
		return EventClass{Outcome: OutcomeIncident}
	case e.Type.IsAboutRefund() && e.RefundID == nil:
		// Made outside of the service: it moves nothing by itself, the gateway's answer does.
		return EventClass{Outcome: OutcomeIgnored, NoMatter: true}
	}

	class := EventClass{Delivery: Delivery{EventID: e.ID, TransactionID: t.ID, Channel: e.Channel}}
	if t.BookingID != nil {
		class.Delivery.BookingID = *t.BookingID
	}

	if e.Type.IsAboutRefund() {
		class.ofRefund(refund, e)
	} else {
		class.ofPayment(t, e)
	}

	return class
}

// ofRefund classifies an event about one of our refunds. No gateway was asked for a manual refund, or for one that waits for an approval:
// an event about one is for a person to look at.
func (c *EventClass) ofRefund(r *Refund, e *WebhookEvent) {
	byGateway := r.Channel == RefundByGateway
	c.Delivery.RefundID = *e.RefundID

	switch {
	case byGateway && r.Status == RefundPending && !r.ApprovalPending:
		c.Deliver = true
	case byGateway && e.Type.RefundStatus() == r.Status:
		c.Outcome, c.Repeated = OutcomeDuplicate, true
	case r.IsTakenBackBy(e):
		// It moves money: the refund's settlement books it, under the lock of its payment.
		c.Deliver = true
	default:
		c.Outcome = OutcomeIncident
	}
}

func (c *EventClass) ofPayment(t *PaymentTransaction, e *WebhookEvent) {
	outcome := Judge(t, e).Outcome
	ended := t.Status != TransactionPending
	settled := outcome == OutcomeDuplicate || outcome == OutcomeIgnored

	if ended && settled && !IsLateSuccess(t, e) {
		c.Outcome, c.Repeated = outcome, true

		return
	}

	c.Deliver, c.Delivery.Ended = true, ended
}

// IsTakenBackBy reports an event by which a gateway takes back that it had made the refund: the money is in the account there again.
func (r *Refund) IsTakenBackBy(e *WebhookEvent) bool {
	same := e.Amount != nil && e.Amount.Equal(r.Amount) && e.Currency == r.Currency

	return e.Revises && e.Type == EventRefundFailed && r.Status == RefundSucceeded && r.Channel == RefundByGateway && same
}

// PaidOtherwise reports a success that names another payment at the gateway than the one that has settled t, or will: the checkout may
// have been paid twice. Gateways that have no ids of payments name the checkout alone.
func PaidOtherwise(t *PaymentTransaction, e *WebhookEvent) bool {
	if e.Type != EventPaymentSucceeded || t.Reference == nil {
		return false
	}

	settledBy, said := *t.Reference, e.CheckoutID
	if t.GatewayPaymentID != nil {
		settledBy = *t.GatewayPaymentID
	}

	if e.GatewayPaymentID != "" {
		said = e.GatewayPaymentID
	}

	// Of an attempt that is open the first id that is heard is kept; it is no news.
	return said != settledBy && (t.GatewayPaymentID != nil || t.TakenAt() != nil)
}

// MayBeOpen reports an event of which the gateway names the attempt and its checkout: it can be stored in one statement with others
// (inbox.Store.StoreOpenEvents).
func (e *WebhookEvent) MayBeOpen() bool {
	return e.Type.IsAboutPayment() && !e.Hint && e.CheckoutID != "" && uuid.Validate(e.MerchantReference) == nil
}
