package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/models"
)

// InsertRecord gives the entry its number and writes it. A second entry for the same cause is a bug that the primary
// key turns into an error.
func InsertRecord(ctx context.Context, tx bun.Tx, r *models.FinancialRecord) error {
	if _, err := NewRecord(tx, r).Exec(ctx); err != nil {
		return fmt.Errorf("insert ledger entry: %w", err)
	}

	return nil
}

// NewRecord is the INSERT of InsertRecord, for one that is written with others. The number is that of TransactionNumber, made by the
// database: asking for it would be a round trip of its own.
func NewRecord(db bun.IDB, r *models.FinancialRecord) *bun.InsertQuery {
	return db.NewInsert().Model(r).ExcludeColumn("created_at", "updated_at").
		Value("transaction_number", fmt.Sprintf("concat('RH-%d-', to_char(nextval('financial_record_numbers'), 'FM999999999999000000'))",
			r.RecordDate.Year()))
}

// TransactionNumber is the number that people know an entry by; n is the next of financial_record_numbers.
func TransactionNumber(day models.Date, n int64) string {
	return fmt.Sprintf("RH-%d-%06d", day.Year(), n)
}

// PostTransfers writes transfers in the transaction of their cause; none is no error. The row that decides about them is locked before: the
// payment, or of a payout the ledger entries.
func PostTransfers(ctx context.Context, tx bun.Tx, all []models.LedgerTransfer) error {
	if len(all) == 0 {
		return nil
	}

	if _, err := NewTransfers(tx, all).Exec(ctx); err != nil {
		return fmt.Errorf("insert transfers: %w", err)
	}

	return nil
}

// NewTransfers is the INSERT of PostTransfers, for one that is written with others. There is at least one.
func NewTransfers(db bun.IDB, all []models.LedgerTransfer) *bun.InsertQuery {
	return db.NewInsert().Model(&all).ExcludeColumn("created_at")
}
