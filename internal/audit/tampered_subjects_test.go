package audit

import (
	"testing"

	"github.com/google/uuid"

	"rihla/models"
)

func transferTamperings(w *world) []tampering {
	sale := of(models.TransferID(w.kept.ID, models.TransferSaleNet))
	back := of(models.TransferID(w.partial.ID, models.TransferRefundNet))
	payout := func(t *testing.T) uuid.UUID {
		t.Helper()

		return w.id(t, "SELECT id FROM ledger_transfers WHERE kind = 'PAYOUT' AND transaction_id = $1", w.clawed.ID)
	}
	late := of(models.TransferID(w.late.ID, models.TransferLateCapture))

	const (
		setRecord = "UPDATE ledger_transfers SET record_id = $3 WHERE transaction_id = $1 AND kind = $2"
		later     = "UPDATE ledger_transfers SET created_at = created_at + interval '1 second' WHERE transaction_id = $1 AND kind = $2"
	)

	return []tampering{
		{"transfer-cause", "a sale without its entry", setRecord, []any{w.kept.ID, "SALE_NET", nil}, sale, nil},
		{"transfer-cause", "a refund without its entry", setRecord, []any{w.split.ID, "REFUND_NET", nil}, back, nil},
		{"transfer-cause", "a payout without its entry", setRecord, []any{w.clawed.ID, "PAYOUT", nil}, payout, []string{"payout-transfer"}},
		{
			"transfer-cause", "a sale for a refund", "UPDATE ledger_transfers SET refund_id = $2 WHERE transaction_id = $1 AND kind = 'SALE_NET'",
			[]any{w.kept.ID, w.refused.ID},
			sale, nil,
		},
		{
			"transfer-cause", "a refund out of another entry", `UPDATE ledger_transfers SET record_id = (
			SELECT id FROM financial_records WHERE payment_transaction_id = $1 AND balance_status <> 'REFUNDED') WHERE refund_id = $2 AND kind = 'REFUND_NET'`,
			[]any{w.split.ID, w.partial.ID},
			back, nil,
		},
		{"transfer-moment", "a sale", later, []any{w.kept.ID, "SALE_NET"}, sale, nil},
		{"transfer-moment", "a refund", later, []any{w.split.ID, "REFUND_NET"}, back, nil},
		{"transfer-moment", "a payout", later, []any{w.clawed.ID, "PAYOUT"}, payout, nil},
		{"transfer-moment", "money that came too late", later, []any{w.late.ID, "LATE_CAPTURE"}, late, nil},
	}
}

func lostTamperings(w *world) []tampering {
	event := func(t *testing.T) uuid.UUID {
		t.Helper()

		return w.id(t, "SELECT id FROM webhook_events WHERE transaction_id = $1", w.declined.ID)
	}

	return []tampering{
		{
			"event-lost", "a success that is ignored", "UPDATE webhook_events SET type = 'payment.succeeded', outcome = 'IGNORED' WHERE transaction_id = $1",
			[]any{w.declined.ID},
			event,
			[]string{"event-body"},
		},
		{
			"event-lost", "a success that waits", `UPDATE webhook_events SET type = 'payment.succeeded', outcome = '', processed_at = NULL,
			received_at = now() - interval '25 hours' WHERE transaction_id = $1`,
			[]any{w.declined.ID},
			event,
			[]string{"event-body"},
		},
		{
			"mismatch-event", "a mismatch that nobody reported", "UPDATE webhook_events SET outcome = 'IGNORED', type = 'other' WHERE id = $1",
			[]any{w.mismatch},
			func(t *testing.T) uuid.UUID {
				t.Helper()

				return w.id(t, "SELECT transaction_id FROM webhook_events WHERE id = $1", w.mismatch)
			},
			[]string{"event-body", "suspense-proof"},
		},
		{
			"suspense-proof", "money that is forgotten", `UPDATE payment_transactions SET captured_amount = NULL, captured_currency = NULL,
			suspense_at = NULL WHERE id = $1`,
			[]any{w.suspense.ID},
			of(w.suspense.ID),
			[]string{"balance-suspense", "captured-transfers", "transfer-accounts"},
		},
		{
			"suspense-proof", "money of another day", "UPDATE payment_transactions SET suspense_at = suspense_at - interval '1 day' WHERE id = $1",
			[]any{w.suspense.ID},
			of(w.suspense.ID), nil,
		},
		{"late-incident", "an incident that is gone", "DELETE FROM incidents WHERE kind = 'LATE_PAYMENT'", nil, of(w.late.ID), nil},
		{
			"late-refund", "a refund that was never made", "UPDATE webhook_events SET processed_at = processed_at - interval '25 hours' WHERE transaction_id = $1",
			[]any{w.late.ID},
			of(w.late.ID), nil,
		},
		{"refund-proof", "no word of the gateway", "DELETE FROM webhook_events WHERE refund_id = $1", []any{w.policy.ID}, of(w.policy.ID), nil},
		{"refund-proof", "a word about another amount", "UPDATE webhook_events SET amount = 1.00 WHERE refund_id = $1", []any{w.policy.ID}, of(w.policy.ID), []string{"event-body"}},
		{"refund-proof", "a word that says no", "UPDATE webhook_events SET type = 'refund.failed' WHERE refund_id = $1", []any{w.policy.ID}, of(w.policy.ID), []string{"event-body", "event-outcome"}},
		{"refund-incident", "an incident that is gone", "DELETE FROM incidents WHERE refund_id = $1", []any{w.refused.ID}, of(w.refused.ID), nil},
	}
}

