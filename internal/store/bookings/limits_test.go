package bookings_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// bookMany asks for bookings all at once and counts what came of them.
func bookMany(t *testing.T, b *books, n int, edit func(i int, r *bookings.NewBooking)) (made []models.Booking, refused map[models.Code]int) {
	t.Helper()

	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)

	refused = map[models.Code]int{}

	for i := range n {
		wg.Go(func() {
			r := b.Request(b.Trip, 1)
			edit(i, &r)

			booking, err := b.Store.Bookings.CreateBooking(t.Context(), r, time.Now())

			mu.Lock()
			defer mu.Unlock()

			if err == nil {
				made = append(made, booking)
			} else {
				refused[models.CodeOf(err)]++
			}
		})
	}

	wg.Wait()

	return made, refused
}

// However many bookings are asked for at once, an account has so many that are unpaid, and so has a phone.
func TestUnpaidBookingsAreLimited(t *testing.T) {
	t.Parallel()

	limited := func(bookings, seats int) models.Policies {
		p := models.DefaultPolicies()
		p.UnpaidBookings, p.UnpaidSeats = bookings, seats

		return p
	}

	t.Run("per account", func(t *testing.T) {
		t.Parallel()
		b := setup(t, limited(5, 0))

		made, refused := bookMany(t, b, 16, func(i int, r *bookings.NewBooking) { r.ContactPhone = "05000000" + string(rune('a'+i)) })
		require.Len(t, made, 5)
		require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 11}, refused)
		require.Equal(t, 5, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID), "a refused one takes no seat")

		// What is paid or cancelled makes room.
		b.Report(t, b.Open(t, made[0], 1), models.EventPaymentSucceeded)
		_, _, err := b.Store.Payments.CancelBooking(t.Context(), db.Actor{UserID: b.Customer.ID, Role: models.RoleEndUser}, made[1].ID, time.Now())
		require.NoError(t, err)

		made, _ = bookMany(t, b, 4, func(int, *bookings.NewBooking) {})
		require.Len(t, made, 2)
	})

	t.Run("per phone, however it is spelt", func(t *testing.T) {
		t.Parallel()
		b := setup(t, limited(5, 0))
		spellings := []string{"+966501234567", "0501234567", "966501234567", "501234567", "00966501234567"}
		users := make([]models.User, 12)

		for i := range users {
			users[i] = storetest.Fixture(t, b.Store).Users[models.RoleEndUser]
		}

		b.Exec(t, "UPDATE users SET email_verified_at = now()") // strangers do not count against the phone of another account

		made, refused := bookMany(t, b, len(users), func(i int, r *bookings.NewBooking) {
			r.UserID, r.ContactPhone = users[i].ID, spellings[i%len(spellings)]
		})
		require.Len(t, made, 5)
		require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 7}, refused)
	})

	t.Run("seats", func(t *testing.T) {
		t.Parallel()
		b := setup(t, limited(0, 20))

		made, refused := bookMany(t, b, 8, func(_ int, r *bookings.NewBooking) {
			r.Passengers = b.Request(b.Trip, 6).Passengers
		})
		require.Len(t, made, 3)
		require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 5}, refused)

		two := b.Request(b.Trip, 2)
		_, err := b.Store.Bookings.CreateBooking(t.Context(), two, time.Now())
		require.NoError(t, err, "20 are allowed")
	})
}

// Unpaid bills hold their share of a trip and no more, for any account and attempt.
// An attempt that is replaced, or whose booking is cancelled, has cost calls to its gateway.
// TestAccountsOfOneMailboxAreOne: accounts whose addresses differ behind a plus sign have together what one account has, proved or not.
func TestAccountsOfOneMailboxAreOne(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.UnpaidBookings, p.UnpaidSeats = 4, 20
	b := setup(t, p)

	customer := func(email string) uuid.UUID {
		u := storetest.Fixture(t, b.Store).Users[models.RoleEndUser]
		b.Exec(t, "UPDATE users SET email = $1, email_verified_at = now() WHERE id = $2", email, u.ID)

		return u.ID
	}

	ids := make([]uuid.UUID, 6)
	for i := range ids {
		ids[i] = customer(fmt.Sprintf("One+%d@Mailbox.test", i))
	}

	made, refused := bookMany(t, b, 18, func(i int, r *bookings.NewBooking) {
		r.UserID, r.ContactPhone = ids[i%len(ids)], fmt.Sprintf("+9665000001%02d", i)
	})
	require.Len(t, made, 4)
	require.Equal(t, map[models.Code]int{models.CodeTooManyUnpaidBookings: 14}, refused)

	other := customer("one@mailbox.example")
	made, _ = bookMany(t, b, 1, func(_ int, r *bookings.NewBooking) { r.UserID, r.ContactPhone = other, "+966500000199" })
	require.Len(t, made, 1, "another mailbox")
}

