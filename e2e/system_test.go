package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
)

func system(t *testing.T, s *harness.Stack) {
	t.Helper()

	type health struct {
		Status string            `json:"status"`
		Checks map[string]string `json:"checks"`
	}

	anybody := s.Anybody()
	require.Equal(t, "ok", decoded[health](t, http.StatusOK, anybody.Get("/healthz")).Status)
	require.Equal(t, health{"ok", map[string]string{"database": "ok", "orchestrator": "ok"}}, decoded[health](t, http.StatusOK, anybody.Get("/readyz")))

	doc, err := openapi3.NewLoader().LoadFromData(anybody.Get("/openapi.json").Body)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	require.Equal(t, s.URL, doc.Servers[0].URL)

	page := anybody.Get("/docs")
	require.Equal(t, http.StatusOK, page.Status)
	require.NotRegexp(t, `(src|href)="https?://`, string(page.Body), "the page loads nothing from other hosts")

	metrics := anybody.Get("/metrics")
	require.Equal(t, http.StatusOK, metrics.Status)
	require.True(t, strings.HasPrefix(metrics.Header.Get("Content-Type"), "text/plain"))
	require.Contains(t, string(metrics.Body), "go_goroutines")
	require.Contains(t, string(metrics.Body), `rihla_overdue{what="refunds"} 0`)
	require.Contains(t, string(metrics.Body), `rihla_incidents_open{kind="LATE_PAYMENT"}`)

	// Every answer, whatever it is, says whose it is and how to treat it.
	for _, path := range []string{"/healthz", "/api/v1/trips", "/api/v1/me", "/nothing", "/docs"} {
		a := anybody.Get(path)
		require.NotEmpty(t, a.Header.Get("X-Request-ID"), path)
		require.Equal(t, "ar", a.Header.Get("Content-Language"), path)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), path)
	}

	for id, echoed := range map[string]bool{"my-id": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "a b": false} {
		a, err := anybody.Do(http.MethodGet, "/healthz", nil, map[string]string{"X-Request-ID": id})
		require.NoError(t, err)
		require.Equal(t, echoed, a.Header.Get("X-Request-ID") == id, id)
	}
}

// booksBalance compares the ledger's entries with the transfers that prove them, over everything that ran (rules: ledger.transfers).
func booksBalance(t *testing.T, s *harness.Stack) {
	t.Helper()

	for what, query := range map[string]string{
		"entries without gross = commission + net": `SELECT count(*) FROM financial_records WHERE gross_amount <> platform_commission_amount + net_amount`,
		"payments whose entries are not what was paid": `
			SELECT count(*) FROM payment_transactions AS t WHERE status = 'PAID' AND amount <>
				(SELECT sum(gross_amount) FROM financial_records WHERE payment_transaction_id = t.id AND kind IN ('SALE', 'ADVERTISING'))`,
		"payments whose refunds are not what was refunded": `
			SELECT count(*) FROM payment_transactions AS t WHERE kind = 'PAYMENT' AND refunded_amount <>
				(SELECT coalesce(sum(amount), 0) FROM refunds WHERE payment_transaction_id = t.id AND status = 'SUCCEEDED')`,
		"providers whose balance is not what is owed to them": `
			SELECT count(*) FROM providers AS p WHERE
				(SELECT coalesce(sum(net_amount), 0) FROM financial_records WHERE provider_id = p.id AND balance_status = 'IN_CURRENT_BALANCE') <>
				(SELECT coalesce(sum(CASE WHEN credit_account = a.name THEN amount ELSE -amount END), 0) FROM ledger_transfers AS x,
					LATERAL (SELECT 'provider:' || p.id || ':payable' AS name) AS a WHERE a.name IN (x.credit_account, x.debit_account))`,
		"trips whose seats are not those of their bookings": `
			SELECT count(*) FROM trips AS t WHERE seats_taken <>
				(SELECT coalesce(sum(seats), 0) FROM bookings WHERE trip_id = t.id AND seats_held)`,
		"events without an effect": `SELECT count(*) FROM webhook_events WHERE processed_at IS NULL AND received_at < now() - interval '10 seconds'`,
	} {
		require.Equal(t, 0, s.Count(query), what)
	}

	// The gateway's books say the same; of what was paid out manually it knows nothing.
	for _, c := range s.GatewayLedger().Checkouts {
		if c.Status == "paid" {
			require.Equal(t, 1, s.Count(`
				SELECT count(*) FROM payment_transactions AS t WHERE id = $1 AND captured_at IS NOT NULL AND refunded_amount = $2 + (
					SELECT coalesce(sum(amount), 0) FROM refunds WHERE payment_transaction_id = t.id AND channel = 'MANUAL' AND status = 'SUCCEEDED')`,
				c.MerchantReference, c.RefundedAmount.String()), "%s", must(json.Marshal(c)))
		}
	}
}

func must(text []byte, err error) string { return fmt.Sprint(string(text), err) }
