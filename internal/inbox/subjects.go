package inbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/payments"
	"rihla/models"
)

// subject is what an event is about.
type subject struct {
	t       *models.PaymentTransaction // nil: nothing that we know on this channel
	refund  models.Refund              // of refund events about one of ours
	other   uuid.UUID                  // the attempt that has the event's checkout, when it is not t
	outside bool                       // a refund that is none of ours
}

// subjectOf finds it, and writes the ids of attempt and refund into the event. refunded: the event told of a refund.
func subjectOf(ctx context.Context, tx bun.Tx, e *models.WebhookEvent, refunded bool) (about subject, err error) {
	if about.t, about.refund, err = resolve(ctx, tx, e); err != nil {
		return about, err
	}

	if refunded && about.t == nil && about.refund.ID == uuid.Nil {
		about.outside = true

		if about.t, err = refundedPayment(ctx, tx, e); err != nil {
			return about, err
		}
	}

	about.other, err = payments.OtherOwner(ctx, tx, about.t, e)

	return about, err
}

// resolve finds the attempt that the event is about, and for refund events the refund, and writes their ids into the
// event. A nil attempt: there is no such thing on this channel.
func resolve(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) (*models.PaymentTransaction, models.Refund, error) {
	var (
		t      models.PaymentTransaction
		refund models.Refund
	)

	q := tx.NewSelect().Model(&t).Where("kind IN (?)", bun.List(models.Paying())).Where("channel = ?", e.Channel).Order("kind").Limit(1)

	reference, err := uuid.Parse(e.MerchantReference)

	switch {
	case e.MerchantReference == "" && e.CheckoutID != "" && !e.Type.IsAboutRefund() && !e.Type.IsAboutPayment():
		// Companies do not repeat our reference in every message. These move nothing, so that the payment's id will do for a checkout's.
		q = q.Where("(reference = ?0 OR gateway_payment_id = ?0)", e.CheckoutID)
	case err != nil:
		return nil, refund, nil //nolint:nilerr // a reference that is not ours is an answer, not an error
	case e.Type.IsAboutRefund():
		if err := tx.NewSelect().Model(&refund).Where("id = ?", reference).Scan(ctx); err != nil {
			return nil, refund, ignoreNoRows(err)
		}

		q = q.Where("id = ?", refund.PaymentTransactionID)
		if e.CheckoutID != "" { // not every company repeats it with a refund
			q = q.Where("reference = ?", e.CheckoutID)
		}
	default:
		q = q.Where("id = ?", reference)
	}

	if err := q.Scan(ctx); err != nil {
		return nil, refund, ignoreNoRows(err)
	}

	// Another checkout than the attempt's own is one that we do not know, unless it is that of another attempt (payments.OtherOwner).
	if t.Reference != nil && e.CheckoutID != "" && *t.Reference != e.CheckoutID && !t.IsNamedBy(e) {
		known, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("kind = ?", models.KindPayment).
			Where("gateway = ?", t.Gateway).Where("reference = ?", e.CheckoutID).Exists(ctx)
		if err != nil || !known {
			return nil, refund, err
		}
	}

	e.TransactionID = &t.ID
	if e.Type.IsAboutRefund() {
		e.RefundID = &refund.ID
	}

	return &t, refund, keepPaymentID(ctx, tx, &t, e)
}

// ignoreNoRows is nil for "no rows", where finding nothing is a valid result.
func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}

	return fmt.Errorf("resolve event: %w", err)
}

func unknownReferenceID(e *models.WebhookEvent) uuid.UUID {
	return models.IncidentID(models.IncidentUnknownReference, string(e.Channel)+":"+cmp.Or(e.CheckoutID, e.MerchantReference, e.WebhookID))
}

func unknownReference(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) error {
	return incidents.Open(ctx, tx, models.Incident{
		ID:           unknownReferenceID(e),
		Kind:         models.IncidentUnknownReference,
		IncidentText: models.IncidentSays("incident.unknown_reference"),
	}, e.Facts())
}

// refundedPayment is the payment of an event that reports a refund which is none of ours, if the event names its checkout: a person has
// given something back in the company's own dashboard. The event is kept with the payment; what went back is found by asking the gateway.
func refundedPayment(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) (found *models.PaymentTransaction, err error) {
	if e.CheckoutID == "" {
		return found, nil
	}

	var t models.PaymentTransaction

	err = tx.NewSelect().Model(&t).Where("kind IN (?)", bun.List(models.Paying())).Where("channel = ?", e.Channel).
		Where("(reference = ?0 OR gateway_payment_id = ?0)", e.CheckoutID).Order("kind").Limit(1).Scan(ctx)
	if err != nil {
		return found, ignoreNoRows(err)
	}

	e.TransactionID = &t.ID

	return &t, nil
}

// keepPaymentID writes the gateway's id of the payment down when it is first heard.
func keepPaymentID(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) error {
	ofAnother := t.Reference != nil && *t.Reference != e.CheckoutID
	// What comes after the money may be about another payment of the checkout.
	settled := t.TakenAt() != nil && e.Type == models.EventPaymentSucceeded
	if e.GatewayPaymentID == "" || t.GatewayPaymentID != nil || ofAnother || settled {
		return nil
	}

	_, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("gateway_payment_id = ?", e.GatewayPaymentID).
		Where("id = ?", t.ID).Where("gateway_payment_id IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep the gateway's id of a payment: %w", err)
	}

	return nil
}
