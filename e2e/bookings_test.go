package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/store/seed"
	"rihla/models"
)

const bookingsPath = "/api/v1/bookings"

// fullBooking is all of a booking.
type fullBooking struct {
	harness.Booking

	TripID     uuid.UUID    `json:"trip_id"`
	ProviderID uuid.UUID    `json:"provider_id"`
	UserID     uuid.UUID    `json:"user_id"`
	LabelAR    string       `json:"status_label_ar"`
	LabelEN    string       `json:"status_label_en"`
	VATRate    models.Rate  `json:"vat_rate"`
	VATAmount  models.Money `json:"vat_amount"`
	Passengers []struct {
		Name     string  `json:"name"`
		Document *string `json:"document_number"`
	} `json:"passengers"`
	CreatedAt time.Time `json:"created_at"`
}

// trip is what the catalogue says.
type trip struct {
	ID        uuid.UUID    `json:"id"`
	Title     string       `json:"title"`
	Price     models.Money `json:"price_per_seat"`
	Capacity  int          `json:"capacity"`
	SeatsLeft int          `json:"seats_left"`
}

func catalogue(t *testing.T, s *harness.Stack) {
	t.Helper()

	anybody, path := s.Anybody(), "/api/v1/trips/"+s.World.Trip.ID.String()
	got := decoded[trip](t, http.StatusOK, anybody.Get(path))
	require.Equal(t, trip{s.World.Trip.ID, "Test Trip", models.MustMoney("115.00"), 40, 40}, got)

	mark := strings.ReplaceAll(uuid.NewString(), "-", "")
	shown := s.NewTrip("رحلة "+mark+" 100%_Sure", 40)
	departed, draft := s.NewTrip("Departed "+mark, 40), s.NewTrip("Draft "+mark, 40)
	changeTrip(t, s, departed.ID, "updated_at = now(), departure_at = now() - interval '1 hour'")
	changeTrip(t, s, draft.ID, "status = 'DRAFT'")

	for _, id := range []uuid.UUID{departed.ID, draft.ID} {
		refused(t, anybody.Get("/api/v1/trips/"+id.String()), http.StatusNotFound, models.CodeNotFound)
	}

	find := func(query string) []trip {
		return decoded[[]trip](t, http.StatusOK, anybody.Get("/api/v1/trips?"+query))
	}

	require.Len(t, find("search="+strings.ToUpper(mark)), 1)
	require.Equal(t, shown.ID, find("search=" + mark)[0].ID)
	require.Len(t, find("search="+mark+"%20100%25_s"), 1)
	require.Empty(t, find("search="+mark+"%25100"), "%% is an ordinary character")
	require.Empty(t, find("search="+mark+"_100"), "_ is an ordinary character")
	require.Empty(t, find("search="+mark+"&type=UMRAH"))
	require.Len(t, find("search="+mark+"&type=TOURISM&origin=riyadh&destination=ALULA"), 1)
	require.Empty(t, find("search="+mark+"&origin=Riya"))

	day := models.DateIn(shown.DepartureAt)
	require.Len(t, find("search="+mark+"&date_from="+day.String()+"&date_to="+day.String()), 1)
	require.Empty(t, find("search="+mark+"&date_to="+day.AddDays(-1).String()))
	require.Empty(t, find("search="+mark+"&date_from="+day.AddDays(1).String()))

	s.As(models.RoleEndUser).Book(3)
	require.Equal(t, 37, decoded[trip](t, http.StatusOK, anybody.Get(path)).SeatsLeft)

	_, err := s.DB.ExecContext(t.Context(), "UPDATE providers SET status = 'INACTIVE' WHERE id = $1", s.World.Provider.ID)
	require.NoError(t, err)
	refused(t, anybody.Get(path), http.StatusNotFound, models.CodeNotFound)
	require.Empty(t, find("search="+mark))
}

// changeTrip changes a trip by SQL.
func changeTrip(t *testing.T, s *harness.Stack, id uuid.UUID, to string) {
	t.Helper()

	_, err := s.DB.ExecContext(t.Context(), "UPDATE trips SET "+to+" WHERE id = $1", id)
	require.NoError(t, err)
}

