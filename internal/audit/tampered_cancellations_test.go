package audit

import (
	"testing"

	"github.com/google/uuid"
)

// cancellationTamperings are about passengers that were cancelled one by one, and about who bears what went back for them.
func cancellationTamperings(w *world) []tampering {
	booking := func(t *testing.T) uuid.UUID {
		t.Helper()

		return *w.parts.BookingID
	}
	cancellation := func(rule, name, what string, others ...string) tampering {
		return tampering{
			rule, name, "UPDATE cancellations SET " + what + " WHERE refund_id = $1", []any{w.byPlatform.ID}, booking, others,
		}
	}
	adjustment := func(name, what string, refund uuid.UUID, others ...string) tampering {
		return tampering{
			"adjustment", name, "UPDATE financial_records SET " + what + " WHERE refund_id = $1 AND kind = 'ADJUSTMENT'",
			[]any{refund},
			of(refund), others,
		}
	}

	name := func(what, sql string) tampering {
		return tampering{"passenger-name", what, sql, []any{w.parts.BookingID}, booking, nil}
	}

	return []tampering{
		name("another name", `UPDATE bookings SET passengers = jsonb_set(passengers, '{2,name}', '"Somebody"') WHERE id = $1`),
		name("a correction that is gone", "DELETE FROM passenger_renames WHERE booking_id = $1 AND n = 1"),
		name("one more than there were", "UPDATE passenger_renames SET n = 3 WHERE booking_id = $1 AND n = 2"),
		name("another one's", "UPDATE passenger_renames SET renamed_by = (SELECT user_id FROM bookings WHERE id = $1) WHERE booking_id = $1 AND n = 1"),
		name("from another name", "UPDATE passenger_renames SET before_digest = sha256('x') WHERE booking_id = $1 AND n = 2"),
		{
			"booking-passengers", "a seat that nobody has", "UPDATE bookings SET seats = seats + 1 WHERE id = $1",
			[]any{w.parts.BookingID},
			booking,
			[]string{"trip-seats"},
		},
		{
			"cancellation-passengers", "a passenger that is not cancelled", "DELETE FROM cancelled_passengers WHERE booking_id = $1 AND position = 2",
			[]any{w.parts.BookingID},
			booking,
			[]string{"booking-passengers"},
		},
		cancellation("cancellation-passengers", "more passengers before it", "seats_before = 4", "cancellation-share"),
		cancellation("cancellation-refund", "not by the policy", "refund_by = 'FULL'"),
		cancellation("cancellation-refund", "not carried out", "status = 'PENDING', done_at = NULL", "cancellation-passengers"),
		cancellation("cancellation-share", "more paid", "paid_amount = paid_amount + 0.01"),
		cancellation("cancellation-share", "less due", "due_amount = due_amount - 0.01"),
		cancellation("cancellation-share", "more given before", "given_amount = 0.01"),
		adjustment("more for the company", "gross_amount = gross_amount + 0.01, net_amount = net_amount + 0.01", w.byPlatform.ID,
			"balance-goodwill", "balance-payable", "provider-balance"),
		adjustment("of another refund", "refund_id = '00000000-0000-0000-0000-000000000001'", w.byProvider.ID, "refund-orphan", "record-subject",
			"transfer-cause"),
		{
			"balance-goodwill", "less of the platform", "UPDATE ledger_transfers SET amount = amount - 0.01 WHERE refund_id = $1 AND kind = 'ADJUSTMENT'",
			[]any{w.byPlatform.ID},
			of(w.parts.ID),
			[]string{"balance-payable", "provider-balance"},
		},
	}
}
