package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// DisputedSQL is the condition that nothing of a payment may be given back or paid out now: the customer's bank has taken its money back,
// and neither has the dispute been won nor have people closed its incident. %s is the payment's id.
const DisputedSQL = `EXISTS (SELECT FROM disputes AS dp JOIN incidents AS di ON di.id = dp.incident_id
	WHERE dp.payment_transaction_id = %s AND dp.kind = 'CHARGEBACK' AND dp.state IN ('OPEN', 'LOST') AND di.status = 'OPEN')`

// NotDisputed refuses to give back or to pay out what belongs to a disputed payment. The rows that are about to change are locked: a
// message about a dispute takes the same locks. Error: PAYMENT_DISPUTED, with the incident of the first one.
func NotDisputed(ctx context.Context, tx bun.IDB, payments ...uuid.UUID) error {
	if len(payments) == 0 {
		return nil
	}

	var found []uuid.UUID

	err := tx.NewSelect().Model((*models.Dispute)(nil)).ColumnExpr("dp.incident_id").
		Join("JOIN incidents AS di ON di.id = dp.incident_id").
		Where("dp.payment_transaction_id IN (?)", bun.List(payments)).Where("dp.kind = ?", models.DisputeChargeback).
		Where("dp.state IN (?, ?)", models.DisputeOpen, models.DisputeLost).Where("di.status = ?", models.IncidentOpen).
		Order("dp.opened_at", "dp.id").Limit(1).Scan(ctx, &found)
	if err != nil {
		return fmt.Errorf("look for a dispute: %w", err)
	}

	if len(found) > 0 {
		return models.PaymentDisputed(found[0])
	}

	return nil
}

// notDisputedEntries is NotDisputed for entries that are to be paid out. A claw-back takes money back, which a dispute does not forbid.
func notDisputedEntries(ctx context.Context, tx bun.IDB, lines []*models.FinancialRecord) error {
	var payments []uuid.UUID

	for _, r := range lines {
		if r.Kind.IsOfPayment() && !slices.Contains(payments, r.PaymentTransactionID) {
			payments = append(payments, r.PaymentTransactionID)
		}
	}

	return NotDisputed(ctx, tx, payments...)
}
