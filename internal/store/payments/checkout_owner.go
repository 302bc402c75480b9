package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// OtherOwner is the attempt whose checkout an event about t names, when that is not t itself; uuid.Nil otherwise. An attempt that
// knows its checkout costs no query.
func OtherOwner(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) (other uuid.UUID, err error) {
	if t == nil || e.CheckoutID == "" || e.Type.IsAboutRefund() || t.Reference != nil && *t.Reference == e.CheckoutID || t.IsNamedBy(e) {
		return uuid.Nil, nil
	}

	err = tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("id").Where("kind = ?", models.KindPayment).
		Where("gateway = ?", t.Gateway).Where("reference = ?", e.CheckoutID).Where("id <> ?", t.ID).Scan(ctx, &other)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return uuid.Nil, fmt.Errorf("look for the checkout's attempt: %w", err)
	}

	return other, nil
}

// ReferenceConflict asks a person to look at a checkout that the gateway gives to two attempts.
func ReferenceConflict(
	ctx context.Context, tx bun.IDB, t *models.PaymentTransaction, other uuid.UUID, event map[string]any,
) error {
	event["other_transaction_id"] = other

	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentReferenceClash, t.ID.String()),
		Kind:                 models.IncidentReferenceClash,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		IncidentText:         models.IncidentSays("incident.reference_conflict"),
		WorkflowID:           models.PaymentWorkflowID(t.ID),
	}, event)
}

// ErrReferenceTaken reports a checkout that another attempt has already.
var ErrReferenceTaken = errors.New("the gateway gave the checkout of another attempt")

// checkoutTaken opens the incident about a checkout that the gateway has given to the attempt although it is another one's.
func (s *Store) checkoutTaken(ctx context.Context, id uuid.UUID, reference string) error {
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := ledger.LockTransaction(ctx, tx, id)
		if err != nil {
			return err
		}

		asked := models.WebhookEvent{CheckoutID: reference, Type: "checkout.created"}

		other, err := OtherOwner(ctx, tx, &t, &asked)
		if err != nil {
			return err
		}

		return ReferenceConflict(ctx, tx, &t, other, map[string]any{"webhook_id": "checkout:" + reference, "checkout_id": reference})
	})
	if err != nil {
		return fmt.Errorf("report a checkout that another attempt has: %w", err)
	}

	return ErrReferenceTaken
}