// wayTamperings are about the amount of refunds by the policy, and about the way of the others.
func wayTamperings(w *world) []tampering {
	policy := func(name, what string) tampering {
		return tampering{"refund-policy", name, "UPDATE refunds SET " + what + " WHERE id = $1", []any{w.policy.ID}, of(w.policy.ID), nil}
	}
	decision := func(name, what string) tampering {
		return tampering{"refund-payout", name, "UPDATE refund_payouts SET " + what + " WHERE refund_id = $1", []any{w.byHand.ID}, of(w.byHand.ID), nil}
	}

	kept := func(t *testing.T) uuid.UUID {
		t.Helper()

		return *w.kept.BookingID
	}

	return []tampering{
		{
			"refund-policy", "another percentage", "UPDATE refunds SET policy_percent = 49 WHERE id = $1",
			[]any{w.policy.ID},
			of(w.policy.ID),
			[]string{"refund-terms"},
		},
		policy("other hours", "policy_hours = 23"),
		policy("another policy", "policy_schedule = '24h:40'"),
		policy("no policy", "policy_schedule = 'nobody knows'"),
		policy("other money before it", "policy_given = 14.00, policy_percent = 50"),
		{
			"refund-policy", "another amount", "UPDATE refunds SET amount = amount + 0.01 WHERE id = $1",
			[]any{w.policy.ID},
			of(w.policy.ID),
			[]string{"refund-given", "refund-line", "refund-paid", "refund-proof", "refund-total", "refund-transaction"},
		},
		{
			"refund-terms", "a move that never was", "UPDATE refunds SET policy_reason = 'RESCHEDULED', policy_percent = 100, policy_given = amount WHERE id = $1",
			[]any{w.policy.ID},
			of(w.policy.ID),
			[]string{"refund-policy"},
		},
		{
			"refund-terms", "less than was bought", "UPDATE bookings SET booked_schedule = '24h:80' WHERE id = (SELECT booking_id FROM refunds WHERE id = $1)",
			[]any{w.policy.ID},
			of(w.policy.ID),
			[]string{"booking-terms"},
		},
		{
			"refund-terms", "terms that the booking does not have", "UPDATE refunds SET policy_reason = 'POLICY_AT_BOOKING', policy_schedule = '24h:50' WHERE id = $1",
			[]any{w.policy.ID},
			of(w.policy.ID), nil,
		},
		{
			"booking-moved", "a move within the tolerance", `WITH m AS (INSERT INTO trip_moves (id, trip_id, departure_from, departure_to, tolerance)
				SELECT b.id, b.trip_id, b.booked_departure_at, b.booked_departure_at + interval '1 hour', interval '2 hours'
				FROM bookings AS b JOIN payment_transactions AS t ON t.booking_id = b.id WHERE t.id = $1)
			UPDATE bookings SET rescheduled_by = id WHERE id = (SELECT booking_id FROM payment_transactions WHERE id = $1)`,
			[]any{w.kept.ID},
			kept, nil,
		},
		{
			"booking-moved", "another departure than the trip had", `INSERT INTO trip_moves (id, trip_id, departure_from, departure_to, tolerance)
				SELECT b.id, b.trip_id, b.booked_departure_at - interval '1 hour', b.booked_departure_at, interval '2 hours'
				FROM bookings AS b JOIN payment_transactions AS t ON t.booking_id = b.id WHERE t.id = $1`,
			[]any{w.kept.ID},
			nil, nil,
		},
		{
			"refund-channel", "one that a gateway paid", "UPDATE ledger_transfers SET credit_account = 'gateway:gateway_a' WHERE refund_id = $1 AND kind = 'REFUND_PAID'",
			[]any{w.byHand.ID},
			of(w.byHand.ID), nil,
		},
		{
			"refund-channel", "one that was paid manually", "UPDATE ledger_transfers SET credit_account = 'platform:bank' WHERE refund_id = $1 AND kind = 'REFUND_PAID'",
			[]any{w.partial.ID},
			of(w.partial.ID), nil,
		},
		{"refund-channel", "one that a gateway knows", "UPDATE refunds SET gateway_refund_id = 're-1' WHERE id = $1", []any{w.byHand.ID}, of(w.byHand.ID), nil},
		{"refund-channel", "one of a card", "UPDATE refunds SET channel = 'MANUAL' WHERE id = $1", []any{w.pending.ID}, of(w.pending.ID), nil},
		decision("who asked for it", "decided_by = '"+w.finance.UserID.String()+"'"),
		decision("somebody else", "decided_by = gen_random_uuid()"),
		decision("another reference", "payout_reference = 'TRF-2'"),
		decision("another day", "paid_out_on = paid_out_on - 1"),
		decision("the opposite", "decision = 'REJECTED'"),
		{"refund-payout", "nobody decided", "DELETE FROM refund_payouts WHERE refund_id = $1", []any{w.rejected.ID}, of(w.rejected.ID), nil},
		{
			"refund-payout", "a refund through a gateway", "UPDATE refund_payouts SET refund_id = $2 WHERE refund_id = $1",
			[]any{w.byHand.ID, w.partial.ID},
			of(w.partial.ID), nil,
		},
		{
			"refund-payout", "a decision that nobody applies", `WITH p AS (UPDATE refund_payouts SET refund_id = $2, decided_at = now() - interval '25 hours' WHERE refund_id = $1)
			UPDATE refunds SET channel = 'MANUAL' WHERE id = $2`,
			[]any{w.byHand.ID, w.pending.ID},
			of(w.pending.ID),
			[]string{"refund-channel"},
		},
	}
}

