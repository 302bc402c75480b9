package models_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestCorrection(t *testing.T) {
	t.Parallel()

	now := time.Now()
	right, same := "right@rihla.test", "+966500000000"
	local, other, none := "0500000000", "+966511111111", "0000000000"
	name := func(b models.Booking, position int, to string) []models.PassengerName {
		return []models.PassengerName{{ID: models.PassengerID(b.ID, position), Name: to}}
	}
	booking := func() models.Booking {
		return models.Booking{
			ID: uuid.New(), Status: models.BookingConfirmed, ContactName: "Contact", ContactEmail: "contact@rihla.test", ContactPhone: same,
			Passengers: []models.Passenger{{Name: "One"}, {Name: "Two"}}, CancelledPositions: []int{2},
		}
	}

	for what, c := range map[string]struct {
		correction func(models.Booking) models.Correction
		renamed    map[int]int
		departure  time.Time
		status     models.BookingStatus
		fields     []models.CorrectedField
		code       models.Code
	}{
		"an address": {
			correction: func(models.Booking) models.Correction { return models.Correction{Email: &right, Phone: &same} },
			fields:     []models.CorrectedField{models.CorrectedEmail},
		},
		"a number": {
			correction: func(models.Booking) models.Correction { return models.Correction{Phone: &other} },
			fields:     []models.CorrectedField{models.CorrectedPhone},
		},
		"the same number in other words": {
			correction: func(models.Booking) models.Correction { return models.Correction{Phone: &local, Email: &right} },
			fields:     []models.CorrectedField{models.CorrectedEmail},
		},
		"no number": {
			correction: func(models.Booking) models.Correction { return models.Correction{Phone: &none} },
			code:       models.CodeValidation,
		},
		"a name": {
			correction: func(b models.Booking) models.Correction { return models.Correction{Passengers: name(b, 1, "Uno")} },
			renamed:    map[int]int{1: 1, 2: 2},
			fields:     []models.CorrectedField{models.CorrectedPassengers},
		},
		"a name once too often": {
			correction: func(b models.Booking) models.Correction { return models.Correction{Passengers: name(b, 1, "Uno")} },
			renamed:    map[int]int{1: 2}, code: models.CodeInvalidState,
		},
		"the same name, however often it was changed": {
			correction: func(b models.Booking) models.Correction { return models.Correction{Passengers: name(b, 1, "One")} },
			renamed:    map[int]int{1: 2},
		},
		"a cancelled passenger": {
			correction: func(b models.Booking) models.Correction { return models.Correction{Passengers: name(b, 2, "Dos")} },
			code:       models.CodeInvalidState,
		},
		"a passenger of a cancelled booking": {
			correction: func(b models.Booking) models.Correction { return models.Correction{Passengers: name(b, 1, "Uno")} },
			status:     models.BookingCancelled, code: models.CodeInvalidState,
		},
		"an address of a cancelled booking": {
			correction: func(models.Booking) models.Correction { return models.Correction{Email: &right} },
			status:     models.BookingCancelled, fields: []models.CorrectedField{models.CorrectedEmail},
		},
		"at the departure": {
			correction: func(models.Booking) models.Correction { return models.Correction{Email: &right} },
			departure:  now, code: models.CodeInvalidState,
		},
		"no passenger": {
			correction: func(b models.Booking) models.Correction { return models.Correction{Passengers: name(b, 3, "Tres")} },
			code:       models.CodeValidation,
		},
	} {
		b := booking()
		if c.status != "" {
			b.Status = c.status
		}

		departure := c.departure
		if departure.IsZero() {
			departure = now.Add(time.Hour)
		}

		was := b.Passengers
		done, err := b.Correct(c.correction(b), c.renamed, 2, departure, now)
		require.Equal(t, "One", was[0].Name, "%s: the caller's copy stays", what)

		if c.code != "" {
			require.Equal(t, c.code, models.CodeOf(err), "%s: %v", what, err)

			continue
		}

		require.NoError(t, err, what)

		require.Equal(t, c.fields, done.Fields, what)
		require.Len(t, done.Before, len(c.fields), what)
		require.Len(t, done.After, len(c.fields), what)
	}
}

// TestCorrectedPhone: however a number is written, it is kept in one spelling; one that is as it was stays as it is.
func TestCorrectedPhone(t *testing.T) {
	t.Parallel()

	for given, kept := range map[string]string{
		"0501234567": "+966501234567", "501234567": "+966501234567", "00966501234567": "+966501234567", "+14155550123": "+14155550123",
		"050000000": "050000000", // no number, and as it was
	} {
		b := models.Booking{ContactPhone: "050000000"}
		_, err := b.Correct(models.Correction{Phone: &given}, nil, 0, time.Now().Add(time.Hour), time.Now())
		require.NoError(t, err)
		require.Equal(t, kept, b.ContactPhone)
	}
}

// TestDigestsOfABooking tell equal data of two bookings apart.
func TestDigestsOfABooking(t *testing.T) {
	t.Parallel()

	one, two := models.Booking{ID: uuid.New()}, models.Booking{ID: uuid.New()}
	require.NotEqual(t, one.Digest("Name"), one.Digest("name"))
	require.NotEqual(t, one.Digest("Name"), two.Digest("Name"))
}
