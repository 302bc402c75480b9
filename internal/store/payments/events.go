package payments

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/models"
)

// InsertEvent writes an event, and reports whether it did: not when its webhook id is used.
func InsertEvent(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) (added bool, err error) {
	res, err := tx.NewInsert().Model(e).ExcludeColumn("received_at").On("CONFLICT (channel, webhook_id) DO NOTHING").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("store event: %w", err)
	}

	n, err := res.RowsAffected()

	return n > 0, err
}
