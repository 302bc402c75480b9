package audit

// reversalTamperings are ways to break what marks that were taken back have to leave behind.
func reversalTamperings(w *world) []tampering {
	rest := w.line(w.reverted.ID, "EXISTS (SELECT FROM payout_reversals AS v WHERE v.record_id = financial_records.id)")
	netted := w.line(w.reverted.ID, "netted_against IS NOT NULL")

	return []tampering{
		{
			"payout-transfer", "a reversal that is gone", `DELETE FROM ledger_transfers WHERE id = (
			SELECT id FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'PAYOUT_REVERSAL' ORDER BY created_at LIMIT 1)`,
			[]any{w.reverted.ID},
			rest,
			[]string{"balance-paid-out", "balance-payable", "provider-balance"},
		},
		{
			"payout-transfer", "a reversal that nothing says", "DELETE FROM payout_reversals WHERE n = 2",
			nil, rest,
			[]string{"record-payout", "transfer-moment"},
		},
		{
			"payout-netted", "a claw-back that is netted against nothing", "UPDATE financial_records SET netted_against = NULL WHERE payment_transaction_id = $1",
			[]any{w.reverted.ID},
			netted, nil,
		},
		{
			"payout-netted", "a claw-back that is owed after all", `UPDATE financial_records SET netted_against = id, balance_status = 'TRANSFERRED', transferred_at = now()
			WHERE payment_transaction_id = $1 AND kind = 'CLAWBACK'`,
			[]any{w.clawed.ID},
			w.line(w.clawed.ID, "kind = 'CLAWBACK'"),
			[]string{"audit-log", "balance-paid-out", "balance-payable", "payout-transfer", "provider-balance"},
		},
		{
			"transfer-moment", "a reversal", `UPDATE ledger_transfers SET created_at = created_at + interval '1 second'
			WHERE transaction_id = $1 AND kind = 'PAYOUT_REVERSAL'`,
			[]any{w.reverted.ID},
			nil, nil,
		},
		{
			"record-payout", "a mark by somebody else", "UPDATE payout_reversals SET transferred_by = reverted_by", nil, rest, nil,
		},
		{
			"audit-log", "a reversal of which nothing tells", "DELETE FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFER_REVERTED'",
			nil, rest,
			[]string{"log-entries"},
		},
		{
			"audit-actor", "a reversal by a stranger", `UPDATE audit_log SET actor_id = gen_random_uuid()
			WHERE action = 'FINANCIAL_RECORD_TRANSFER_REVERTED'`,
			nil, nil,
			[]string{"audit-log", "log-entries"},
		},
	}
}
