package bookings_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/models"
)

// strangers are n customers whose address is not verified.
func (b *books) strangers(t *testing.T, n int) []uuid.UUID {
	t.Helper()

	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
		b.Exec(t, `INSERT INTO users (id, name, email, password_hash, role) VALUES ($1, 'Invented', $2, 'x', 'END_USER')`,
			ids[i], ids[i].String()+"@rihla.test")
	}

	return ids
}

func strangerLimits(share string, network int) models.Policies {
	p := models.DefaultPolicies()
	p.UnverifiedShare, p.UnpaidPerNetwork = models.MustRate(share), network
	p.UnpaidBookings, p.UnpaidSeats = 5, 20

	return p
}

// However many accounts are invented, and however many of their bookings come at once, together they hold a share of a trip.
func TestStrangersHoldAShareOfATrip(t *testing.T) {
	t.Parallel()
	b := setup(t, strangerLimits("0.2", 0))
	b.Trip = b.InsertTrip(t, 50, nil)
	who := b.strangers(t, 24)

	made, refused := bookMany(t, b, len(who), func(i int, r *bookings.NewBooking) {
		r.UserID, r.ContactPhone = who[i], fmt.Sprintf("+9665000001%02d", i)
		r.Network = fmt.Sprintf("198.51.%d.0/24", i)
	})
	require.Len(t, made, 10)
	require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 14}, refused)

	// Customers whose address is verified have the rest; a stranger who pays, or verifies, gives room to the next one.
	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)
	b.Book(t, b.Trip, 5)

	b.Report(t, b.Open(t, made[0], 1), models.EventPaymentSucceeded)
	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", made[1].UserID)
	require.Equal(t, 8, b.Count(t, "SELECT count(*) FROM stranger_seats"))

	who = b.strangers(t, 4)
	made, _ = bookMany(t, b, len(who), func(i int, r *bookings.NewBooking) {
		r.UserID, r.ContactPhone = who[i], fmt.Sprintf("+9665000002%02d", i)
	})
	require.Len(t, made, 2)
}

// The same over trips, of one network; another network has its own count, and what is given up is forgotten.
func TestStrangersOfANetwork(t *testing.T) {
	t.Parallel()
	b := setup(t, strangerLimits("0", 6))
	who := b.strangers(t, 16)
	trips := []models.Trip{b.InsertTrip(t, 50, nil), b.InsertTrip(t, 50, nil)}
	from := func(network string) func(int, *bookings.NewBooking) {
		return func(i int, r *bookings.NewBooking) {
			r.UserID, r.TripID, r.Network, r.ContactPhone = who[i], trips[i%2].ID, network, fmt.Sprintf("+9665000003%02d", i)
		}
	}

	made, refused := bookMany(t, b, 12, from("203.0.113.0/24"))
	require.Len(t, made, 6)
	require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 6}, refused)

	other, _ := bookMany(t, b, 2, from("2001:db8:1::/48"))
	require.Len(t, other, 2)

	_, _, err := b.Store.Payments.CancelBooking(t.Context(), bookstest.As(b.World, models.RoleSuperAdmin), made[0].ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, 5, b.Count(t, "SELECT count(*) FROM stranger_seats WHERE network = '203.0.113.0/24'"))
}

// A stranger's bookings with a customer's phone do not block that customer, verified or not; bookings of verified accounts count as ever.
func TestStrangersDoNotCountAgainstAPhone(t *testing.T) {
	t.Parallel()

	for _, verified := range []bool{true, false} {
		t.Run(strconv.FormatBool(verified), func(t *testing.T) {
			t.Parallel()
			b := setup(t, strangerLimits("0", 0))
			b.Trip = b.InsertTrip(t, 50, nil)
			stranger := b.strangers(t, 1)[0]

			if verified {
				b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)
			}

			made, _ := bookMany(t, b, 5, func(_ int, r *bookings.NewBooking) { r.UserID = stranger })
			require.Len(t, made, 5)
			b.Book(t, b.Trip, 1) // with the same phone

			b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", stranger)

			r := b.Request(b.Trip, 1)
			r.UserID = b.strangers(t, 1)[0]
			_, err := b.Store.Bookings.CreateBooking(t.Context(), r, time.Now())
			bookstest.RequireCode(t, models.CodeTooManyUnpaidBookings, err)
		})
	}
}

// A phone that cannot be read is counted by its digits, and one without any as one phone.
func TestPhonesThatCannotBeReadAreCounted(t *testing.T) {
	t.Parallel()

	for phone, same := range map[string]string{"12 34": "1234 ext", "no phone": "-", "٠٠٠٠١٢": "000012x"} {
		t.Run(phone, func(t *testing.T) {
			t.Parallel()
			b := setup(t, strangerLimits("0", 0))
			b.Trip = b.InsertTrip(t, 50, nil)
			who := b.strangers(t, 6)
			b.Exec(t, "UPDATE users SET email_verified_at = now()")

			made, refused := bookMany(t, b, 6, func(i int, r *bookings.NewBooking) {
				r.UserID, r.ContactPhone = who[i], phone
				if i%2 == 1 {
					r.ContactPhone = same
				}
			})
			require.Len(t, made, 5)
			require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 1}, refused)
		})
	}
}
