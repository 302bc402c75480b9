package audit

// refundProof: refunds that predate the storing of gateways' answers have their webhook, if that came.
func refundProof() check {
	return check{
		needs: "refunds.proof_due",
		rules: []Rule{
			{"refund-proof", "A refund that SUCCEEDED through its gateway has an event of the gateway that says so, of the same amount and " +
				"currency."},
		},
		sql: `
SELECT 'refund-proof', 'refund', f.id, format('%s %s without an event that says so', f.amount, f.currency)
FROM refunds AS f
WHERE f.status = 'SUCCEEDED' AND f.channel = 'GATEWAY' AND f.proof_due AND NOT EXISTS (
    SELECT FROM webhook_events AS e
    WHERE e.refund_id = f.id AND e.type = 'refund.succeeded' AND e.amount = f.amount AND e.currency = f.currency)
ORDER BY 1, 3`,
	}
}
