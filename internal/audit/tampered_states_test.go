package audit

import (
	"testing"

	"github.com/google/uuid"
)

func refundTamperings(w *world) []tampering {
	ofRefund := of(w.partial.ID)

	return []tampering{
		{
			"refund-cap", "more than was paid", "UPDATE payment_transactions SET refunded_amount = amount + 1 WHERE id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"booking-status", "one-live-line", "outside-refund-held", "refund-lines", "refund-total", "refund-transfers"},
		},
		{
			"refund-given", "an account that gave nothing", "UPDATE ledger_transfers SET refund_id = $2 WHERE refund_id = $1 AND kind = 'REFUND_NET'",
			[]any{w.partial.ID, w.pending.ID},
			ofRefund,
			[]string{"transfer-accounts", "transfer-cause"},
		},
		{
			"refund-line", "a refund without an entry", "UPDATE financial_records SET refund_id = NULL WHERE refund_id = $1",
			[]any{w.partial.ID},
			ofRefund,
			[]string{"refund-orphan", "transfer-cause"},
		},
		{
			"refund-paid", "a refund that the gateway never got", "UPDATE refunds SET status = 'PENDING' WHERE id = $1",
			[]any{w.partial.ID},
			ofRefund,
			[]string{"event-outcome", "refund-given", "refund-line", "refund-orphan", "refund-reserved", "refund-total", "refund-transaction"},
		},
		{
			"refund-transaction", "one of another amount", "UPDATE payment_transactions SET amount = amount + 1 WHERE id = (SELECT refund_transaction_id FROM refunds WHERE id = $1)",
			[]any{w.partial.ID},
			ofRefund, nil,
		},
		{
			"refund-transaction", "one that says it was all", "UPDATE payment_transactions SET status = 'REFUNDED' WHERE id = (SELECT refund_transaction_id FROM refunds WHERE id = $1)",
			[]any{w.partial.ID},
			ofRefund,
			[]string{"refund-vat", "state-log"},
		},
		{
			"refund-vat", "VAT of a refund", "UPDATE payment_transactions SET vat_amount = vat_amount + 0.01 WHERE id = (SELECT refund_transaction_id FROM refunds WHERE id = $1)",
			[]any{w.partial.ID},
			ofRefund, nil,
		},
		{
			"refund-orphan", "a refund transaction without a refund", "UPDATE refunds SET refund_transaction_id = NULL WHERE id = $1",
			[]any{w.partial.ID},
			func(t *testing.T) uuid.UUID {
				t.Helper()

				return w.id(t, "SELECT refund_transaction_id FROM refunds WHERE id = $1", w.partial.ID)
			},
			[]string{"refund-transaction", "refund-vat"},
		},
	}
}

func stateTamperings(w *world) []tampering {
	return []tampering{
		{"transaction-vat", "VAT of a booking", "UPDATE payment_transactions SET vat_amount = 14.99 WHERE id = $1", []any{w.kept.ID}, of(w.kept.ID), []string{"record-vat"}},
		{
			"transaction-vat", "VAT of a campaign", "UPDATE payment_transactions SET vat_amount = vat_amount - 0.01 WHERE id = $1",
			[]any{w.campaign.ID},
			of(w.campaign.ID),
			[]string{"payment-subject", "record-vat"},
		},
		{"payment-method", "one that the gateway did not say", "UPDATE payment_transactions SET paid_by = 'wallet_a' WHERE id = $1", []any{w.kept.ID}, of(w.kept.ID), nil},
		{"payment-proof", "an event that is gone", "DELETE FROM webhook_events WHERE transaction_id = $1", []any{w.kept.ID}, of(w.kept.ID), nil},
		{"payment-proof", "an event of another amount", "UPDATE webhook_events SET amount = amount - 1 WHERE transaction_id = $1", []any{w.kept.ID}, of(w.kept.ID), []string{"event-body"}},
		{
			"payment-proof", "a payment that was never captured", "UPDATE payment_transactions SET status = 'FAILED', captured_at = NULL WHERE id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"booking-status", "captured-transfers", "event-outcome", "one-first-line", "one-live-line", "record-subject", "record-vat", "sold-total", "state-log"},
		},
		{
			"payment-moment", "money that was taken earlier", "UPDATE payment_transactions SET captured_at = captured_at - interval '1 millisecond' WHERE id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID), nil,
		},
		{
			"payment-moment", "a gateway that spoke of another time", "UPDATE webhook_events SET occurred_at = occurred_at - interval '1 second' WHERE transaction_id = $1",
			[]any{w.kept.ID},
			of(w.kept.ID),
			[]string{"event-body"},
		},
		{"event-outcome", "an incident that nobody opened", "DELETE FROM incidents WHERE kind = 'AMOUNT_MISMATCH'", nil, of(w.mismatch), []string{"suspense-proof"}},
		{"event-outcome", "an outcome without its moment", "UPDATE webhook_events SET processed_at = NULL WHERE id = $1", []any{w.mismatch}, of(w.mismatch), nil},
		{
			"state-log", "a state changed around its trail", "UPDATE payment_transactions SET status = 'PENDING', failure_code = NULL WHERE id = $1",
			[]any{w.declined.ID},
			of(w.declined.ID),
			[]string{"event-outcome"},
		},
		{"state-log", "a trail without its beginning", "DELETE FROM transaction_state_changes WHERE transaction_id = $1 AND from_status IS NULL", []any{w.kept.ID}, of(w.kept.ID), nil},
		{
			"state-log", "a step that is there twice", `INSERT INTO transaction_state_changes (transaction_id, from_status, to_status)
			SELECT transaction_id, from_status, to_status FROM transaction_state_changes WHERE transaction_id = $1 AND from_status = 'PENDING'`,
			[]any{w.kept.ID},
			of(w.kept.ID), nil,
		},
		{
			"state-log", "a trail of nothing", "INSERT INTO transaction_state_changes (transaction_id, to_status) VALUES ($1, 'PENDING')",
			[]any{w.mismatch},
			of(w.mismatch), nil,
		},
		{
			"state-log", "a trail that goes backwards", "INSERT INTO transaction_state_changes (transaction_id, from_status, to_status) VALUES ($1, 'PAID', 'FAILED'), ($1, 'FAILED', 'PAID')",
			[]any{w.kept.ID},
			of(w.kept.ID), nil,
		},
		{"booking-status", "one that nobody paid", "UPDATE bookings SET status = 'CONFIRMED' WHERE id = $1", []any{w.declined.BookingID}, func(*testing.T) uuid.UUID { return *w.declined.BookingID }, nil},
		{
			"booking-status", "one that was refunded", "UPDATE bookings SET status = 'PENDING_PAYMENT' WHERE id = $1",
			[]any{w.returned.BookingID},
			func(*testing.T) uuid.UUID { return *w.returned.BookingID }, nil,
		},
		{
			"campaign-status", "one that is paid", "UPDATE ad_campaigns SET status = 'PENDING_PAYMENT' WHERE id = $1",
			[]any{w.campaign.AdCampaignID},
			func(*testing.T) uuid.UUID { return *w.campaign.AdCampaignID }, nil,
		},
		{"trip-seats", "a seat that nobody has", "UPDATE trips SET seats_taken = seats_taken + 1 WHERE id = $1", []any{w.Trip.ID}, of(w.Trip.ID), nil},
	}
}

