package bookstest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"
)

// Explainer keeps the plan of every SELECT that the store sends.
type Explainer struct {
	mu      sync.Mutex
	Queries []string
}

// BeforeQuery implements bun.QueryHook.
func (e *Explainer) BeforeQuery(ctx context.Context, q *bun.QueryEvent) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()

	e.Queries = append(e.Queries, q.Query)

	return ctx
}

// AfterQuery implements bun.QueryHook.
func (*Explainer) AfterQuery(context.Context, *bun.QueryEvent) {}

// Lines puts many entries into the ledger without their payments, and tells the planner about them.
func (b *Books) Lines(t *testing.T, n int) {
	t.Helper()

	tx := b.Paid(t, 1)

	b.Exec(t, `INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, refund_id,
			gross_amount, platform_commission_amount, net_amount, vat_amount, refunded_amount, trip_title, details, record_date, balance_status,
			commission_rate)
		SELECT gen_random_uuid(), 'RH-2025-' || lpad(n::text, 6, '0'), 'SALE', $1, $2, $3, NULL,
			115 + n % 900, 11.5, 103.5 + n % 900, 15, 115 + n % 900,
			x.title, 'Seats on ' || x.title, date '2026-01-01' + n % 300, 'REFUNDED', 0.1
		FROM generate_series(1, $4::int) AS n, LATERAL (SELECT 'Umrah trip ' || lpad((n / 100)::text, 4, '0') AS title) AS x`,
		tx.ID, b.Provider.ID, *tx.BookingID, n)
	b.Exec(t, "VACUUM ANALYZE financial_records")
	b.Exec(t, "SELECT fold_reports(10000)")
	b.Exec(t, "VACUUM ANALYZE report_days_folded, report_texts_folded")
}

// Plan is PostgreSQL's plan of a query.
func (b *Books) Plan(t *testing.T, query string) string {
	t.Helper()

	rows, err := b.DB.QueryContext(t.Context(), "EXPLAIN "+query)
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
