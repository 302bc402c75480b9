package audit

// refundChecks hold each refund against its transfers, its transaction and its ledger entry (rules: refunds.split, refunds.transaction).
func refundChecks() []check {
	return []check{
		refundCap(), refundEffects(), refundOrphans(), refundPolicy(), refundTerms(), refundWays(), refundProof(),
		refundMoments(), refundReturns(), refundApprovals(), refundsAlone(), outsideRefunds(),
	}
}

func refundCap() check {
	return check{
		rules: []Rule{{"refund-cap", "What is refunded and reserved of a payment, and was given back without an order, never exceeds what " +
			"was taken, and nothing is refunded of what was not."}},
		needs: outside,
		sql: `
SELECT 'refund-cap', 'payment', t.id,
       format('refunded %s, reserved %s, outside %s, taken %s', t.refunded_amount, t.refund_reserved_amount, t.outside_refunded_amount,
              CASE WHEN t.captured_at IS NULL THEN coalesce(t.captured_amount, 0) ELSE t.amount END)
FROM payment_transactions AS t
WHERE t.refunded_amount + t.refund_reserved_amount + t.outside_refunded_amount
        > CASE WHEN t.captured_at IS NULL THEN coalesce(t.captured_amount, 0) ELSE t.amount END
   OR t.refunded_amount < 0 OR t.refund_reserved_amount < 0
   OR (t.kind = 'REFUND' AND t.captured_at IS NOT NULL)`,
	}
}

// refundEffects: the transactions of refunds from before the column carry the VAT of their entries. VAT is computed in whole halalas and
// ten-thousandths, as transactionAmount does. Money that came too late was never sold, so its refund has no entry and takes from no
// account.
func refundEffects() check {
	return check{
		needs: "refunds.vat_of_amount",
		rules: []Rule{
			{"refund-given", "The accounts of a sale give back to the customer exactly the refund, once it SUCCEEDED, and nothing before."},
			{"refund-line", "A refund of a sale that SUCCEEDED has closed one entry of exactly its amount; any other refund has none."},
			{"refund-paid", "A refund that SUCCEEDED has gone back to the gateway, or was paid out manually, in full, any other not at all."},
			{"refund-transaction", "A refund that SUCCEEDED has added one transaction of its amount to its payment, any other none."},
			{"refund-vat", "The VAT of a refund's transaction is what the payment's rate makes of its own amount, and 0 of " +
				"money in suspense; of one from before that rule, that of the entry which it closed."},
		},
		sql: `
WITH moved AS (
    SELECT refund_id AS id, sum(CASE WHEN kind = 'REFUND_PAID' THEN amount ELSE 0 END) AS paid,
           sum(CASE WHEN credit_account = 'customer:refunds' THEN amount ELSE 0 END) AS given
    FROM ledger_transfers
    WHERE refund_id IS NOT NULL AND kind NOT IN ('PAYOUT', 'PAYOUT_REVERSAL', 'REFUND_RETURNED', 'REFUND_REPAID') GROUP BY refund_id),
line AS (
    SELECT refund_id AS id, sum(gross_amount) AS gross, sum(vat_amount) AS vat
    FROM financial_records
    WHERE refund_id IS NOT NULL AND kind IN ('SALE', 'ADVERTISING') AND balance_status = 'REFUNDED' GROUP BY refund_id),
x AS (
    SELECT f.id, f.status,
        ARRAY[CASE WHEN f.status = 'SUCCEEDED' AND t.status = 'PAID' THEN f.amount ELSE 0 END,
              CASE WHEN f.status = 'SUCCEEDED' AND t.status = 'PAID' THEN f.amount ELSE 0 END,
              CASE WHEN f.status = 'SUCCEEDED' THEN f.amount ELSE 0 END,
              CASE WHEN f.status = 'SUCCEEDED' THEN f.amount ELSE 0 END,
              CASE WHEN f.status <> 'SUCCEEDED' THEN coalesce(a.vat_amount, 0)
                   WHEN f.vat_of_amount AND (t.suspense_at IS NOT NULL OR t.kind = 'SECOND_DEBIT') THEN 0
                   WHEN f.vat_of_amount THEN div(2 * f.amount * 100 * t.vat_rate * 10000 + 10000 + t.vat_rate * 10000,
                                                 2 * (10000 + t.vat_rate * 10000)) / 100
                   WHEN t.status = 'PAID' THEN coalesce(l.vat, 0) ELSE coalesce(a.vat_amount, 0) END] AS
       expected,
        ARRAY[coalesce(m.given, 0), coalesce(l.gross, 0), coalesce(m.paid, 0), coalesce(a.amount, 0), coalesce(a.vat_amount, 0)] AS found
    FROM refunds AS f
    JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
    LEFT JOIN payment_transactions AS a ON a.id = f.refund_transaction_id AND a.kind = 'REFUND' AND a.parent_id = t.id
        AND (f.refund_type = 'POLICY' OR a.status = CASE f.refund_type WHEN 'FULL' THEN 'REFUNDED' ELSE 'PARTIAL_REFUND' END)
    LEFT JOIN moved AS m ON m.id = f.id
    LEFT JOIN line AS l ON l.id = f.id)
SELECT v.rule, 'refund', x.id, format('%s: expected %s, found %s', x.status, v.expected, v.found)
FROM x CROSS JOIN LATERAL unnest(
    ARRAY['refund-given', 'refund-line', 'refund-paid', 'refund-transaction', 'refund-vat'], x.expected, x.found) AS v (rule, expected,
       found)
WHERE x.expected <> x.found AND v.expected <> v.found
ORDER BY 1, 3`,
	}
}

func refundOrphans() check {
	return check{
		rules: []Rule{{"refund-orphan", "Every refund transaction and every refunded entry belongs to a refund that SUCCEEDED, of the same " +
			"payment."}},
		sql: `
SELECT 'refund-orphan', 'payment', t.id, format('%s of %s for payment %s', t.status, t.amount, t.parent_id)
FROM payment_transactions AS t
LEFT JOIN refunds AS f ON f.refund_transaction_id = t.id AND f.status = 'SUCCEEDED' AND f.payment_transaction_id = t.parent_id
WHERE t.kind = 'REFUND' AND f.id IS NULL
UNION ALL
SELECT 'refund-orphan', 'record', r.id, format('%s %s of payment %s names refund %s', r.kind, r.balance_status, r.payment_transaction_id,
       coalesce(r.refund_id::text, 'none'))
FROM financial_records AS r
LEFT JOIN refunds AS f ON f.id = r.refund_id AND f.status = 'SUCCEEDED' AND f.payment_transaction_id = r.payment_transaction_id
WHERE (r.balance_status = 'REFUNDED' OR r.kind = 'CLAWBACK' OR r.refund_id IS NOT NULL) AND f.id IS NULL`,
	}
}