func traceTamperings(w *world) []tampering {
	return []tampering{
		{"audit-log", "a refund", "DELETE FROM audit_log WHERE entity_id = $1", []any{w.partial.ID}, of(w.partial.ID), []string{"log-entries"}},
		{"audit-log", "a payout", "DELETE FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'", nil, w.line(w.clawed.ID, "split_from IS NULL AND kind = 'SALE'"), []string{"log-entries"}},
		{"notification", "an SMS", "DELETE FROM notifications WHERE transaction_id = $1 AND channel = 'SMS'", []any{w.kept.ID}, of(w.kept.ID), nil},
		{"audit-actor", "nobody paid out", "UPDATE audit_log SET actor_id = NULL WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'", nil, w.entry("FINANCIAL_RECORD_TRANSFERRED"), []string{"log-entries", "record-payout"}},
		{"audit-actor", "no such user", "UPDATE audit_log SET actor_id = gen_random_uuid() WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'", nil, w.entry("FINANCIAL_RECORD_TRANSFERRED"), []string{"log-entries", "record-payout"}},
		{"report-days", "a sum", "UPDATE report_days_folded SET gross_amount = gross_amount + 1 WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-days", "a day that is gone", "DELETE FROM report_days_folded WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-days", "an entry's part", "UPDATE report_deltas SET gross_amount = gross_amount + 1 WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-days", "entries that are not counted", "DELETE FROM report_deltas WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), []string{"report-texts"}},
		{"report-states", "a sum", "UPDATE report_states_folded SET net_amount = net_amount + 1 WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-states", "a day that is gone", "DELETE FROM report_states_folded WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-states", "an entry in another state", "UPDATE report_state_deltas SET balance_status = 'TRANSFERRED' WHERE provider_id = $1 AND balance_status = 'IN_CURRENT_BALANCE'", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-texts", "a count", "UPDATE report_texts_folded SET transferred_count = transferred_count + 1 WHERE provider_id = $1 AND day = '-infinity'", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"report-texts", "a text that is gone", "DELETE FROM report_texts_folded WHERE provider_id = $1", []any{w.Provider.ID}, of(w.Provider.ID), nil},
		{"record-text", "another title", "UPDATE record_texts SET trip_title = trip_title || '!'", nil, w.line(w.clawed.ID, "kind = 'CLAWBACK'"), nil},
		{"record-text", "other details", "UPDATE record_texts SET details = details || '!'", nil, w.line(w.clawed.ID, "kind = 'CLAWBACK'"), nil},
		{"record-text", "no text", "UPDATE financial_records SET text_id = -1 WHERE kind = 'SALE'", nil, w.line(w.clawed.ID, "split_from IS NULL AND kind = 'SALE'"), nil},
	}
}
