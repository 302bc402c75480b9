package audit

// balanceChecks compare the statement with the transfers that prove it (rules: ledger.transfers, ledger.lines).
func balanceChecks() []check {
	return []check{paymentBalances(), providerBalances(), transfers(), payouts(), nettedClawbacks()}
}

// paymentBalances adds up, per payment, what its transfers moved, what its entries say and what its refunds are, and holds
// each pair of sums against each other. One pass over each table serves all of the rules; it is materialized because else
// every parallel worker would make it for itself.
func paymentBalances() check {
	return check{
		rules: []Rule{
			{"balance-advertising", "The balance of platform:advertising for a payment is the net of VAT of its advertising entries " +
				"that are not refunded."},
			{"balance-commission", "The balance of platform:commission for a payment is the commission of its sale entries that are not refunded, " +
				"and what the company bore of refunds instead of the platform."},
			{"balance-customer", "The balance of customer:refunds for a payment is its late money that has not gone back, and its refunds " +
				"that came back and are not paid out; nothing for any other sale."},
			{"balance-goodwill", "The balance of platform:goodwill for a payment is minus what the platform bore of its refunds instead of the " +
				"company."},
			{"balance-paid-out", "The amount paid out to a provider for a payment is the net of its entries that were transferred."},
			{"balance-payable", "The amount owed to a provider for a payment is the net of its entries in the current balance."},
			{"balance-suspense", "The balance of suspense for a payment is the money taken in another amount or currency than was asked " +
				"for that has not gone back; nothing for any other payment."},
			{"balance-vat", "The balance of tax:vat for a payment is the VAT of its advertising entries that are not refunded."},
			{"captured-transfers", "The transfers out of the gateway's account are exactly what was captured, and nothing for a payment " +
				"that was not."},
			{"one-first-line", "A paid transaction has one first entry; every other has none."},
			{"one-live-line", "A paid transaction has one entry that is not refunded while something of it is left, and none afterwards."},
			{"record-vat", "The VAT of the entries of a payment is the VAT of its transaction."},
			{"refund-lines", "The refunded amounts of the entries of a payment are what its transaction says was refunded."},
			{"refund-reserved", "The amount that a transaction has reserved for refunds is the sum of its refunds that are PENDING."},
			{"refund-total", "The refunded amount of a transaction is the sum of its refunds that SUCCEEDED."},
			{"refund-transfers", "The refunded amount of a transaction is what its transfers gave back to the gateway, or paid out manually."},
			{"sold-total", "The entries of a payment add up to what was paid, whatever was refunded of it."},
		},
		needs:   outside,
		sql:     paymentBalancesSQL,
		inParts: true,
	}
}

