package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// RecordTotals adds up the ledger entries that ListRecords lists by the same filter, whose page does not matter. By company, days and state
// they come from the sums of states (migration 0070), which cost the same however many entries there are; by a search, a booking or a
// campaign it is one statement that reads every such entry once.
func (s *Store) RecordTotals(ctx context.Context, f RecordFilter) (models.RecordTotals, error) {
	if inEveryNumber(models.Fold(f.Search)) {
		f.Search = ""
	}

	q := s.summedStates(f)
	if f.Search != "" || f.BookingID != uuid.Nil || f.AdCampaignID != uuid.Nil {
		q = f.apply(s.lines()).ColumnExpr("count(*) AS lines")
	}

	var rows []struct {
		BalanceStatus models.BalanceStatus
		models.RecordTotal
	}

	err := q.ColumnExpr("balance_status, sum(gross_amount) AS gross, sum(platform_commission_amount) AS commission").
		ColumnExpr("sum(net_amount) AS net, sum(vat_amount) AS vat, sum(refunded_amount) AS refunded").
		GroupExpr("balance_status").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("add up records: %w", err)
	}

	out := models.RecordTotals{}
	for _, r := range rows {
		out[r.BalanceStatus] = r.RecordTotal
	}

	return out, nil
}

// summedStates selects the sums of the filter's company, days and state: those of the platform without a company.
func (s *Store) summedStates(f RecordFilter) *bun.SelectQuery {
	q := s.db.NewSelect().TableExpr("report_states AS n").ColumnExpr("sum(lines)::bigint AS lines").Where("n.provider_id = ?", f.ProviderID)

	if f.Days.IsAll() {
		q = q.Where("n.day = '-infinity'")
	} else {
		q = onDays(q.Where("n.day > '-infinity'"), f.Days)
	}

	return db.WhereEqual(q, "n.balance_status", f.BalanceStatus).Having("sum(lines) <> 0")
}
