package models

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// Correction changes how a booking's contact is reached and the names of passengers; what is nil stays.
type Correction struct {
	Name, Email, Phone *string
	Passengers         []PassengerName
}

// PassengerName is the right name of a passenger.
type PassengerName struct {
	ID   uuid.UUID
	Name string
}

// CorrectedField is a kind of data of a booking that a correction has changed.
type CorrectedField string

// The kinds of data that can be corrected.
const (
	CorrectedName       CorrectedField = "contact_name"
	CorrectedEmail      CorrectedField = "contact_email"
	CorrectedPhone      CorrectedField = "contact_phone"
	CorrectedPassengers CorrectedField = "passengers"
)

// Corrected is what a correction has changed, as the audit log has it: digests in place of the data.
type Corrected struct {
	Fields        []CorrectedField
	Before, After map[string]string
	Renames       []PassengerRename
}

// PassengerRename is one change of a passenger's name, by digests of both (rules: bookings.correct).
type PassengerRename struct {
	bun.BaseModel `bun:"table:passenger_renames,alias:pn"`

	BookingID    uuid.UUID `bun:"booking_id,pk"`
	Position     int       `bun:"position,pk"`
	N            int       `bun:"n,pk"` // 1 for the passenger's first
	BeforeDigest []byte    `bun:"before_digest"`
	AfterDigest  []byte    `bun:"after_digest"`
	RenamedBy    uuid.UUID `bun:"renamed_by"`
	CreatedAt    time.Time `bun:"created_at,nullzero,default:now()"`
}

// Digest is what stands for personal data of the booking where the data itself must not be. Equal data of two bookings has different
// digests.
func (b *Booking) Digest(data string) []byte {
	sum := sha256.Sum256([]byte(b.ID.String() + ":" + data))

	return sum[:]
}

// Correct applies a correction to the booking. renamed is how often the name of each position was changed before, most how often one may
// be. What is as it was is no change; another phone is kept in its international spelling. Errors: INVALID_STATE from the departure on, for
// a cancelled passenger and for a name that was changed too often; VALIDATION_ERROR on contact.phone for what is no number, and on
// passengers for one that is unknown or named twice.
func (b *Booking) Correct(c Correction, renamed map[int]int, most int, departure, now time.Time) (Corrected, error) {
	out := Corrected{Before: map[string]string{}, After: map[string]string{}}

	if !departure.After(now) {
		return out, NewError(CodeInvalidState, "booking.correction_departed")
	}

	phone, err := c.phone(b.ContactPhone)
	if err != nil {
		return out, err
	}

	set := func(field CorrectedField, is *string, to *string) {
		if to != nil && *to != *is {
			out.note(b, field, string(field), *is, *to)
			*is = *to
		}
	}

	set(CorrectedName, &b.ContactName, c.Name)
	set(CorrectedEmail, &b.ContactEmail, c.Email)
	set(CorrectedPhone, &b.ContactPhone, phone)

	return out, b.rename(c.Passengers, renamed, most, &out)
}

// phone is the contact's number as it is kept: people read it from another country, and it is what messages go to. Error: VALIDATION_ERROR.
func (c *Correction) phone(is string) (*string, error) {
	if c.Phone == nil || *c.Phone == is {
		return nil, nil //nolint:nilnil // it stays
	}

	number, ok := E164(*c.Phone)
	if !ok {
		return nil, Invalid("contact.phone", "field.phone_number")
	}

	return &number, nil
}

func (b *Booking) rename(names []PassengerName, renamed map[int]int, most int, out *Corrected) error {
	b.Passengers = slices.Clone(b.Passengers)

	var seen []int

	for _, to := range names {
		position := b.positionOf(to.ID)
		if position == 0 || slices.Contains(seen, position) {
			return Invalid("passengers", "cancellation.passenger_unknown")
		}

		seen = append(seen, position)
		is := &b.Passengers[position-1].Name

		switch {
		case *is == to.Name:
			continue
		case b.PassengerAt(position) == PassengerCancelled:
			return NewError(CodeInvalidState, "cancellation.passenger_cancelled")
		case renamed[position] >= most:
			return NewError(CodeInvalidState, "booking.renamed_too_often", "n", most)
		}

		out.Renames = append(out.Renames, PassengerRename{
			BookingID: b.ID, Position: position, N: renamed[position] + 1, BeforeDigest: b.Digest(*is), AfterDigest: b.Digest(to.Name),
		})
		out.note(b, CorrectedPassengers, "passenger:"+PassengerID(b.ID, position).String(), *is, to.Name)
		*is = to.Name
	}

	return nil
}

// positionOf is a passenger's position, from 1; 0: the booking has no such passenger.
func (b *Booking) positionOf(passenger uuid.UUID) int {
	for i := range b.Passengers {
		if PassengerID(b.ID, i+1) == passenger {
			return i + 1
		}
	}

	return 0
}

// note keeps that a datum was changed.
func (c *Corrected) note(b *Booking, field CorrectedField, name, was, is string) {
	if !slices.Contains(c.Fields, field) {
		c.Fields = append(c.Fields, field)
	}

	c.Before[name+"_sha256"] = hex.EncodeToString(b.Digest(was))
	c.After[name+"_sha256"] = hex.EncodeToString(b.Digest(is))
}
