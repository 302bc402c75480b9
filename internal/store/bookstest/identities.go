package bookstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// identities are statements about the whole database that hold after every unit of work
// (rules: ledger.lines, ledger.transfers). Each query finds the rows that break one.
var identities = map[string]string{
	"payable = net of entries IN_CURRENT_BALANCE, paid out = net of entries with transferred_at": `
		SELECT p.id::text FROM providers AS p, LATERAL (
			SELECT COALESCE(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0) AS owed,
			       COALESCE(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0) AS paid
			FROM financial_records WHERE provider_id = p.id) AS r
		WHERE r.owed <> (SELECT COALESCE(sum(CASE credit_account WHEN a THEN amount ELSE 0 END
		                     - CASE debit_account WHEN a THEN amount ELSE 0 END), 0)
		                 FROM ledger_transfers, (SELECT 'provider:' || p.id || ':payable' AS a) AS x)
		   OR r.paid <> (SELECT COALESCE(sum(CASE credit_account WHEN a THEN amount ELSE 0 END
		                     - CASE debit_account WHEN a THEN amount ELSE 0 END), 0)
		                 FROM ledger_transfers, (SELECT 'provider:' || p.id || ':paid_out' AS a) AS x)`,
	"the platform's accounts = its part of the entries that are not REFUNDED": `
		SELECT account || ': ' || want || ' in lines, ' || got || ' in transfers' FROM (
			SELECT account, want, (SELECT COALESCE(sum(CASE credit_account WHEN account THEN amount ELSE 0 END
			                                           - CASE debit_account WHEN account THEN amount ELSE 0 END), 0) FROM ledger_transfers) AS got
			FROM (
				SELECT 'platform:commission' AS account, COALESCE(sum(platform_commission_amount), 0) AS want
				FROM financial_records WHERE kind = 'SALE' AND balance_status <> 'REFUNDED'
				UNION ALL
				SELECT 'platform:advertising', COALESCE(sum(gross_amount - vat_amount), 0)
				FROM financial_records WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'
				UNION ALL
				SELECT 'tax:vat', COALESCE(sum(vat_amount), 0)
				FROM financial_records WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'
				UNION ALL
				SELECT 'gateway:' || gateway || other, -COALESCE(sum(COALESCE(captured_amount, amount) - refunded_amount + (
					SELECT COALESCE(sum(amount), 0) FROM refunds AS f
					WHERE f.payment_transaction_id = t.id AND f.status = 'SUCCEEDED' AND (f.channel = 'MANUAL' OR f.returned_at IS NOT NULL))
				  - COALESCE((SELECT o.total FROM outside_refunds AS o WHERE o.payment_transaction_id = t.id ORDER BY o.n DESC LIMIT 1), 0)
				) FILTER (WHERE num_nonnulls(captured_at, suspense_at) = 1), 0)
				FROM payment_transactions AS t, LATERAL (SELECT COALESCE(':' || NULLIF(captured_currency, 'SAR'), '') AS other) AS c
				WHERE kind <> 'REFUND' GROUP BY gateway, other
				UNION ALL
				SELECT 'suspense:' || gateway || other, COALESCE(sum(captured_amount - refunded_amount), 0)
				FROM payment_transactions AS t, LATERAL (SELECT COALESCE(':' || NULLIF(captured_currency, 'SAR'), '') AS other) AS c
				WHERE kind <> 'REFUND' GROUP BY gateway, other
				UNION ALL
				SELECT 'platform:bank' || CASE currency WHEN 'SAR' THEN '' ELSE ':' || currency END, COALESCE(sum(amount), 0)
				FROM refunds WHERE status = 'SUCCEEDED' AND (channel = 'MANUAL' OR id IN (SELECT refund_id FROM refund_payouts)) GROUP BY currency
				UNION ALL
				SELECT 'customer:refunds', COALESCE(sum(amount - refunded_amount), 0) + (SELECT COALESCE(sum(amount), 0) FROM refunds
					WHERE returned_at IS NOT NULL AND id NOT IN (SELECT refund_id FROM refund_payouts))
				FROM payment_transactions WHERE status = 'FAILED' AND captured_at IS NOT NULL
			) AS wanted) AS both_sides
		WHERE want <> got`,
	"the entries of a payment add up to it": `
		SELECT t.id::text FROM payment_transactions AS t LEFT JOIN financial_records AS r
			ON r.payment_transaction_id = t.id AND r.kind <> 'CLAWBACK'
		WHERE t.kind <> 'REFUND'
		GROUP BY t.id
		HAVING COALESCE(sum(r.gross_amount), 0) <> CASE t.status WHEN 'PAID' THEN t.amount ELSE 0 END
		    OR COALESCE(sum(r.vat_amount), 0) <> CASE t.status WHEN 'PAID' THEN t.vat_amount ELSE 0 END
		    OR COALESCE(sum(r.refunded_amount), 0) <> CASE t.status WHEN 'PAID' THEN t.refunded_amount ELSE 0 END`,
	"refunded and reserved amounts = the refunds, and the transactions they added": `
		SELECT t.id::text FROM payment_transactions AS t
		WHERE t.kind <> 'REFUND' AND (
			t.refunded_amount <> (SELECT COALESCE(sum(amount), 0) FROM refunds WHERE payment_transaction_id = t.id AND status = 'SUCCEEDED')
			OR t.refund_reserved_amount <> (SELECT COALESCE(sum(amount), 0) FROM refunds WHERE payment_transaction_id = t.id AND status = 'PENDING')
			OR t.refunded_amount <> (SELECT COALESCE(sum(amount), 0) FROM payment_transactions WHERE kind = 'REFUND' AND parent_id = t.id))`,
	"a refund's transaction carries the VAT of its own amount": `
		SELECT f.id::text FROM refunds AS f
		JOIN payment_transactions AS added ON added.id = f.refund_transaction_id
		JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
		LEFT JOIN financial_records AS r ON r.refund_id = f.id AND r.kind <> 'CLAWBACK'
		WHERE NOT f.vat_of_amount OR added.amount <> f.amount OR (t.status = 'PAID' AND r.gross_amount IS DISTINCT FROM f.amount)
		    OR added.vat_amount <> CASE WHEN t.suspense_at IS NULL AND t.kind = 'PAYMENT'
		        THEN round(f.amount * t.vat_rate / (1 + t.vat_rate), 2) ELSE 0 END`,
	"what a company is owed and was paid, by its entries' sums = what its accounts hold": `
		SELECT p.id::text FROM providers AS p
		WHERE (SELECT ROW(coalesce(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0), coalesce(sum(transferred_amount), 0))
		       FROM report_states WHERE provider_id = p.id AND day = '-infinity') IS DISTINCT FROM (
		    SELECT ROW(coalesce(sum(CASE a.name WHEN 'payable' THEN a.amount END), 0),
		               coalesce(sum(CASE a.name WHEN 'paid_out' THEN a.amount END), 0))
		    FROM (SELECT split_part(credit_account, ':', 3) AS name, amount FROM ledger_transfers
		          WHERE credit_account LIKE 'provider:' || p.id || ':%'
		          UNION ALL
		          SELECT split_part(debit_account, ':', 3), -amount FROM ledger_transfers
		          WHERE debit_account LIKE 'provider:' || p.id || ':%') AS a)`,
	"a trip's seats are those of its bookings": `
		SELECT t.id::text FROM trips AS t
		WHERE t.seats_taken <> (SELECT COALESCE(sum(seats), 0) FROM bookings WHERE trip_id = t.id AND seats_held)`,
	"a confirmed booking is paid, and by one attempt": `
		SELECT b.id::text FROM bookings AS b
		WHERE b.status = 'CONFIRMED'
		  AND (SELECT count(*) FROM payment_transactions WHERE booking_id = b.id AND status = 'PAID' AND refunded_amount < amount) <> 1`,
	"a processed event has an outcome": `
		SELECT id::text FROM webhook_events WHERE (processed_at IS NULL) <> (outcome = '')`,
}

// RequireIdentities checks all of them.
func (b *Books) RequireIdentities(t *testing.T) {
	t.Helper()

	for what, query := range identities {
		require.Empty(t, b.broken(t, query), what)
	}
}

func (b *Books) broken(t *testing.T, query string) []string {
	t.Helper()

	rows, err := b.DB.QueryContext(context.WithoutCancel(t.Context()), query)
	require.NoError(t, err)

	defer rows.Close()

	var broken []string

	for rows.Next() {
		var row string

		require.NoError(t, rows.Scan(&row))

		broken = append(broken, row)
	}

	require.NoError(t, rows.Err())

	return broken
}
