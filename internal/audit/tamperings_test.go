package audit

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"rihla/models"
)

// tamperings are ways to break every rule, at least one of each.
func tamperings(w *world) []tampering {
	return slices.Concat(recordTamperings(w), balanceTamperings(w), transferTamperings(w), refundTamperings(w), stateTamperings(w),
		lostTamperings(w), subjectTamperings(w), traceTamperings(w), wayTamperings(w), reversalTamperings(w), eventTamperings(w), factTamperings(w),
		returnTamperings(w), outsideTamperings(w), secondDebitTamperings(w), approvalTamperings(w), archiveTamperings(), snapshotTamperings(),
		logTamperings(w), cancellationTamperings(w), checkInTamperings(w), tripTamperings(w))
}

func of(id uuid.UUID) func(*testing.T) uuid.UUID {
	return func(*testing.T) uuid.UUID { return id }
}

// line finds a payment's first or only entry of which the condition holds.
func (w *world) line(payment uuid.UUID, where string) func(*testing.T) uuid.UUID {
	return func(t *testing.T) uuid.UUID {
		t.Helper()

		return w.id(t, "SELECT id FROM financial_records WHERE payment_transaction_id = $1 AND "+where, payment)
	}
}

func recordTamperings(w *world) []tampering {
	live := w.line(w.kept.ID, "true")

	return []tampering{
		{
			"record-arithmetic", "a net that is too large", "UPDATE financial_records SET net_amount = net_amount + 0.01 WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			live,
			[]string{"balance-payable", "provider-balance"},
		},
		{
			"record-subject", "another day", `UPDATE financial_records SET record_date = record_date + CASE to_char(record_date, 'MMDD') WHEN '1231' THEN -1 ELSE 1 END
			WHERE payment_transaction_id = $1`,
			[]any{w.kept.ID},
			live, nil,
		},
		{
			"record-subject", "no such payment", "UPDATE financial_records SET payment_transaction_id = '00000000-0000-0000-0000-000000000001' WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			live,
			[]string{"balance-commission", "balance-payable", "one-first-line", "one-live-line", "record-vat", "sold-total", "transfer-accounts"},
		},
		{
			"record-commission", "a commission that no rate makes", "UPDATE financial_records SET platform_commission_amount = 11.54, net_amount = 103.46 WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"balance-commission", "balance-payable", "provider-balance"},
		},
		{
			"record-commission", "a commission of another rate", `UPDATE financial_records SET platform_commission_amount = 23.00, net_amount = 92.00
			WHERE payment_transaction_id = $1`,
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"balance-commission", "balance-payable", "provider-balance"},
		},
		{
			"record-commission", "net of advertising", "UPDATE financial_records SET platform_commission_amount = 1000, net_amount = gross_amount - 1000 WHERE payment_transaction_id = $1",
			[]any{w.campaign.ID},
			of(w.campaign.ID),
			[]string{"record-arithmetic", "balance-payable", "provider-balance"},
		},
		{
			"record-rate", "an entry of another rate than its attempt", "UPDATE financial_records SET commission_rate = 0.2 WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			live, nil,
		},
		{
			"record-rate", "a claw-back with a rate", "UPDATE financial_records SET commission_rate = 0.1 WHERE kind = 'CLAWBACK'",
			nil, w.line(w.clawed.ID, "kind = 'CLAWBACK'"), nil,
		},
		{
			// The whole sale is forged, in the books and on the attempt: only the provider's own rate tells.
			"record-rate", "an attempt of another rate than the provider's", `WITH p AS (UPDATE providers SET updated_at = now() - interval '1 day')
			UPDATE payment_transactions SET commission_rate = 0.2 WHERE id = $1`,
			[]any{w.declined.ID},
			of(w.declined.ID), nil,
		},
		{
			"record-rate", "a campaign that is shared", "UPDATE payment_transactions SET commission_rate = 0.1 WHERE id = $1",
			[]any{w.campaign.ID},
			nil,
			[]string{"record-commission"},
		},
		{
			"record-number", "another year", "UPDATE financial_records SET transaction_number = 'RH-1999-000001' WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			live, nil,
		},
		{
			"record-number", "a number to come", "UPDATE financial_records SET transaction_number = left(transaction_number, 8) || '999999' WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			live, nil,
		},
		{
			"split-chain", "a rest of another payment", "UPDATE financial_records SET split_from = (SELECT id FROM financial_records WHERE payment_transaction_id = $2) WHERE payment_transaction_id = $1",
			[]any{w.kept.ID, w.reserved.ID},
			live,
			[]string{"one-first-line", "transfer-cause"},
		},
		{
			"split-chain", "a payout that is lost", "UPDATE financial_records SET payout_reference = 'other' WHERE payment_transaction_id = $1 AND split_from IS NOT NULL",
			[]any{w.clawed.ID},
			w.line(w.clawed.ID, "split_from IS NOT NULL"), nil,
		},
		{
			"split-share", "a halala of commission from part to rest", `UPDATE financial_records SET
			platform_commission_amount = platform_commission_amount + CASE balance_status WHEN 'REFUNDED' THEN 0.01 ELSE -0.01 END,
			net_amount = net_amount - CASE balance_status WHEN 'REFUNDED' THEN 0.01 ELSE -0.01 END
			WHERE payment_transaction_id = $1 AND (split_from IS NULL OR balance_status <> 'REFUNDED')`,
			[]any{w.split.ID},
			w.line(w.split.ID, "split_from IS NULL"),
			[]string{"balance-commission", "balance-payable", "provider-balance"},
		},
		{
			"clawback", "one that is too small", "UPDATE financial_records SET gross_amount = gross_amount + 1, net_amount = net_amount + 1 WHERE kind = 'CLAWBACK' AND payment_transaction_id = $1",
			[]any{w.clawed.ID},
			w.line(w.clawed.ID, "kind = 'CLAWBACK'"),
			[]string{"balance-payable", "provider-balance"},
		},
		{
			"clawback", "one that is missing", "DELETE FROM financial_records WHERE kind = 'CLAWBACK' AND payment_transaction_id = $1",
			[]any{w.clawed.ID},
			w.line(w.clawed.ID, "kind = 'SALE' AND balance_status = 'REFUNDED'"),
			[]string{"balance-payable", "provider-balance"},
		},
	}
}