const paymentBalancesSQL = `
WITH moved AS MATERIALIZED (
    SELECT transaction_id AS id,
        sum(CASE WHEN debit_account LIKE 'gateway:%' AND kind NOT IN ('REFUND_RETURNED', 'OUTSIDE_REFUND_RETURNED')
                 THEN amount ELSE 0 END) AS taken,
        sum(CASE WHEN credit_account LIKE 'gateway:%' AND kind <> 'OUTSIDE_REFUND'
                   OR credit_account LIKE 'platform:bank%' AND kind <> 'REFUND_REPAID'
                 THEN amount ELSE 0 END) AS returned,
        sum(CASE WHEN credit_account LIKE 'provider:%:payable' THEN amount
                 WHEN debit_account LIKE 'provider:%:payable' THEN -amount ELSE 0 END) AS payable,
        sum(CASE WHEN credit_account LIKE 'provider:%:paid_out' THEN amount
                 WHEN debit_account LIKE 'provider:%:paid_out' THEN -amount ELSE 0 END) AS paid_out,
        sum(CASE 'platform:commission' WHEN credit_account THEN amount WHEN debit_account THEN -amount ELSE 0 END) AS commission,
        sum(CASE 'platform:goodwill' WHEN credit_account THEN amount WHEN debit_account THEN -amount ELSE 0 END) AS goodwill,
        sum(CASE 'platform:advertising' WHEN credit_account THEN amount WHEN debit_account THEN -amount ELSE 0 END) AS advertising,
        sum(CASE WHEN credit_account LIKE 'suspense:%' THEN amount
                 WHEN debit_account LIKE 'suspense:%' THEN -amount ELSE 0 END) AS suspense,
        sum(CASE 'tax:vat' WHEN credit_account THEN amount WHEN debit_account THEN -amount ELSE 0 END) AS vat,
        sum(CASE 'customer:refunds' WHEN credit_account THEN amount WHEN debit_account THEN -amount ELSE 0 END) AS customer
    FROM ledger_transfers GROUP BY transaction_id),
stated AS MATERIALIZED (
    SELECT payment_transaction_id AS id,
        sum(CASE WHEN balance_status = 'IN_CURRENT_BALANCE' THEN net_amount ELSE 0 END) AS payable,
        sum(CASE WHEN transferred_at IS NOT NULL THEN net_amount ELSE 0 END) AS paid_out,
        sum(CASE WHEN kind = 'SALE' AND balance_status <> 'REFUNDED' THEN platform_commission_amount
                 WHEN kind = 'ADJUSTMENT' THEN greatest(-net_amount, 0) ELSE 0 END) AS commission,
        sum(CASE WHEN kind = 'ADJUSTMENT' THEN -greatest(net_amount, 0) ELSE 0 END) AS goodwill,
        sum(CASE WHEN kind = 'ADVERTISING' AND balance_status <> 'REFUNDED' THEN gross_amount - vat_amount ELSE 0 END) AS advertising,
        sum(CASE WHEN kind = 'ADVERTISING' AND balance_status <> 'REFUNDED' THEN vat_amount ELSE 0 END) AS tax,
        sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') THEN gross_amount ELSE 0 END) AS sold,
        sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') THEN vat_amount ELSE 0 END) AS vat,
        sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') THEN refunded_amount ELSE 0 END) AS refunded,
        sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND balance_status <> 'REFUNDED' THEN 1 ELSE 0 END) AS live,
        sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND split_from IS NULL THEN 1 ELSE 0 END) AS first
    FROM financial_records GROUP BY payment_transaction_id),
back AS MATERIALIZED (
    SELECT payment_transaction_id AS id,
        sum(CASE status WHEN 'SUCCEEDED' THEN amount ELSE 0 END) AS done,
        sum(CASE status WHEN 'PENDING' THEN amount ELSE 0 END) AS reserved,
        sum(CASE WHEN returned_at IS NOT NULL AND NOT EXISTS (SELECT FROM refund_payouts AS p WHERE p.refund_id = refunds.id)
                 THEN amount ELSE 0 END) AS owed
    FROM refunds GROUP BY payment_transaction_id),
compared AS (
    SELECT t.id,
        ARRAY[coalesce(s.advertising, 0), coalesce(s.commission, 0),
              CASE WHEN t.status <> 'PAID' AND t.captured_at IS NOT NULL THEN t.amount - t.refunded_amount ELSE 0 END + coalesce(b.owed, 0),
              coalesce(s.goodwill, 0), coalesce(s.paid_out, 0), coalesce(s.payable, 0),
              CASE WHEN t.suspense_at IS NOT NULL THEN t.captured_amount - t.refunded_amount ELSE 0 END, coalesce(s.tax, 0),
              CASE WHEN t.suspense_at IS NOT NULL THEN t.captured_amount WHEN t.captured_at IS NOT NULL THEN t.amount ELSE 0 END,
              CASE WHEN t.status = 'PAID' THEN 1 ELSE 0 END,
              CASE WHEN t.status = 'PAID' AND t.refunded_amount < t.amount THEN 1 ELSE 0 END,
              CASE WHEN t.status = 'PAID' THEN t.vat_amount ELSE 0 END,
              CASE WHEN t.status = 'PAID' THEN t.refunded_amount ELSE 0 END,
              t.refund_reserved_amount,
              t.refunded_amount, -- by its refunds
              t.refunded_amount, -- by its transfers
              CASE WHEN t.status = 'PAID' THEN t.amount ELSE 0 END] AS expected,
        ARRAY[coalesce(m.advertising, 0), coalesce(m.commission, 0), coalesce(m.customer, 0), coalesce(m.goodwill, 0),
              coalesce(m.paid_out, 0),
              coalesce(m.payable, 0), coalesce(m.suspense, 0), coalesce(m.vat, 0), coalesce(m.taken, 0), coalesce(s.first, 0),
              coalesce(s.live, 0),
              coalesce(s.vat, 0), coalesce(s.refunded, 0), coalesce(b.reserved, 0), coalesce(b.done, 0), coalesce(m.returned, 0),
              coalesce(s.sold, 0)] AS found
    FROM payment_transactions AS t
    LEFT JOIN moved AS m ON m.id = t.id
    LEFT JOIN stated AS s ON s.id = t.id
    LEFT JOIN back AS b ON b.id = t.id)
SELECT v.rule, 'payment', c.id, format('expected %s, found %s', v.expected, v.found)
FROM compared AS c
CROSS JOIN LATERAL unnest(
    ARRAY['balance-advertising', 'balance-commission', 'balance-customer', 'balance-goodwill', 'balance-paid-out', 'balance-payable',
          'balance-suspense', 'balance-vat',
          'captured-transfers', 'one-first-line', 'one-live-line', 'record-vat', 'refund-lines', 'refund-reserved', 'refund-total',
          'refund-transfers', 'sold-total'], c.expected, c.found) AS v (rule, expected, found)
WHERE c.expected <> c.found AND v.expected <> v.found
ORDER BY 1, 3`

