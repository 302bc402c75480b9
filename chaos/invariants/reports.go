package invariants

import (
	"context"
	"fmt"

	"rihla/models"
)

var aboutReports = []Invariant{
	{"summary-agrees", "the summary equals the sum of the ledger entries", summary},
	{"export-is-whole", "an export has every ledger entry", exported},
}

func summary(ctx context.Context, s *Evidence) ([]string, error) {
	cards, ok := s.Run.Summary(ctx)
	if !ok {
		return []string{"the summary cannot be read"}, nil
	}

	var want [5]string

	// An environment lives for minutes; only one that is up at midnight of the first of a month in Riyadh would have others.
	err := s.Env.DB.QueryRowContext(ctx, `SELECT
			coalesce(sum(gross_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
			coalesce(sum(platform_commission_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
			coalesce(sum(net_amount) FILTER (WHERE kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED'), 0),
			coalesce(sum(refunded_amount), 0), coalesce(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0)
		FROM financial_records WHERE record_date >= date_trunc('month', now() AT TIME ZONE 'Asia/Riyadh')`).
		Scan(&want[0], &want[1], &want[2], &want[3], &want[4])
	if err != nil {
		return nil, err
	}

	got := [5]models.Money{
		cards.GrossAmount, cards.PlatformCommissionAmount, cards.NetAmount, cards.RefundedAmount, cards.InCurrentBalanceAmount,
	}
	for i, text := range want {
		amount, err := models.ParseMoney(text)
		if err != nil {
			return nil, err
		}

		if !amount.Equal(got[i]) {
			return []string{fmt.Sprintf("the summary says %s, the entries add up to %s", got, want)}, nil
		}
	}

	return nil, nil
}

func exported(ctx context.Context, s *Evidence) ([]string, error) {
	var lines int
	if err := s.Env.DB.QueryRowContext(ctx, "SELECT count(*) FROM financial_records").Scan(&lines); err != nil {
		return nil, err
	}

	if got, ok := s.Run.ExportedEntries(ctx); !ok || got != lines {
		return []string{fmt.Sprintf("an export has %d of %d entries", got, lines)}, nil
	}

	return nil, nil
}
