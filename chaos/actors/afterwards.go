package actors

import (
	"context"
	"encoding/csv"
	"net/http"
	"strings"

	"rihla/models"
)

// Repeat sends every request that carried an Idempotency-Key once more, now that all is over: it has to be answered as it
// was (contract §1), whatever has become of its subject since.
func (p *Play) Repeat(ctx context.Context) {
	for _, r := range p.Journal.keyed {
		c := p.customer.named("repeated")
		c.token = r.token
		// Any refusal will do, as long as it is the one that was given before: the invariants compare.
		c.insist(ctx, r, refusals...)
		p.Journal.Count("requests repeated at the end", 1)
	}
}

var refusals = []models.Code{
	models.CodeTripCapacityReached, models.CodeBookingNotPayable, models.CodeCampaignNotPayable, models.CodeInvalidState,
	models.CodeRefundExceedsRemaining, models.CodeBookingNotRefundable, models.CodeRecordNotTransferable,
}

// Cards are what the summary says of today.
type Cards struct {
	Gross      models.Money `json:"gross_amount"`
	Commission models.Money `json:"platform_commission_amount"`
	Net        models.Money `json:"net_amount"`
	Refunded   models.Money `json:"refunded_amount"`
	Balance    models.Money `json:"in_current_balance_amount"`
}

// Summary reads the platform's cards of this month.
func (p *Play) Summary(ctx context.Context) (Cards, bool) {
	var s struct {
		Cards Cards `json:"cards"`
	}

	a, ok := p.finance.named("auditor").insist(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/financial-reports/summary?period=this_month",
	})
	if ok {
		p.note(a.Data(&s))
	}

	return s.Cards, ok
}

// ExportedLines counts the ledger lines of a whole export.
func (p *Play) ExportedLines(ctx context.Context) (int, bool) {
	a, ok := p.finance.named("auditor").insist(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/financial-records/export?format=csv",
	})
	if !ok {
		return 0, false
	}

	rows, err := csv.NewReader(strings.NewReader(string(a.Body))).ReadAll()
	p.note(err)

	return len(rows) - 1, ok && err == nil // without the heading
}