func subjectTamperings(w *world) []tampering {
	const other = "(SELECT id FROM users WHERE role = 'PROVIDER_STAFF' LIMIT 1)"

	added := func(t *testing.T) uuid.UUID {
		t.Helper()

		return w.id(t, "SELECT refund_transaction_id FROM refunds WHERE id = $1", w.partial.ID)
	}
	set := func(rule, name, what string, id uuid.UUID, also ...string) tampering {
		return tampering{rule, name, "UPDATE payment_transactions SET " + what + " WHERE id = $1", []any{id}, of(id), also}
	}
	setAdded := func(name, what string, also ...string) tampering {
		return tampering{
			"refund-parent", name, "UPDATE payment_transactions SET " + what + " WHERE id = (SELECT refund_transaction_id FROM refunds WHERE id = $1)",
			[]any{w.partial.ID},
			added, also,
		}
	}
	setRefund := func(name, what string, also ...string) tampering {
		return tampering{"refund-subject", name, "UPDATE refunds SET " + what + " WHERE id = $1", []any{w.pending.ID}, of(w.pending.ID), also}
	}
	setEntry := func(name, what string) tampering {
		return tampering{
			"record-payout", name, "UPDATE financial_records SET " + what + " WHERE payment_transaction_id = $1 AND transferred_at IS NOT NULL",
			[]any{w.clawed.ID},
			w.line(w.clawed.ID, "split_from IS NULL AND kind = 'SALE'"), nil,
		}
	}
	moved := setEntry("another moment", "transferred_at = transferred_at + interval '1 second'")
	moved.also = []string{"transfer-moment"}

	return []tampering{
		set("payment-subject", "another customer's booking", "user_id = "+other, w.declined.ID),
		set("payment-subject", "nobody", "user_id = gen_random_uuid()", w.declined.ID),
		set("payment-subject", "the wrong gateway for the method", "payment_method = 'wallet_b'", w.declined.ID),
		{
			"payment-subject", "another price of the campaign", "UPDATE ad_campaigns SET price = price + 1 WHERE id = $1",
			[]any{w.campaign.AdCampaignID},
			of(w.campaign.ID), nil,
		},
		{
			"payment-subject", "another company's campaign", "UPDATE ad_campaigns SET provider_id = gen_random_uuid() WHERE id = $1",
			[]any{w.campaign.AdCampaignID},
			of(w.campaign.ID), nil,
		},
		setAdded("paid by another method", "paid_by = 'wallet_a'"),
		setAdded("another booking", "booking_id = '"+w.bookingOf(w.kept)+"'"),
		setAdded("another company", "provider_id = gen_random_uuid()"),
		setAdded("another customer", "user_id = "+other),
		setAdded("another gateway", "gateway = 'wallet_b'"),
		setAdded("another method", "payment_method = 'bill_payment'"),
		setAdded("another rate", "vat_rate = 0.05"),
		setAdded("no payment", "parent_id = gen_random_uuid()", "refund-orphan", "refund-transaction", "refund-vat"),
		setRefund("another booking", "booking_id = '"+w.bookingOf(w.kept)+"'"),
		setRefund("no payment", "payment_transaction_id = gen_random_uuid()", "refund-reserved"),
		setRefund("somebody who does not exist", "requested_by = gen_random_uuid()"),
		setRefund("somebody else", "requested_by = "+other),
		setRefund("nobody any more", "requested_by = NULL"),
		{
			"record-payout", "a payout of an entry that was not paid out", "UPDATE financial_records SET payout_reference = 'P-1' WHERE payment_transaction_id = $1",
			[]any{w.kept.ID},
			w.line(w.kept.ID, "true"), nil,
		},
		setEntry("another reference", "payout_reference = 'other'"),
		setEntry("another day", "payout_date = '2020-01-01'"),
		moved,
	}
}
