package audit

// refundReturns: money that a company has again after its refund had succeeded.
func refundReturns() check {
	return check{
		needs: returned,
		rules: []Rule{{"refund-returned", "A refund that came back is booked so once, in full, by an event of the gateway that says it failed, " +
			"and has an incident; it is paid out manually at most once, when that was confirmed. No other refund has such transfers."}},
		sql: `
WITH moved AS (
    SELECT refund_id AS id, sum(CASE kind WHEN 'REFUND_RETURNED' THEN amount ELSE 0 END) AS back,
           sum(CASE kind WHEN 'REFUND_REPAID' THEN amount ELSE 0 END) AS repaid
    FROM ledger_transfers WHERE kind IN ('REFUND_RETURNED', 'REFUND_REPAID') GROUP BY refund_id)
SELECT 'refund-returned', 'refund', f.id,
       format('%s of %s, came back at %s: %s booked, %s paid out again; payout: %s', f.status, f.amount,
              coalesce(f.returned_at::text, 'no time'), coalesce(m.back, 0), coalesce(m.repaid, 0), coalesce(p.decision, 'none'))
FROM refunds AS f LEFT JOIN moved AS m ON m.id = f.id LEFT JOIN refund_payouts AS p ON p.refund_id = f.id
WHERE (f.returned_at IS NOT NULL OR m.id IS NOT NULL)
  AND (coalesce(m.back, 0) <> CASE WHEN f.returned_at IS NULL THEN 0 ELSE f.amount END
       OR coalesce(m.repaid, 0) <> CASE WHEN f.returned_at IS NOT NULL AND p.decision = 'PAID_OUT' THEN f.amount ELSE 0 END
       OR NOT EXISTS (SELECT FROM webhook_events AS e WHERE e.refund_id = f.id AND e.type = 'refund.failed' AND e.amount = f.amount
                      AND e.currency = f.currency)
       OR NOT EXISTS (SELECT FROM incidents AS i WHERE i.refund_id = f.id AND i.kind = 'REFUND_FAILED'))
ORDER BY 1, 3`,
	}
}
