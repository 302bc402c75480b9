package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// CheckIn says that a passenger has boarded. Rows are written once, for the first device that reports the passenger.
type CheckIn struct {
	bun.BaseModel `bun:"table:check_ins,alias:ci"`

	BookingID   uuid.UUID `bun:"booking_id,pk"`
	Position    int       `bun:"position,pk"` // of the passenger, from 1
	TripID      uuid.UUID `bun:"trip_id"`
	CheckedInAt time.Time `bun:"checked_in_at"` // by the device's clock
	DeviceID    string    `bun:"device_id"`
	CheckedInBy uuid.UUID `bun:"checked_in_by"`
	CreatedAt   time.Time `bun:"created_at"` // when it was reported
}

// CheckInStatus is what became of one report of a device.
type CheckInStatus string

// What becomes of reports (rules: tickets.check-in).
const (
	CheckInDone      CheckInStatus = "CHECKED_IN"
	CheckInAlready   CheckInStatus = "ALREADY"    // another report was first
	CheckInCancelled CheckInStatus = "CANCELLED"  // the passenger was
	CheckInOtherTrip CheckInStatus = "OTHER_TRIP" // a ticket of another trip of the same company
	CheckInInvalid   CheckInStatus = "INVALID"
)

var checkInLabels = map[CheckInStatus]Label{
	CheckInDone: {"صعد", "Checked in"}, CheckInAlready: {"سُجّل صعوده من قبل", "Already checked in"}, CheckInCancelled: {"ملغى", "Cancelled"},
	CheckInOtherTrip: {"تذكرة رحلة أخرى", "Ticket of another trip"}, CheckInInvalid: {"تذكرة غير صالحة", "Invalid ticket"},
}

// Label is what became of a report, for people.
func (s CheckInStatus) Label() Label { return checkInLabels[s] }

// checkInSkew is how far the clock of a device may be ahead of ours, and checkInBehind how far it may be behind: a passenger with a valid
// ticket is not turned away for the hour of a telephone. A moment in the future would hide the first time of a later report.
const (
	checkInSkew   = 5 * time.Minute
	checkInBehind = 24 * time.Hour
)

// CheckInTime is the moment of a check-in that a device reports at now, for a booking of an earlier moment: hours ago, when it had no
// network. Ahead of us by checkInSkew counts as now; further ahead, and more than checkInBehind before the booking, is no moment.
func CheckInTime(at, booked, now time.Time) (moment time.Time, ok bool) {
	switch {
	case at.Before(booked.Add(-checkInBehind)), at.After(now.Add(checkInSkew)):
		return time.Time{}, false
	case at.After(now):
		return now.Truncate(time.Microsecond), true
	default:
		return at.Truncate(time.Microsecond), true
	}
}

// IsOf reports whether the check-in was made by this very report of a device, which is sent again when its answer was lost.
func (c *CheckIn) IsOf(device string, at time.Time) bool {
	if at = at.Truncate(time.Microsecond); at.After(c.CreatedAt) {
		at = c.CreatedAt
	}

	return c.DeviceID == device && c.CheckedInAt.Equal(at)
}

// How long before its departure and after its return a trip's passenger list is open to its company.
const (
	manifestBefore = 48 * time.Hour
	manifestAfter  = 48 * time.Hour
)

// ManifestOpen says whether the company may have the passenger list with document numbers at now. Error: INVALID_STATE.
func (t *Trip) ManifestOpen(now time.Time) error {
	if now.Before(t.DepartureAt.Add(-manifestBefore)) || now.After(t.ReturnAt.Add(manifestAfter)) {
		return NewError(CodeInvalidState, "manifest.closed")
	}

	return nil
}

// TicketLinkOpen reports whether the link to a ticket in a mail still opens it.
func (t *Trip) TicketLinkOpen(now time.Time) bool { return !now.After(t.ReturnAt.Add(manifestAfter)) }

// Ticketable says whether there is a ticket of the booking. Error: INVALID_STATE.
func (b *Booking) Ticketable() error {
	if b.Status != BookingConfirmed {
		return NewError(CodeInvalidState, "ticket.not_confirmed", "status", b.Status)
	}

	return nil
}