func booking(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	body := s.BookingRequest(2)
	body["passengers"] = []map[string]any{{"name": "أول مسافر", "document_number": "A1234567"}, {"name": "Second"}}

	a := customer.Post(bookingsPath, body)
	made := decoded[fullBooking](t, http.StatusCreated, a)
	require.Equal(t, bookingsPath+"/"+made.ID.String(), a.Header.Get("Location"))
	require.Equal(t, models.BookingPendingPayment, made.Status)
	require.Equal(t, s.World.Users[models.RoleEndUser].ID, made.UserID)
	require.Equal(t, s.World.Provider.ID, made.ProviderID)
	require.Equal(t, "230.00", made.Amount.String())
	require.Equal(t, "30.00", made.VATAmount.String())
	require.Equal(t, "0.15", made.VATRate.String())
	require.Equal(t, 2, made.Seats)
	require.Equal(t, "أول مسافر", made.Passengers[0].Name)
	require.Nil(t, made.Passengers[1].Document)
	require.NotEmpty(t, made.LabelAR)
	require.NotEqual(t, made.LabelAR, made.LabelEN)
	require.Equal(t, models.TransactionPending, made.Payment.Status)
	require.True(t, strings.HasPrefix(*made.Payment.CheckoutURL, s.Sandbox))
	require.Equal(t, models.BookingAttemptID(made.ID, 1), made.Payment.TransactionID)
	require.Equal(t, made, decoded[fullBooking](t, http.StatusOK, customer.Get(a.Header.Get("Location"))))

	require.NoError(t, s.Pay(*made.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(made.ID).PaymentStatus)

	paid := decoded[fullBooking](t, http.StatusOK, customer.Get(a.Header.Get("Location")))
	require.Equal(t, models.BookingConfirmed, paid.Status)
	require.Empty(t, paid.Payment.CheckoutURL, "there is nothing left to pay")
}

// vatOfBookings checks vat_amount = amount − amount/1.15, half-up, on prices whose last digit depends on it.
func vatOfBookings(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for price, vat := range map[string]string{
		"0.01": "0.00", "0.03": "0.00", "0.04": "0.01", "0.11": "0.01", "0.12": "0.02", "1.00": "0.13", "99.99": "13.04", "100.00": "13.04",
		"1150.00": "150.00", "9999999.99": "1304347.82",
	} {
		trip := s.World.NewTrip("Priced", 40)
		trip.PricePerSeat = models.MustMoney(price)
		require.NoError(t, seed.Of(s.Store).InsertDemo(t.Context(), seed.DemoData{Trips: []models.Trip{trip}}))

		body := s.BookingRequest(1)
		body["trip_id"] = trip.ID

		b := decoded[fullBooking](t, http.StatusCreated, customer.Post(bookingsPath, body))
		require.Equal(t, price, b.Amount.String())
		require.Equal(t, vat, b.VATAmount.String(), price)
	}
}

func lastSeats(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for range 5 {
		s.World.Trip = s.NewTrip("Few Seats", 5)
		won := 0

		for _, a := range atOnce(40, func(int) harness.Answer { return post(customer, bookingsPath, s.BookingRequest(1), uuid.NewString()) }) {
			if a.Status == http.StatusCreated {
				won++

				continue
			}

			refused(t, a, http.StatusConflict, models.CodeTripCapacityReached)
		}

		require.Equal(t, 5, won)
		require.Equal(t, 5, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))
		require.Equal(t, 5, s.Count("SELECT count(*) FROM bookings WHERE trip_id = $1", s.World.Trip.ID))
		require.Equal(t, 0, decoded[trip](t, http.StatusOK, s.Anybody().Get("/api/v1/trips/"+s.World.Trip.ID.String())).SeatsLeft)
	}
}

