package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store"
	"rihla/models"
)

// explainer keeps the plan of every SELECT that the store sends.
type explainer struct {
	mu      sync.Mutex
	queries []string
}

// BeforeQuery implements bun.QueryHook.
func (e *explainer) BeforeQuery(ctx context.Context, q *bun.QueryEvent) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()

	e.queries = append(e.queries, q.Query)

	return ctx
}

// AfterQuery implements bun.QueryHook.
func (*explainer) AfterQuery(context.Context, *bun.QueryEvent) {}

// lines puts many lines into the ledger without their payments, and tells the planner about them.
func (b *testBundle) lines(t *testing.T, n int) {
	t.Helper()

	tx := b.paid(t, 1)

	b.exec(t, `INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, refund_id,
			gross_amount, platform_commission_amount, net_amount, vat_amount, refunded_amount, trip_title, details, record_date, balance_status,
			commission_rate)
		SELECT gen_random_uuid(), 'RH-2025-' || lpad(n::text, 6, '0'), 'SALE', $1, $2, $3, NULL, 115 + n % 900, 11.5, 103.5 + n % 900, 15, 115 + n % 900,
			x.title, 'Seats on ' || x.title, date '2026-01-01' + n % 300, 'REFUNDED', 0.1
		FROM generate_series(1, $4::int) AS n, LATERAL (SELECT 'Umrah trip ' || lpad((n / 100)::text, 4, '0') AS title) AS x`,
		tx.ID, b.Provider.ID, *tx.BookingID, n)
	b.exec(t, "VACUUM ANALYZE financial_records")
	b.exec(t, "VACUUM ANALYZE report_days")
}

// No list and no summary reads the whole ledger: the planner, left alone, finds every page in an index.
func TestReportsAndListsAreFoundInIndexes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.books.Tampered(t, "its lines are inserted by hand, without their payments")
	b.lines(t, 30_000)

	e := &explainer{}
	store.Watch(b.s, e)

	march := models.Days{From: models.NewDate(2026, 3, 1), To: models.NewDate(2026, 3, 31)}

	for name, c := range map[string]struct {
		filter store.RecordFilter
		index  string // that the page is found in
		number string // and the lines with a number, where it could be one
	}{
		"page 1":                      {store.RecordFilter{}, "records_date", ""},
		"page 100":                    {store.RecordFilter{Page: store.Page{Number: 100}}, "records_date", ""},
		"a month":                     {store.RecordFilter{Days: march}, "records_date", ""},
		"a company":                   {store.RecordFilter{ProviderID: b.Provider.ID, Page: store.Page{Number: 3}}, "records_", ""},
		"a status":                    {store.RecordFilter{BalanceStatus: models.BalanceRefunded}, "records_date", ""},
		"by amount":                   {store.RecordFilter{Page: store.Page{Sort: []store.Sort{{Field: "gross_amount", Desc: true}}}}, "records_gross", ""},
		"by net amount":               {store.RecordFilter{Page: store.Page{Sort: []store.Sort{{Field: "net_amount"}}}}, "records_net", ""},
		"by creation":                 {store.RecordFilter{Page: store.Page{Sort: []store.Sort{{Field: "created_at"}}}}, "records_created", ""},
		"a title":                     {store.RecordFilter{Search: "trip 0042"}, "records_text", ""},
		"part of a number":            {store.RecordFilter{Search: "04242"}, "financial_records_pkey", "records_number_part"},
		"a word that is in a third":   {store.RecordFilter{Search: "trip 00"}, "records_date", ""},
		"a number":                    {store.RecordFilter{Search: "rh-2025-004242"}, "financial_records_pkey", "records_number"},
		"a word that is in all of it": {store.RecordFilter{Search: "umrah"}, "records_date", ""},
	} {
		e.queries = nil

		page, err := b.s.ListRecords(t.Context(), c.filter)
		require.NoError(t, err, name)
		require.NotEmpty(t, page.Items, name)

		plans := make([]string, len(e.queries))
		for i, q := range e.queries {
			plans[i] = b.plan(t, q)
			require.NotContains(t, plans[i], "Seq Scan on financial_records", name)
		}

		require.NotContains(t, e.queries[0], "financial_records", "%s: totals come from sums", name)
		require.Contains(t, plans[len(plans)-1], c.index, "%s: the page", name)

		if c.number != "" {
			require.Contains(t, plans[len(plans)-2], c.number, "%s: the number", name)
		}
	}

	report, err := b.s.Report(t.Context(), b.Provider.ID, march)
	require.NoError(t, err)
	require.EqualValues(t, 3100, report.Cards.Refunds)
}

func (b *testBundle) plan(t *testing.T, query string) string {
	t.Helper()

	rows, err := b.db.QueryContext(t.Context(), "EXPLAIN "+query)
	require.NoError(t, err)

	defer rows.Close()

	var plan strings.Builder

	for rows.Next() {
		var line string

		require.NoError(t, rows.Scan(&line))
		plan.WriteString(line + "\n")
	}

	require.NoError(t, rows.Err())

	return plan.String()
}
