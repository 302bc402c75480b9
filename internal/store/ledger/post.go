package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/models"
)

// InsertRecord gives the line its number and writes it. A second line for the same cause is a bug that the primary
// key turns into an error.
func InsertRecord(ctx context.Context, tx bun.Tx, r *models.FinancialRecord) error {
	var n int64
	if err := tx.NewRaw("SELECT nextval('financial_record_numbers')").Scan(ctx, &n); err != nil {
		return fmt.Errorf("number ledger line: %w", err)
	}

	r.TransactionNumber = TransactionNumber(r.RecordDate, n)
	if _, err := tx.NewInsert().Model(r).ExcludeColumn("created_at", "updated_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert ledger line: %w", err)
	}

	return nil
}

// TransactionNumber is the number that people know a line by; n is the next of financial_record_numbers.
func TransactionNumber(day models.Date, n int64) string {
	return fmt.Sprintf("RH-%d-%06d", day.Year(), n)
}

// PostTransfers writes transfers in the transaction of their cause; none is no error.
func PostTransfers(ctx context.Context, tx bun.Tx, all []models.LedgerTransfer) error {
	if len(all) == 0 {
		return nil
	}

	if _, err := tx.NewInsert().Model(&all).ExcludeColumn("created_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert transfers: %w", err)
	}

	return nil
}