func balanceTamperings(w *world) []tampering {
	const move = "UPDATE ledger_transfers SET amount = amount + 1 WHERE transaction_id = $1 AND kind = $2"

	return []tampering{
		{"balance-advertising", "a transfer that is too large", move, []any{w.campaign.ID, "ADVERTISING"}, of(w.campaign.ID), []string{"captured-transfers"}},
		{"balance-commission", "a transfer that is too large", move, []any{w.kept.ID, "SALE_COMMISSION"}, of(w.kept.ID), []string{"captured-transfers"}},
		{
			"balance-customer", "a refund that took too much from an account", move,
			[]any{w.returned.ID, "REFUND_COMMISSION"},
			of(w.returned.ID),
			[]string{"balance-commission", "refund-given"},
		},
		{"balance-paid-out", "a payout that is too large", move, []any{w.clawed.ID, "PAYOUT"}, of(w.clawed.ID), []string{"balance-payable", "provider-balance"}},
		{
			"balance-payable", "a sale that is gone", "DELETE FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'SALE_NET'",
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"captured-transfers", "provider-balance"},
		},
		{"balance-suspense", "a transfer that is too large", move, []any{w.suspense.ID, "SUSPENSE_CAPTURE"}, of(w.suspense.ID), []string{"captured-transfers"}},
		{"balance-vat", "a transfer that is too large", move, []any{w.campaign.ID, "ADVERTISING_VAT"}, of(w.campaign.ID), []string{"captured-transfers"}},
		{
			"captured-transfers", "money of a payment that failed", `INSERT INTO ledger_transfers (id, debit_account, credit_account, amount, kind, transaction_id)
			VALUES (gen_random_uuid(), 'gateway:gateway_a', 'customer:refunds', 1, 'LATE_CAPTURE', $1)`,
			[]any{w.declined.ID},
			of(w.declined.ID),
			[]string{"balance-customer"},
		},
		{
			"one-first-line", "a second entry", `INSERT INTO financial_records SELECT (jsonb_populate_record(r, jsonb_build_object(
			'id', gen_random_uuid(), 'transaction_number', left(transaction_number, 8) || '000000'))).* FROM financial_records AS r WHERE payment_transaction_id = $1`,
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"balance-commission", "balance-payable", "one-live-line", "provider-balance", "record-vat", "sold-total"},
		},
		{
			"one-live-line", "an entry that is gone", "DELETE FROM financial_records WHERE payment_transaction_id = $1 AND balance_status <> 'REFUNDED'",
			[]any{w.split.ID},
			of(w.split.ID),
			[]string{"balance-commission", "balance-payable", "provider-balance", "record-vat", "sold-total"},
		},
		{
			"record-vat", "VAT of an entry", "UPDATE financial_records SET vat_amount = vat_amount + 0.01 WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID), nil,
		},
		{
			"refund-lines", "a refunded entry that is live", `UPDATE financial_records SET balance_status = 'IN_CURRENT_BALANCE', refunded_amount = 0, refund_id = NULL
			WHERE payment_transaction_id = $1`,
			[]any{w.returned.ID},
			of(w.returned.ID),
			[]string{"balance-commission", "balance-payable", "one-live-line", "provider-balance", "refund-line", "transfer-cause"},
		},
		{
			"refund-reserved", "a reservation that is forgotten", "UPDATE payment_transactions SET refund_reserved_amount = 0 WHERE id = $1",
			[]any{w.reserved.ID},
			of(w.reserved.ID), nil,
		},
		{
			"refund-total", "a refund of another amount", "UPDATE refunds SET amount = amount + 1 WHERE payment_transaction_id = $1",
			[]any{w.returned.ID},
			of(w.returned.ID),
			[]string{"refund-given", "refund-line", "refund-paid", "refund-proof", "refund-transaction", "refund-vat"},
		},
		{
			"refund-transfers", "money that the gateway did not get", "UPDATE ledger_transfers SET amount = 1 WHERE transaction_id = $1 AND kind = 'REFUND_PAID'",
			[]any{w.returned.ID},
			of(w.returned.ID),
			[]string{"balance-customer", "refund-paid"},
		},
		{
			"sold-total", "an entry of another amount", "UPDATE financial_records SET gross_amount = gross_amount + 10, net_amount = net_amount + 9, platform_commission_amount = platform_commission_amount + 1 WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"balance-commission", "balance-payable", "provider-balance"},
		},
		{
			"provider-balance", "money of another company", "UPDATE ledger_transfers SET credit_account = 'provider:00000000-0000-0000-0000-000000000001:payable' WHERE transaction_id = $1 AND kind = 'SALE_NET'",
			[]any{w.kept.ID},
			nil,
			[]string{"transfer-accounts"},
		},
		{
			"transfer-accounts", "the wrong gateway", "UPDATE ledger_transfers SET debit_account = 'gateway:wallet_b' WHERE transaction_id = $1 AND kind = 'SALE_NET'",
			[]any{w.kept.ID},
			of(models.TransferID(w.kept.ID, models.TransferSaleNet)), nil,
		},
		{
			"transfer-accounts", "the entry of another payment", "UPDATE ledger_transfers SET record_id = (SELECT id FROM financial_records WHERE payment_transaction_id = $2) WHERE transaction_id = $1 AND kind = 'SALE_NET'",
			[]any{w.kept.ID, w.reserved.ID},
			of(models.TransferID(w.kept.ID, models.TransferSaleNet)),
			[]string{"transfer-moment"},
		},
		{
			"payout-transfer", "an entry that only says so", "UPDATE financial_records SET balance_status = 'TRANSFERRED', transferred_at = now() WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			w.line(w.kept.ID, "true"),
			[]string{"audit-log", "balance-paid-out", "balance-payable", "provider-balance"},
		},
	}
}
