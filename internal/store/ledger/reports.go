package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/models"
)

// report_days holds the sums of every day, of each provider and of the whole platform, kept exact by triggers in the SQL
// transaction of every change to a ledger entry (migration 0008): a report reads a few rows per day.
const reportDaysSQL = `
SELECT day, sum(gross_amount), sum(platform_commission_amount), sum(net_amount), sum(vat_amount),
       sum(in_current_balance_amount), sum(transferred_amount), sum(refunded_amount), sum(advertising_revenue_amount),
       sum(bookings_count)::bigint, sum(campaigns_count)::bigint, sum(refunded_count)::bigint
FROM report_days WHERE provider_id = $1 AND day BETWEEN $2 AND $3 GROUP BY day`

// Report summarizes the ledger entries of a bounded span of days: those of one provider, or with uuid.Nil those of the whole
// platform (rules: reports.cards). It costs the same however many entries there are.
func (s *Store) Report(ctx context.Context, provider uuid.UUID, span models.Days) (models.Report, error) {
	rows, err := s.db.Raw.QueryContext(ctx, reportDaysSQL, pgx.QueryExecModeCacheStatement, provider, span.From, span.To)
	if err != nil {
		return models.Report{}, fmt.Errorf("read report: %w", err)
	}
	defer rows.Close()

	var known []models.ReportDay

	for rows.Next() {
		var d models.ReportDay

		err := rows.Scan(&d.Date, &d.Gross, &d.Commission, &d.Net, &d.VAT, &d.InCurrentBalance, &d.Transferred, &d.Refunded,
			&d.AdvertisingRevenue, &d.Bookings, &d.Campaigns, &d.Refunds)
		if err != nil {
			return models.Report{}, fmt.Errorf("read day of report: %w", err)
		}

		known = append(known, d)
	}

	if err := rows.Err(); err != nil {
		return models.Report{}, fmt.Errorf("read report: %w", err)
	}

	return models.NewReport(span, known), nil
}

// reportedEntries counts the ledger entries of a span of days, each end of which may be open: those of one provider, or of all with
// uuid.Nil; in one state, or in any.
func (s *Store) reportedEntries(
	ctx context.Context, provider uuid.UUID, span models.Days, status models.BalanceStatus,
) (n int64, err error) {
	q := s.db.NewSelect().Table("report_days").ColumnExpr("coalesce(sum(?), 0)::bigint", bun.Safe(countedIn(status))).
		Where("provider_id = ?", provider)
	if !span.From.IsZero() {
		q = q.Where("day >= ?", span.From)
	}

	if !span.To.IsZero() {
		q = q.Where("day <= ?", span.To)
	}

	err = q.Scan(ctx, &n)

	return n, err
}

func countedIn(status models.BalanceStatus) string {
	switch status {
	case models.BalanceInCurrent:
		return "in_current_balance_count"
	case models.BalanceTransferred:
		return "transferred_count"
	case models.BalanceRefunded:
		return "refunded_count"
	default:
		return "in_current_balance_count + transferred_count + refunded_count"
	}
}