func TestUnpaidAttemptsAreLimited(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.UnpaidAttempts = 3
	b := setup(t, p)
	booking := b.Book(t, b.Trip, 1)
	next := models.Attempt{BookingID: booking.ID, UserID: b.Customer.ID}

	for n := 1; n <= 3; n++ {
		next.Number = n
		require.NoError(t, b.Store.Bookings.MayAttempt(t.Context(), next, time.Now()))
		b.Report(t, b.Open(t, booking, n), models.EventPaymentFailed)
	}

	next.Number = 4
	bookstest.RequireCode(t, models.CodeTooManyUnpaidBookings, b.Store.Bookings.MayAttempt(t.Context(), next, time.Now()))
	_, err := b.Store.Bookings.CreateBooking(t.Context(), b.Request(b.Trip, 1), time.Now())
	bookstest.RequireCode(t, models.CodeTooManyUnpaidBookings, err)

	next.UserID = b.Users[models.RoleAdmin].ID
	require.NoError(t, b.Store.Bookings.MayAttempt(t.Context(), next, time.Now()), "another account")

	// What was paid counts no more, and neither does what is an hour old.
	b.Exec(t, "UPDATE payment_transactions SET created_at = created_at - interval '61 minutes' WHERE attempt = 1")
	b.Report(t, b.Open(t, b.Book(t, b.Trip, 1), 1), models.EventPaymentSucceeded)
	next.UserID = b.Customer.ID
	require.NoError(t, b.Store.Bookings.MayAttempt(t.Context(), next, time.Now()))

	next.Number = 21
	bookstest.RequireCode(t, models.CodeBookingNotPayable, b.Store.Bookings.MayAttempt(t.Context(), next, time.Now()))
	bookstest.RequireCode(t, models.CodeCampaignNotPayable, b.Store.Bookings.MayAttempt(t.Context(), models.Attempt{CampaignID: models.NewID(), Number: 21}, time.Now()))
}

// What waits under a phone of others is not told: the number may be a stranger's.
func TestUnpaidBookingsOfAPhoneAreNotCounted(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.UnpaidBookings = 1
	b := setup(t, p)
	b.Exec(t, "UPDATE users SET email_verified_at = now()")
	b.Book(t, b.Trip, 1)

	r := b.Request(b.Trip, 1)
	r.UserID = b.Users[models.RoleAdmin].ID
	_, err := b.Store.Bookings.CreateBooking(t.Context(), r, time.Now())
	bookstest.RequireCode(t, models.CodeTooManyUnpaidBookings, err)
	require.NotContains(t, err.Error(), "1")
}

func TestBillsAreLimited(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.BillShare = models.MustRate("0.3")
	b := setup(t, p)

	card := b.Book(t, b.Trip, 2)
	bill := func(_ int, r *bookings.NewBooking) {
		r.Method = models.MethodBillPayment
		r.Passengers = b.Request(b.Trip, 5).Passengers
	}

	made, refused := bookMany(t, b, 6, bill) // 12 of 40 seats
	require.Len(t, made, 2)
	require.Equal(t, map[models.Code]int{models.CodeMethodNotAvailable: 4}, refused)
	require.Equal(t, 12, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	// A booking that was made for a card may take the last of them, and another one not.
	other := b.Book(t, b.Trip, 1)

	_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(card, 1, models.MethodBillPayment), time.Now)
	require.NoError(t, err)
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(other, 1, models.MethodBillPayment), time.Now)
	bookstest.RequireCode(t, models.CodeMethodNotAvailable, err)
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(other, 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err, "another way to pay")

	// A bill that is paid holds nothing any more.
	first := b.Attempt(made[0], 1, models.MethodBillPayment)
	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), first, time.Now)
	require.NoError(t, err)
	b.Report(t, tx, models.EventPaymentSucceeded)

	made, _ = bookMany(t, b, 2, bill)
	require.Len(t, made, 1)
}

