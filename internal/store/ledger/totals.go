package ledger

import (
	"context"
	"fmt"

	"rihla/models"
)

// RecordTotals adds up the ledger lines that ListRecords lists by the same filter, whose page does not matter. It is one statement that
// reads every such line once.
func (s *Store) RecordTotals(ctx context.Context, f RecordFilter) (models.RecordTotals, error) {
	var rows []struct {
		BalanceStatus models.BalanceStatus
		models.RecordTotal
	}

	err := f.apply(s.lines()).ColumnExpr("fr.balance_status, count(*) AS lines").
		ColumnExpr("sum(fr.gross_amount) AS gross, sum(fr.platform_commission_amount) AS commission").
		ColumnExpr("sum(fr.net_amount) AS net, sum(fr.vat_amount) AS vat, sum(fr.refunded_amount) AS refunded").
		GroupExpr("fr.balance_status").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("add up records: %w", err)
	}

	out := models.RecordTotals{}
	for _, r := range rows {
		out[r.BalanceStatus] = r.RecordTotal
	}

	return out, nil
}