// bookingTwice sends the same request again: the same booking. Another request under its key: an error.
func bookingTwice(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, key := s.As(models.RoleEndUser), uuid.NewString()
	first := post(customer, bookingsPath, s.BookingRequest(1), key)
	made := decoded[harness.Booking](t, http.StatusCreated, first)
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))

	for _, again := range []string{key, strings.ToUpper(key)} {
		a := post(customer, bookingsPath, s.BookingRequest(1), again)
		require.Equal(t, http.StatusCreated, a.Status)
		require.Equal(t, "true", a.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Header.Get("Location"), a.Header.Get("Location"))
		require.Equal(t, string(first.Body), string(a.Body))
	}

	refused(t, post(customer, bookingsPath, s.BookingRequest(2), key), http.StatusUnprocessableEntity, models.CodeIdempotencyKeyReused)

	// The key belongs to the user, and to the path.
	other := decoded[harness.Booking](t, http.StatusCreated, post(s.As(models.RoleAdmin), bookingsPath, s.BookingRequest(1), key))
	require.NotEqual(t, made.ID, other.ID)
	require.Equal(t, http.StatusOK, post(customer, "/api/v1/payments/booking/"+made.ID.String()+"/intent",
		map[string]any{"payment_method": "credit_card"}, key).Status)

	key = uuid.NewString()
	ids := map[uuid.UUID]bool{}

	for _, a := range atOnce(8, func(int) harness.Answer { return post(customer, bookingsPath, s.BookingRequest(1), key) }) {
		if a.Status == http.StatusConflict {
			refused(t, a, http.StatusConflict, models.CodeIdempotencyKeyInProcess)

			continue
		}

		ids[decoded[harness.Booking](t, http.StatusCreated, a).ID] = true
	}

	require.Len(t, ids, 1)
	require.Equal(t, 3, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))

	// A refusal is not kept: the same request under the same key is tried again.
	key, s.World.Trip = uuid.NewString(), s.NewTrip("One Seat", 1)
	refused(t, post(customer, bookingsPath, s.BookingRequest(2), key), http.StatusConflict, models.CodeTripCapacityReached)

	again := post(customer, bookingsPath, s.BookingRequest(2), key)
	refused(t, again, http.StatusConflict, models.CodeTripCapacityReached)
	require.Empty(t, again.Header.Get("Idempotent-Replayed"))
}

func notBookable(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	try := func(id uuid.UUID, seats int) harness.Answer {
		body := s.BookingRequest(seats)
		body["trip_id"] = id

		return customer.Post(bookingsPath, body)
	}

	draft, departed, gone := s.NewTrip("Draft", 40), s.NewTrip("Departed", 40), s.NewTrip("Deleted", 40)
	changeTrip(t, s, draft.ID, "status = 'DRAFT'")
	changeTrip(t, s, departed.ID, "updated_at = now(), departure_at = now() - interval '1 minute'")
	changeTrip(t, s, gone.ID, "deleted_at = now()")

	refused(t, try(draft.ID, 1), http.StatusConflict, models.CodeTripNotBookable)
	refused(t, try(departed.ID, 1), http.StatusConflict, models.CodeTripNotBookable)
	refused(t, try(gone.ID, 1), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, try(uuid.New(), 1), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, try(s.World.Trip.ID, 0), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, try(s.World.Trip.ID, 21), http.StatusUnprocessableEntity, models.CodeValidation)
	require.Equal(t, http.StatusCreated, try(s.World.Trip.ID, 20).Status)
	require.Equal(t, http.StatusCreated, try(s.World.Trip.ID, 19).Status)
	refused(t, try(s.World.Trip.ID, 2), http.StatusConflict, models.CodeTripCapacityReached)

	_, err := s.DB.ExecContext(t.Context(), "UPDATE providers SET status = 'INACTIVE' WHERE id = $1", s.World.Provider.ID)
	require.NoError(t, err)
	refused(t, try(s.World.Trip.ID, 1), http.StatusUnprocessableEntity, models.CodeValidation)
}

// whoseBooking checks that others' bookings look like none at all, except to roles that read any.
func whoseBooking(t *testing.T, s *harness.Stack) {
	t.Helper()

	b, stranger := s.As(models.RoleEndUser).Book(1), s.For(t)

	for _, suffix := range []string{"", "/payment-status"} {
		path := bookingsPath + "/" + b.ID.String() + suffix

		for _, c := range []*harness.Caller{stranger.As(models.RoleEndUser), s.As(models.RoleProviderAdmin), s.As(models.RoleProviderStaff)} {
			a := c.Get(path)
			refused(t, a, http.StatusNotFound, models.CodeNotFound)
			require.Equal(t, string(c.Get(bookingsPath+"/"+uuid.NewString()+suffix).Body), string(a.Body))
		}

		for _, role := range []models.Role{models.RoleSupportAgent, models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin} {
			require.Equal(t, http.StatusOK, s.As(role).Get(path).Status, role)
		}
	}
}