// providerBalances go by the accounts' names and not by payments, so that money booked to another company shows.
func providerBalances() check {
	return check{
		rules: []Rule{{"provider-balance", "What a provider's accounts hold is the net of its own entries in the current balance, and of those " +
			"that were transferred."}},
		reach: everything,
		sql: `
WITH account AS (
    SELECT name, sum(amount) AS balance FROM (
        SELECT credit_account AS name, sum(amount) AS amount FROM ledger_transfers GROUP BY 1
        UNION ALL
        SELECT debit_account, -sum(amount) FROM ledger_transfers GROUP BY 1) AS sides
    WHERE name LIKE 'provider:%' GROUP BY name),
line AS (
    SELECT provider_id, sum(CASE WHEN balance_status = 'IN_CURRENT_BALANCE' THEN net_amount ELSE 0 END) AS payable,
           sum(CASE WHEN transferred_at IS NOT NULL THEN net_amount ELSE 0 END) AS paid_out
    FROM financial_records GROUP BY provider_id),
stated AS (
    SELECT 'provider:' || l.provider_id || ':' || v.place AS name, v.balance
    FROM line AS l CROSS JOIN LATERAL (VALUES ('payable', l.payable), ('paid_out', l.paid_out)) AS v (place, balance))
SELECT 'provider-balance', 'account', coalesce(a.name, s.name),
       format('the lines say %s, the transfers %s', coalesce(s.balance, 0), coalesce(a.balance, 0))
FROM account AS a FULL JOIN stated AS s ON s.name = a.name
WHERE coalesce(a.balance, 0) <> coalesce(s.balance, 0)`,
	}
}

// payouts: the rest of an entry that was paid out was paid out with it, and has no transfer of its own, unless that mark was
// taken back and the rest was marked again. Of each mark that was taken back the ledger has the payout and its reversal.
func payouts() check {
	return check{
		rules: []Rule{{"payout-transfer", "Every entry that was marked transferred has one payout, every mark that was taken back " +
			"one reversal, and every payout and reversal has such an entry."}},
		needs: "payout_reversals",
		sql: `
WITH moved AS (
    SELECT record_id AS id, sum(CASE kind WHEN 'PAYOUT' THEN 1 ELSE 0 END) AS payouts,
           sum(CASE kind WHEN 'PAYOUT' THEN 0 ELSE 1 END) AS reversals
    FROM ledger_transfers WHERE kind IN ('PAYOUT', 'PAYOUT_REVERSAL') AND record_id IS NOT NULL GROUP BY record_id),
reverted AS (SELECT record_id AS id, count(*) AS n FROM payout_reversals GROUP BY record_id),
due AS (
    SELECT r.id, r.net_amount <> 0 AS moves, coalesce(v.n, 0) AS reversals,
           coalesce(v.n, 0) + CASE WHEN r.transferred_at IS NULL THEN 0 ELSE 1 END
                            - CASE WHEN o.transferred_at IS NULL THEN 0 ELSE 1 END AS payouts
    FROM financial_records AS r LEFT JOIN financial_records AS o ON o.id = r.split_from
    LEFT JOIN reverted AS v ON v.id = r.id
    WHERE r.transferred_at IS NOT NULL OR v.id IS NOT NULL)
SELECT 'payout-transfer', 'record', coalesce(due.id, moved.id),
       CASE WHEN due.id IS NULL THEN 'paid out, but not marked transferred'
            ELSE format('marked transferred, with %s payouts and %s reversals; %s and %s expected', coalesce(moved.payouts, 0),
                        coalesce(moved.reversals, 0), due.payouts, due.reversals) END
FROM due FULL JOIN moved ON moved.id = due.id
-- A line of which a refund took all net after its payout keeps the payout.
WHERE CASE WHEN due.id IS NULL THEN true
      WHEN due.moves THEN coalesce(moved.payouts, 0) <> due.payouts OR coalesce(moved.reversals, 0) <> due.reversals
      ELSE coalesce(moved.payouts, 0) > due.payouts OR coalesce(moved.reversals, 0) > due.reversals END`,
	}
}

// nettedClawbacks: a mark that is taken back covers the parts that were refunded under it, and nothing of them is owed.
func nettedClawbacks() check {
	return check{
		rules: []Rule{{"payout-netted", "The claw-backs of what was refunded under a mark that was taken back are netted against its entry, at " +
			"that moment, and no others are."}},
		needs: "payout_reversals",
		sql: `
WITH due AS (
    SELECT c.id, v.record_id, v.created_at
    FROM payout_reversals AS v
    JOIN financial_records AS r ON r.id = v.record_id AND r.kind IN ('SALE', 'ADVERTISING')
    JOIN financial_records AS part ON part.payment_transaction_id = r.payment_transaction_id AND part.kind IN ('SALE', 'ADVERTISING')
        AND part.balance_status = 'REFUNDED' AND part.transferred_at = v.transferred_at
    JOIN financial_records AS c ON c.refund_id = part.refund_id AND c.kind = 'CLAWBACK'),
netted AS (SELECT id, netted_against, transferred_at FROM financial_records WHERE netted_against IS NOT NULL)
SELECT 'payout-netted', 'record', coalesce(due.id, netted.id),
       format('netted against %s at %s; expected %s at %s', coalesce(netted.netted_against::text, 'nothing'), netted.transferred_at,
              coalesce(due.record_id::text, 'nothing'), due.created_at)
FROM due FULL JOIN netted ON netted.id = due.id
WHERE netted.netted_against IS DISTINCT FROM due.record_id OR netted.transferred_at IS DISTINCT FROM due.created_at`,
	}
}
