package ledger

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// LockTransaction reads a transaction and keeps it from changing. NO KEY UPDATE, so that webhooks which refer to
// the row can be stored meanwhile.
func LockTransaction(ctx context.Context, tx bun.Tx, id uuid.UUID) (models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	err := tx.NewSelect().Model(&t).Where("id = ?", id).For("NO KEY UPDATE").Scan(ctx)

	return t, db.NotFound(err)
}
