package bookings_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestBroadSearch: a word that very many bookings have is met on the way along the list, and finds what looking at each booking does: on
// every page, in every order, with and without filters, and together with what is found by something else.
func TestBroadSearch(t *testing.T) {
	t.Parallel()
	b := setup(t)

	// One booking and its payment, 2,500 times; every tenth contact is another one, and half of the bookings are cancelled.
	tx := b.Paid(t, 1)
	b.Audit.Tampered(t, "its bookings and payments are copies")
	b.Exec(t, `INSERT INTO bookings (id, trip_id, provider_id, user_id, status, seats, seats_held, hold_until, amount, currency, vat_rate, vat_amount,
			passengers, contact_name, contact_email, contact_phone, contact_e164, locale, booked_departure_at, booked_schedule, created_at)
		SELECT gen_random_uuid(), trip_id, provider_id, user_id, CASE WHEN n % 2 = 0 THEN 'CANCELLED' ELSE status END, seats, n % 2 = 1, hold_until,
			1 + n % 37, currency, vat_rate, 0, passengers, CASE WHEN n % 10 = 0 THEN 'Rare ' || n ELSE 'Common ' || n END, contact_email,
			contact_phone, contact_e164, locale, booked_departure_at, booked_schedule, created_at - n % 500 * interval '1 minute'
		FROM bookings, generate_series(1, 2500) AS n WHERE id = $1`, *tx.BookingID)
	b.Exec(t, "ANALYZE bookings; ANALYZE booking_texts")

	require.Equal(t, 2500, b.Count(t, "SELECT count(*) FROM booking_texts WHERE words LIKE '%rare%' OR words LIKE '%common%'"))

	for _, search := range []string{"common", "COMMON 1", "rare", "rb-", "common 777", b.BookingNow(t, *tx.BookingID).ID.String()} {
		for sort, order := range map[string]string{
			"-created_at": "created_at DESC, id", "amount": "amount, id", "-amount": "amount DESC, id", "departure_at": "booked_departure_at, id",
		} {
			for _, status := range []models.BookingStatus{"", models.BookingCancelled} {
				f := bookings.BookingFilter{Search: search, Status: status, Page: db.Page{PerPage: 50, Sort: bookstest.SortBy(sort)}}
				want := b.lookAtEach(t, search, status, order)

				for _, page := range []int{1, 2, max(1, (len(want)+49)/50), 1 + (len(want)+49)/50} {
					f.Page.Number = page

					list, err := b.Store.Bookings.ListBookings(t.Context(), f)
					require.NoError(t, err)
					require.EqualValues(t, len(want), list.Total, "%s %s", search, status)

					from, to := min((page-1)*50, len(want)), min(page*50, len(want))
					require.Equal(t, want[from:to], idsOfListed(list.Items), "%q by %s, %s, page %d", search, sort, status, page)
				}
			}
		}
	}

	// By its cursors a list of hits is read to its end.
	f := bookings.BookingFilter{Search: "common", Page: db.Page{PerPage: 100}}
	want, got := b.lookAtEach(t, "common", "", "created_at DESC, id"), []uuid.UUID{}

	for {
		list, err := b.Store.Bookings.ListBookings(t.Context(), f)
		require.NoError(t, err)

		got = append(got, idsOfListed(list.Items)...)

		if f.Page.Cursor = list.Next; list.Next == "" {
			break
		}
	}

	require.Equal(t, want, got)

	// Payments are found by the words of their bookings, and by what names them.
	for search, n := range map[string]int{"rb-": 1, tx.ID.String(): 1, "common": 0} {
		list, err := b.Store.Payments.ListTransactions(t.Context(), payments.TransactionFilter{Search: search})
		require.NoError(t, err)
		require.Len(t, list.Items, n, search)
		require.EqualValues(t, n, list.Total, search)
	}
}

func idsOfListed(items []bookings.ListedBooking) []uuid.UUID {
	ids := make([]uuid.UUID, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}

	return ids
}

// lookAtEach finds bookings by looking at the words of each.
func (b *books) lookAtEach(t *testing.T, search string, status models.BookingStatus, order string) []uuid.UUID {
	t.Helper()

	rows, err := b.DB.QueryContext(t.Context(), `SELECT id FROM bookings JOIN booking_texts ON booking_id = id
		WHERE ($2 = '' OR status = $2) AND (id::text = $1 OR NOT EXISTS (
			SELECT FROM regexp_split_to_table(lower($1), ' ') AS word WHERE position(word IN words) = 0)) ORDER BY `+order, search, string(status))
	require.NoError(t, err)

	defer rows.Close()

	ids := []uuid.UUID{}

	for rows.Next() {
		var id uuid.UUID

		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}

	require.NoError(t, rows.Err())

	return ids
}
