package refunds

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// owedWhere is true of a refund that its gateway did not make and that a second person pays out of the bank (docs/decisions/0081): the
// incident about it is open, nothing was paid instead, and the money is still there. Open incidents are few: they are read once.
const owedWhere = `rf.channel = 'GATEWAY' AND rf.status = 'FAILED'
	AND rf.id IN (SELECT i.refund_id FROM incidents AS i WHERE i.status = 'OPEN' AND i.kind = 'REFUND_FAILED' AND i.refund_id IS NOT NULL)
	AND NOT EXISTS (SELECT FROM refunds AS instead WHERE instead.instead_of = rf.id)
	AND EXISTS (SELECT FROM payment_transactions AS paid WHERE paid.id = rf.payment_transaction_id AND rf.amount <=
		COALESCE(paid.captured_amount, paid.amount) - paid.refunded_amount - paid.refund_reserved_amount - paid.outside_refunded_amount)`

// noteOwed says of the refunds that failed which of them are owed: one query, when there are any.
func noteOwed(ctx context.Context, in bun.IDB, rows []models.Refund) error {
	var failed []uuid.UUID

	for i := range rows {
		if rows[i].FailedAtGateway() {
			failed = append(failed, rows[i].ID)
		}
	}

	if len(failed) == 0 {
		return nil
	}

	var owed []uuid.UUID

	err := in.NewSelect().Model((*models.Refund)(nil)).Column("rf.id").Where("rf.id IN (?)", bun.List(failed)).Where(owedWhere).
		Scan(ctx, &owed)
	if err != nil {
		return fmt.Errorf("read refunds that are owed: %w", err)
	}

	is := make(map[uuid.UUID]bool, len(owed))
	for _, id := range owed {
		is[id] = true
	}

	for i := range rows {
		rows[i].Owed = is[rows[i].ID]
	}

	return nil
}

// noteCancelling says of refunds whether their order cancels passengers: one query.
func noteCancelling(ctx context.Context, in bun.IDB, rows []models.Refund) error {
	ids := make([]uuid.UUID, 0, len(rows))
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}

	if len(ids) == 0 {
		return nil
	}

	var cancelling []uuid.UUID

	err := in.NewSelect().Model((*models.Cancellation)(nil)).Column("cn.refund_id").Where("cn.refund_id IN (?)", bun.List(ids)).
		Scan(ctx, &cancelling)
	if err != nil {
		return fmt.Errorf("read cancellations of refunds: %w", err)
	}

	for i := range rows {
		rows[i].Cancels = slices.Contains(cancelling, rows[i].ID)
	}

	return nil
}
