package audit

import (
	"testing"

	"github.com/google/uuid"
)

// eventTamperings change what was received; some of them make the digest fit, as who knows of it would.
func eventTamperings(w *world) []tampering {
	event := func(t *testing.T) uuid.UUID {
		t.Helper()

		return w.id(t, "SELECT id FROM webhook_events WHERE transaction_id = $1", w.declined.ID)
	}
	set := func(name, what string) tampering {
		return tampering{"event-body", name, "UPDATE webhook_events SET " + what + " WHERE transaction_id = $1", []any{w.declined.ID}, event, nil}
	}
	fitting := func(name, what string) tampering {
		return tampering{
			"event-body", name + ", with its digest", `UPDATE webhook_events AS e SET (id, type, checkout_id, merchant_reference, amount,
				currency, occurred_at, received_at, body, signature, digest) = (
				SELECT n.id, n.type, n.checkout_id, n.merchant_reference, n.amount, n.currency, n.occurred_at, n.received_at, n.body,
					n.signature, event_digest(n) FROM jsonb_populate_record(e, ` + what + `) AS n)
			WHERE e.transaction_id = $1`,
			[]any{w.declined.ID},
			nil, nil,
		}
	}

	return []tampering{
		set("a space in the body", "body = body || ' '"),
		set("no JSON", "body = 'none'"),
		set("another signature", "signature = replace(signature, 'v1,x', 'v1,y')"),
		set("another moment", "received_at = received_at - interval '1 microsecond'"),
		set("no body", "body = NULL, signature = NULL"),
		set("another result", "result_code = '001'"),
		set("no digest", "digest = NULL"),
		fitting("no body", `'{"body": null, "signature": null}'`),
		fitting("no signature", `'{"signature": null}'`),
		fitting("a signature of another form", `'{"signature": "webhook-timestamp: 1\nwebhook-signature: v1,forged"}'`),
		fitting("another type", `'{"type": "payment.expired"}'`),
		fitting("another amount", `jsonb_build_object('amount', e.amount + 0.01)`),
		fitting("another currency", `'{"currency": "USD"}'`),
		fitting("another checkout", `'{"checkout_id": "ref-other"}'`),
		fitting("another reference", `'{"merchant_reference": "00000000-0000-0000-0000-000000000001"}'`),
		fitting("another moment of the payment", `jsonb_build_object('occurred_at', e.occurred_at - interval '10 microseconds')`),
		fitting("received before it was named", `jsonb_build_object('received_at', e.received_at - interval '2 hours')`),
		fitting("received before it was signed", `jsonb_build_object('received_at', e.received_at - interval '2 hours',
			'id', '019a0000-0000-4000-8000-000000000001')`),
		fitting("a body of another amount", `jsonb_build_object('body', regexp_replace(e.body, '"amount": [0-9.]+', '"amount": 1e0'))`),
		fitting("a body of another moment", `jsonb_build_object('body', regexp_replace(e.body, '"timestamp": "[^"]+"', '"timestamp": "2026-01-01T23:59:59,5+23:59"'))`),
	}
}

// factTamperings change who, when and why.
func factTamperings(w *world) []tampering {
	refund := func(rule, name, what string, id uuid.UUID, also ...string) tampering {
		return tampering{rule, name, "UPDATE refunds SET " + what + " WHERE id = $1", []any{id}, of(id), also}
	}
	booking := func(name, what string) tampering {
		return tampering{
			"booking-terms", name, "UPDATE bookings AS b SET " + what + " WHERE id = $1",
			[]any{w.kept.BookingID},
			func(*testing.T) uuid.UUID { return *w.kept.BookingID }, nil,
		}
	}

	marked := w.line(w.clawed.ID, "split_from IS NULL AND kind = 'SALE'")
	rest := w.line(w.clawed.ID, "split_from IS NOT NULL")
	reverted := w.line(w.reverted.ID, "EXISTS (SELECT FROM payout_reversals AS v WHERE v.record_id = financial_records.id)")

	const sooner = " - interval '1 microsecond'"

	return []tampering{
		refund("refund-end", "another moment", "completed_at = completed_at"+sooner, w.partial.ID),
		refund("refund-end", "another moment of a refusal", "completed_at = completed_at"+sooner, w.refused.ID),
		refund("refund-end", "another moment of a payout", "completed_at = completed_at"+sooner, w.byHand.ID),
		refund("refund-end", "the gateway's id of another one", "gateway_refund_id = 're-other'", w.partial.ID),
		refund("refund-end", "no id of the gateway", "gateway_refund_id = NULL", w.partial.ID),
		{
			"refund-end", "an event of another moment", "UPDATE webhook_events SET processed_at = processed_at + interval '1 second' WHERE refund_id = $1",
			[]any{w.partial.ID},
			of(w.partial.ID), nil,
		},
		refund("refund-order", "another moment", "created_at = created_at"+sooner, w.pending.ID),
		refund("refund-order", "another moment of late money's", "created_at = created_at"+sooner, w.owed.ID),
		refund("refund-order", "a sending before it", "sends = 1, sent_answer = 'UNKNOWN', sent_at = created_at"+sooner, w.pending.ID),
		refund("refund-order", "another reason", "reason = 'None.'", w.pending.ID),
		refund("refund-order", "a reason of late money's", "reason = 'None.'", w.owed.ID),
		booking("another departure", "booked_departure_at = booked_departure_at + interval '1 minute'"),
		booking("another schedule", "booked_schedule = '0h:0'"),
		booking("no schedule", "booked_schedule = NULL, terms_digest = booking_terms_digest(jsonb_populate_record(b, '{\"booked_schedule\": null}'))"),
		booking("another departure, with its digest", `booked_departure_at = booked_departure_at + interval '1 minute', terms_digest =
			booking_terms_digest(jsonb_populate_record(b, jsonb_build_object('booked_departure_at', booked_departure_at + interval '1 minute')))`),
		booking("no digest", "terms_digest = NULL"),
		booking("another day of booking", "created_at = created_at - interval '1 day'"),
		{
			"booking-terms", "a trip that was moved by nobody", "UPDATE trips SET departure_at = departure_at + interval '1 hour' WHERE id = $1",
			[]any{w.Trip.ID},
			func(*testing.T) uuid.UUID { return *w.kept.BookingID }, nil,
		},
		{
			"record-payout", "by somebody else", "UPDATE financial_records SET transferred_by = $2 WHERE payment_transaction_id = $1 AND transferred_at IS NOT NULL",
			[]any{w.clawed.ID, w.Users["ADMIN"].ID},
			marked, nil,
		},
		{
			"record-payout", "by nobody", "UPDATE financial_records SET transferred_by = NULL WHERE payment_transaction_id = $1 AND transferred_at IS NOT NULL",
			[]any{w.clawed.ID},
			marked, nil,
		},
		{
			"record-payout", "a person without a payout", "UPDATE financial_records SET transferred_by = $2 WHERE payment_transaction_id = $1",
			[]any{w.kept.ID, w.finance.UserID},
			w.line(w.kept.ID, "true"), nil,
		},
		{
			"split-chain", "a person that is lost", "UPDATE financial_records SET transferred_by = NULL WHERE payment_transaction_id = $1 AND split_from IS NOT NULL",
			[]any{w.clawed.ID},
			rest, nil,
		},
		{"record-payout", "taken back for another reason", "UPDATE payout_reversals SET reason = 'None.'", nil, reverted, nil},
	}
}