func TestCampaignsCostSomethingPerDay(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.AdPerDay = models.MustMoney("10.00")
	b := setup(t, p)
	staff, today := bookstest.As(b.World, models.RoleProviderStaff), models.DateIn(time.Now())

	create := func(price string, days int) (models.AdCampaign, error) {
		return b.Store.Catalogue.CreateCampaign(t.Context(), staff, models.AdCampaign{
			TripID: b.Trip.ID, Title: "Sale", StartsOn: today, EndsOn: today.AddDays(days - 1), Price: models.MustMoney(price),
		}, time.Now())
	}

	_, err := create("0.01", 365)
	bookstest.RequireFields(t, models.CodeValidation, err, "price")
	_, err = create("3649.99", 365)
	bookstest.RequireFields(t, models.CodeValidation, err, "price")
	_, err = create("3650.00", 365)
	require.NoError(t, err)

	c, err := create("10.00", 1)
	require.NoError(t, err)

	_, err = b.Store.Catalogue.UpdateCampaign(t.Context(), staff, c.ID, func(c *models.AdCampaign) error { c.EndsOn = today.AddDays(1); return nil }, time.Now())
	bookstest.RequireFields(t, models.CodeValidation, err, "price")
}

// A trip that is sold out says so, whatever else would refuse the booking: also when its last seats go while the booking waits for the
// trip's row.
func TestFullIsFull(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		policies func(*models.Policies)
		before   func(*testing.T, *books)
		method   models.PaymentMethod
		want     models.Code // while there is room
		waits    bool        // for the trip's row, until it is known
	}{
		"bills hold as much as they may": {
			func(p *models.Policies) { p.BillShare = models.MustRate("0.01") }, func(*testing.T, *books) {},
			models.MethodBillPayment, models.CodeMethodNotAvailable, true,
		},
		"the gateway has no such method": {
			func(p *models.Policies) { p.Methods = models.Methods{models.MethodCreditCard: {}} }, func(*testing.T, *books) {},
			models.MethodBillPayment, models.CodeMethodNotAvailable, false,
		},
		"the account has enough that is unpaid": {
			func(p *models.Policies) { p.UnpaidBookings = 1 }, func(t *testing.T, b *books) { t.Helper(); b.Book(t, b.InsertTrip(t, 1, nil), 1) },
			models.MethodCreditCard, models.CodeTooManyUnpaidBookings, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := models.DefaultPolicies()
			tt.policies(&p)
			b := setup(t, p)
			tt.before(t, b)

			book := func() error {
				r := b.Request(b.Trip, 1)
				r.Method = tt.method
				_, err := b.Store.Bookings.CreateBooking(t.Context(), r, time.Now())

				return err
			}

			bookstest.RequireCode(t, tt.want, book())

			// The last seats are taken, not committed yet.
			other, err := b.DB.BeginTx(t.Context(), nil)
			require.NoError(t, err)

			defer func() { _ = other.Rollback() }()

			_, err = other.ExecContext(t.Context(), "UPDATE trips SET seats_taken = capacity WHERE id = $1", b.Trip.ID)
			require.NoError(t, err)

			waiting := make(chan error, 1)
			go func() { waiting <- book() }()

			if tt.waits {
				require.Eventually(t, func() bool {
					return b.Count(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
				}, time.Minute, 10*time.Millisecond)
			} else {
				bookstest.RequireCode(t, tt.want, <-waiting)
			}

			require.NoError(t, other.Commit())

			if tt.waits {
				bookstest.RequireCode(t, models.CodeTripCapacityReached, <-waiting)
			}

			bookstest.RequireCode(t, models.CodeTripCapacityReached, book())

			b.Exec(t, "UPDATE trips SET seats_taken = 0 WHERE id = $1", b.Trip.ID)
		})
	}
}
