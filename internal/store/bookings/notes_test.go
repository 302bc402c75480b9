package bookings_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/models"
)

func (b *books) note(t *testing.T, booking uuid.UUID, role models.Role, words string) (models.BookingNote, error) {
	t.Helper()

	return b.Store.Bookings.AddNote(t.Context(), b.As(role), bookings.NewNote{BookingID: booking, Words: words})
}

// TestBookingNotes: the newest comes first, with its author; no note changes, and its words are in no other row.
func TestBookingNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	first, err := b.note(t, booking.ID, models.RoleSupportAgent, "Called about a wheelchair")
	require.NoError(t, err)
	second, err := b.note(t, booking.ID, models.RoleAdmin, "It is arranged")
	require.NoError(t, err)

	all, err := b.Store.Bookings.Notes(t.Context(), booking.ID)
	require.NoError(t, err)
	require.Equal(t, []models.BookingNote{second, first}, all)
	require.Equal(t, b.Users[models.RoleSupportAgent].Name, all[1].AuthorName)

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'BOOKING_NOTED' AND entity_id = $1", booking.ID))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE details::text LIKE '%wheelchair%'"))

	for _, query := range []string{"UPDATE booking_notes SET note = 'x'", "DELETE FROM booking_notes", "TRUNCATE booking_notes"} {
		_, err := b.DB.ExecContext(t.Context(), query)
		require.ErrorContains(t, err, "SQLSTATE 23001", query)
	}

	discarded, err := b.Store.Bookings.DiscardBooking(t.Context(), booking.ID)
	require.NoError(t, err)
	require.False(t, discarded, "what people have written about it is kept")

	_, err = b.note(t, uuid.New(), models.RoleAdmin, "No such booking")
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Bookings.Notes(t.Context(), uuid.New())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// TestTooManyBookingNotes: two hundred are kept, however many people write at the same moment.
func TestTooManyBookingNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	b.Exec(t, `INSERT INTO booking_notes (id, booking_id, author_id, note) SELECT gen_random_uuid(), $1, $2, 'x' FROM generate_series(1, 199)`,
		booking.ID, b.Users[models.RoleAdmin].ID)

	bookstest.Parallel(6, func(int) {
		if _, err := b.note(t, booking.ID, models.RoleAdmin, "One more"); err != nil && models.CodeOf(err) != models.CodeInvalidState {
			t.Error(err)
		}
	})

	require.Equal(t, 200, b.Count(t, "SELECT count(*) FROM booking_notes"))
}
