package audit

import (
	"testing"

	"github.com/google/uuid"
)

// checkInTamperings are about who has boarded.
func checkInTamperings(w *world) []tampering {
	booking := func(*testing.T) uuid.UUID { return *w.parts.BookingID }
	changed := func(rule, name, what string) tampering {
		return tampering{rule, name, "UPDATE check_ins SET " + what + " WHERE booking_id = $1", []any{w.parts.BookingID}, booking, nil}
	}

	return []tampering{
		changed("check-in", "nobody", "position = 4"),
		changed("check-in", "one who had been cancelled", "position = 1, created_at = created_at + interval '60 days'"),
		changed("check-in", "another trip", "trip_id = '00000000-0000-0000-0000-000000000001'"),
		changed("check-in-moment", "before the booking", "checked_in_at = checked_in_at - interval '3 days'"),
	}
}
