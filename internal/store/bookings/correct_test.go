package bookings_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// rename is a correction of the name at a position.
func rename(booking uuid.UUID, position int, name string) models.Correction {
	return models.Correction{Passengers: []models.PassengerName{{ID: models.PassengerID(booking, position), Name: name}}}
}

func (b *books) correct(ctx context.Context, booking uuid.UUID, c models.Correction) error {
	return b.Store.Bookings.Correct(ctx, b.As(models.RoleSupportAgent), booking, c, time.Now())
}

func (b *books) booking(t *testing.T, id uuid.UUID) models.Booking {
	t.Helper()

	booking, err := b.Store.Bookings.BookingByID(t.Context(), id)
	require.NoError(t, err)

	return booking
}

// TestCorrect: the contact and a name are as they should be, both addresses are told what kinds of data that were, and the audit log holds
// no data.
func TestCorrect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := *b.Paid(t, 2).BookingID

	c := rename(id, 2, "Right Name")
	c.Email, c.Phone, c.Name = new("right@rihla.test"), new("0511111111"), new("Contact") // as it was
	require.NoError(t, b.correct(t.Context(), id, c))

	is := b.booking(t, id)
	require.Equal(t, "right@rihla.test", is.ContactEmail)
	require.Equal(t, "+966511111111", is.ContactPhone, "in its international spelling")
	require.Equal(t, "+966511111111", *is.ContactE164)
	require.Equal(t, []models.Passenger{
		{Name: "Passenger", DocumentNumber: "D1"}, {Name: "Right Name", DocumentNumber: "D1"},
	}, is.Passengers)

	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM notifications WHERE kind = 'BOOKING_CORRECTED' AND channel = 'EMAIL'
		AND recipient = 'contact@rihla.test' AND data ->> 'changed' = 'contact_email,contact_phone,passengers'
		AND data::text NOT LIKE '%right%' AND data::text NOT LIKE '%Right%'`))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM notifications WHERE kind = 'BOOKING_CORRECTED' AND recipient = 'right@rihla.test'
		AND data::text NOT LIKE '%contact@%'`))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'BOOKING_CORRECTED'"))

	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM audit_log WHERE action = 'BOOKING_CORRECTED' AND entity_id = $1
		AND details -> 'changed' = '["contact_email", "contact_phone", "passengers"]' AND details -> 'before' <> details -> 'after'
		AND details -> 'before' ->> 'contact_email_sha256' = encode(sha256(convert_to($1::text || ':contact@rihla.test', 'UTF8')), 'hex')`, id))
	require.Zero(t, b.Count(t, `SELECT count(*) FROM audit_log WHERE details::text ~ '(Right|right@|contact@|Passenger"|9665)'`))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM booking_texts WHERE booking_id = $1 AND words LIKE '%right name%'", id), "it is found")

	require.NoError(t, b.correct(t.Context(), id, c), "nothing is left to change")
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'BOOKING_CORRECTED'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM passenger_renames"))
}

// TestCorrectRefuses: each case has its code and changes nothing.
func TestCorrectRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := *b.Paid(t, 2).BookingID
	gone := *b.Paid(t, 1).BookingID
	cancelled := b.Book(t, b.Trip, 1)
	_, _, err := b.Store.Payments.CancelBooking(t.Context(), b.As(models.RoleAdmin), cancelled.ID, time.Now())
	require.NoError(t, err)

	twice := rename(id, 1, "One")
	twice.Passengers = append(twice.Passengers, models.PassengerName{ID: models.PassengerID(id, 1), Name: "Two"})

	for name, c := range map[string]struct {
		booking uuid.UUID
		c       models.Correction
		code    models.Code
	}{
		"no such booking":     {uuid.New(), rename(id, 1, "One"), models.CodeNotFound},
		"another booking's":   {id, rename(gone, 1, "One"), models.CodeValidation},
		"named twice":         {id, twice, models.CodeValidation},
		"no such passenger":   {id, rename(id, 3, "Three"), models.CodeValidation},
		"cancelled passenger": {cancelled.ID, rename(cancelled.ID, 1, "One"), models.CodeInvalidState},
	} {
		err := b.correct(t.Context(), c.booking, c.c)
		require.Equal(t, c.code, models.CodeOf(err), "%s: %v", name, err)
	}

	err = b.Store.Bookings.Correct(t.Context(), b.As(models.RoleAdmin), id, models.Correction{Email: new("new@rihla.test")}, b.Trip.DepartureAt)
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'BOOKING_CORRECTED'"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM passenger_renames"))
}

// TestANameIsCorrectedTwice: each passenger's name for itself, and its contact as often as needed.
func TestANameIsCorrectedTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := *b.Paid(t, 2).BookingID

	require.NoError(t, b.correct(t.Context(), id, rename(id, 1, "First")))
	require.NoError(t, b.correct(t.Context(), id, rename(id, 1, "Passenger")), "back counts, too")
	bookstest.RequireCode(t, models.CodeInvalidState, b.correct(t.Context(), id, rename(id, 1, "Third")))
	require.NoError(t, b.correct(t.Context(), id, rename(id, 1, "Passenger")), "the name that is there")
	require.NoError(t, b.correct(t.Context(), id, rename(id, 2, "Other")))

	for i := range 4 {
		require.NoError(t, b.correct(t.Context(), id, models.Correction{Name: new(fmt.Sprint("Contact ", i))}))
	}

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM passenger_renames WHERE booking_id = $1", id))
}

// TestNamesAreCorrectedAtOnce: of many people who correct one name at the same moment as many succeed as may.
func TestNamesAreCorrectedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := *b.Paid(t, 1).BookingID

	var done, refused atomic.Int32

	bookstest.Parallel(8, func(i int) {
		err := b.correct(t.Context(), id, rename(id, 1, fmt.Sprint("Name ", i)))

		switch {
		case err == nil:
			done.Add(1)
		case models.CodeOf(err) == models.CodeInvalidState:
			refused.Add(1)
		default:
			t.Error(err)
		}
	})

	require.EqualValues(t, 2, done.Load())
	require.EqualValues(t, 6, refused.Load())
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM passenger_renames WHERE booking_id = $1", id))
}

// TestCorrectWhileCancelled: a passenger who is cancelled at the same moment is renamed before, or not at all.
func TestCorrectWhileCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 4 {
		booking := b.Book(t, b.Trip, 1)
		b.Open(t, booking, 1)

		var renamed, cancelled error

		bookstest.Race(
			func() { renamed = b.correct(t.Context(), booking.ID, rename(booking.ID, 1, "Right Name")) },
			func() {
				_, _, cancelled = b.Store.Payments.CancelBooking(t.Context(), b.As(models.RoleSupportAgent), booking.ID, time.Now())
			},
		)

		require.NoError(t, cancelled)

		if renamed != nil {
			bookstest.RequireCode(t, models.CodeInvalidState, renamed)
			require.Equal(t, "Passenger", b.booking(t, booking.ID).Passengers[0].Name)
		}
	}
}

// TestCorrectionsOfUnpaidBookings are told to the account's own address alone: its contact may be a stranger.
func TestCorrectionsOfUnpaidBookings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	require.NoError(t, b.correct(t.Context(), booking.ID, models.Correction{Email: new("first@rihla.test")}))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"), "it has no attempt")

	b.Open(t, booking, 1)
	b.Exec(t, "UPDATE users SET email_verified_at = NULL, owner_proved_at = NULL WHERE id = $1", b.Customer.ID)
	require.NoError(t, b.correct(t.Context(), booking.ID, models.Correction{Email: new("second@rihla.test")}))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"), "its address was never proved")

	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)
	require.NoError(t, b.correct(t.Context(), booking.ID, models.Correction{Email: new("third@rihla.test")}))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE recipient = $1", b.Customer.Email))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications"))
}

// TestNamesChangeByCorrectionsAlone: the database holds it.
func TestNamesChangeByCorrectionsAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := *b.Paid(t, 1).BookingID
	require.NoError(t, b.correct(t.Context(), id, rename(id, 1, "Right Name")))

	for _, query := range []string{
		`UPDATE bookings SET passengers = jsonb_set(passengers, '{0,name}', '"Somebody"') WHERE id = $1`,
		`UPDATE bookings SET passengers = jsonb_set(passengers, '{0,name}', '"Passenger"') WHERE id = $1`,
		`UPDATE bookings SET passengers = jsonb_set(passengers, '{0,document_number}', '"D2"') WHERE id = $1`,
		`UPDATE bookings SET passengers = passengers || passengers WHERE id = $1`,
		`UPDATE passenger_renames SET n = 7 WHERE booking_id = $1`,
		`DELETE FROM passenger_renames WHERE booking_id = $1`,
		`INSERT INTO passenger_renames SELECT booking_id, position, 3, after_digest, before_digest, renamed_by FROM passenger_renames WHERE booking_id = $1`,
		`INSERT INTO passenger_renames SELECT booking_id, position, 2, before_digest, after_digest, renamed_by FROM passenger_renames WHERE booking_id = $1`,
	} {
		_, err := b.DB.ExecContext(t.Context(), query, id)
		require.ErrorContains(t, err, "SQLSTATE 23001", query)
	}
}
