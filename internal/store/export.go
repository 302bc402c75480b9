package store

import (
	"context"
	"database/sql"
	"fmt"

	"rihla/models"
)

// ExportRecords hands every ledger line that the filter selects to yield, latest record date first unless
// f.Page.Sort says otherwise, and counts them. It reads one snapshot, row by row off the wire, so that neither the
// size of the ledger nor what happens to it meanwhile matters. The line is yield's to keep; an error of yield ends
// the export and is returned.
func (s *Store) ExportRecords(
	ctx context.Context, f RecordFilter, yield func(*models.FinancialRecord) error,
) (rows int64, err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return 0, fmt.Errorf("begin export: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written

	w, err := walkOf[models.FinancialRecord](s.db, recordOrder, Page{Sort: f.Page.Sort})
	if err != nil {
		return 0, err
	}

	cursor, err := w.sorted(f.apply(records(tx).Model((*models.FinancialRecord)(nil)))).Rows(ctx)
	if err != nil {
		return 0, fmt.Errorf("export records: %w", err)
	}
	defer func() { _ = cursor.Close() }()

	for cursor.Next() {
		r := new(models.FinancialRecord)
		if err := s.db.ScanRow(ctx, cursor, r); err != nil {
			return rows, fmt.Errorf("read record: %w", err)
		}

		if err := yield(r); err != nil {
			return rows, err
		}

		rows++
	}

	if err := cursor.Err(); err != nil {
		return rows, fmt.Errorf("export records: %w", err)
	}

	return rows, nil
}