func myBookings(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	s.As(models.RoleAdmin).Book(1)

	made := make([]uuid.UUID, 12)
	for i := range made {
		made[len(made)-1-i] = customer.Book(1).ID
	}

	require.NoError(t, s.Pay(*decoded[harness.Booking](t, http.StatusOK, customer.Get(bookingsPath+"/"+made[0].String())).Payment.CheckoutURL, "succeed"))
	customer.Await(made[0])

	list := func(query string) (ids []uuid.UUID, total int) {
		a := customer.Get("/api/v1/my/bookings" + query)
		for _, b := range decoded[[]harness.Booking](t, http.StatusOK, a) {
			ids = append(ids, b.ID)
		}

		return ids, metaOf(t, a).Total
	}

	newest, total := list("?per_page=10")
	require.Equal(t, 12, total)
	require.Equal(t, made[:10], newest)

	rest, _ := list("?per_page=10&page=2")
	require.Equal(t, made[10:], rest)

	oldest, _ := list("?sort=created_at")
	require.Equal(t, made[11], oldest[0])

	confirmed, _ := list("?status=CONFIRMED")
	require.Equal(t, made[:1], confirmed)
}

type meta struct {
	Total       int `json:"total"`
	PerPage     int `json:"per_page"`
	CurrentPage int `json:"current_page"`
	LastPage    int `json:"last_page"`
}

func metaOf(t *testing.T, a harness.Answer) meta {
	t.Helper()

	var e struct {
		Meta meta `json:"meta"`
	}

	require.NoError(t, a.Into(&e))

	return e.Meta
}

// allBookings is the list of support and finance staff: found by what people have at hand, with document numbers masked but
// for admins, whose reading is noted.
func allBookings(t *testing.T, s *harness.Stack) {
	t.Helper()

	type listed struct {
		ID         uuid.UUID `json:"id"`
		Number     string    `json:"booking_number"`
		Passengers []struct {
			Document *string `json:"document_number"`
		} `json:"passengers"`
	}

	customer, support, admin := s.As(models.RoleEndUser), s.As(models.RoleSupportAgent), s.As(models.RoleAdmin)
	id := customer.BookPaid(1).ID
	own := "/api/v1/bookings/" + id.String()
	all := "/api/v1/admin/bookings?trip_id=" + s.World.Trip.ID.String()

	mine := decoded[listed](t, http.StatusOK, customer.Get(own))
	require.Equal(t, "A1234567", *mine.Passengers[0].Document)
	require.Regexp(t, `^RB-[0-9A-HJKMNP-TV-Z]{7}$`, mine.Number)

	readings := func() int {
		return s.Count("SELECT count(*) FROM audit_log WHERE action = 'BOOKING_DOCUMENTS_READ' AND entity = 'booking' AND entity_id = $1", id)
	}

	for _, search := range []string{mine.Number, id.String(), "050 000 0001", "٠٥٠٠٠٠٠٠٠١", "customer@rihla", "PASSENGER"} {
		found := decoded[[]listed](t, http.StatusOK, support.Get(all+"&search="+url.QueryEscape(search)))
		require.Len(t, found, 1, search)
		require.Equal(t, mine.Number, found[0].Number)
		require.Equal(t, "****4567", *found[0].Passengers[0].Document)
	}

	require.Equal(t, "****4567", *decoded[listed](t, http.StatusOK, s.As(models.RoleFinanceAdmin).Get(own)).Passengers[0].Document)
	require.Zero(t, readings())

	require.Equal(t, "A1234567", *decoded[listed](t, http.StatusOK, admin.Get(own)).Passengers[0].Document)
	require.Equal(t, "A1234567", *decoded[[]listed](t, http.StatusOK, admin.Get(all))[0].Passengers[0].Document)
	require.Equal(t, 2, readings())

	require.Empty(t, decoded[[]listed](t, http.StatusOK, support.Get(all+"&search=A1234567")), "document numbers find nothing")

	wrong := mine.Number[:9] + string("0123456789A"[(strings.IndexByte("0123456789A", mine.Number[9])+1)%11])
	a := support.Get(all + "&search=" + wrong)
	refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
	require.Contains(t, errorDetails(t, a)["search"][0], "check character")

	payments := support.Get("/api/v1/admin/payment-transactions?search=" + mine.Number)
	require.Equal(t, mine.Number, decoded[[]struct {
		Number string `json:"booking_number"`
	}](t, http.StatusOK, payments)[0].Number)

	require.Equal(t, 1, s.Count(`SELECT count(*) FROM notifications WHERE channel = 'EMAIL' AND data ->> 'booking_number' = $1 AND data ->> 'seats' = '1'
		AND data ->> 'vat_amount' <> '' AND data ->> 'payment_method' = 'credit_card'`, mine.Number))
}
