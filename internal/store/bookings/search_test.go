package bookings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// bookedAs is a booking with its contact and passengers, paid when it has a reference.
func (b *books) bookedAs(t *testing.T, name, email, phone string, passengers ...string) models.Booking {
	t.Helper()

	n := bookings.NewBooking{
		UserID: b.Customer.ID, TripID: b.Trip.ID, ContactName: name, ContactEmail: email, ContactPhone: phone, Method: models.MethodCreditCard,
	}
	for _, p := range passengers {
		n.Passengers = append(n.Passengers, models.Passenger{Name: p, DocumentNumber: "DOC" + strings.Repeat("7", 6)})
	}

	booking, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	require.NoError(t, err)

	number, ok := models.ParseBookingNumber(booking.Number)
	require.True(t, ok, booking.Number)
	require.Equal(t, number, booking.Number)

	return booking
}

// Whatever people have at hand finds the booking and its payments, in any spelling.
func TestBookingsAreFound(t *testing.T) {
	t.Parallel()
	b := setup(t)

	first := b.bookedAs(t, "Contact One", "One.Customer@rihla.test", "+966501234567", "أحمد الزُّهراني", "Passenger O'Neil")
	second := b.bookedAs(t, "فاطمة القحطانى", "two@rihla.test", "+966559876543", "Passenger 100%")
	national := b.bookedAs(t, "Third", "three@other.test", "053 111 2223", "Third")

	tx := b.Open(t, first, 1)
	b.Report(t, tx, models.EventPaymentSucceeded)

	line := b.Records(t, tx)[0]
	reference := "TRF ٢٠٢٦/أ"
	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{Reference: &reference})
	require.NoError(t, err)

	refund, accepted := b.GiveBack(t, tx, "15.00"), b.Ask(tx, "5.00")
	b.Reserve(t, accepted)
	require.NoError(t, b.Store.Refunds.SaveGatewayRefund(t.Context(), accepted.ID, "re_3PqXw2"))

	for search, want := range map[string][]uuid.UUID{
		first.Number: {first.ID}, strings.ToLower(first.Number): {first.ID}, strings.Replace(first.Number, "-", " ", 1): {first.ID},
		first.Number[3:]: {first.ID}, first.ID.String(): {first.ID}, tx.ID.String(): {first.ID}, refund.ID.String(): {first.ID},
		"re-" + refund.ID.String(): {first.ID}, "re_3PqXw2": {first.ID}, "re_3PqXw": {},
		"ref-" + tx.ID.String(): {first.ID}, line.TransactionNumber: {first.ID}, strings.ToLower(line.TransactionNumber): {first.ID},
		reference: {first.ID}, "trf 2026/ا": {first.ID},
		"one.customer@RIHLA.test": {first.ID}, "contact one": {first.ID}, "o'neil": {first.ID}, "احمد الزهراني": {first.ID}, "أحـمد": {first.ID},
		"one contact": {first.ID}, "الزهراني  احمد": {first.ID}, "one contact two": {}, "القحطاني فاطمه": {second.ID}, "neil احمد on": {first.ID},
		"0501234567": {first.ID}, "+966 50 123 4567": {first.ID}, "00966-50-1234567": {first.ID}, "٠٥٠١٢٣٤٥٦٧": {first.ID}, "(966) 0501234567": {first.ID},
		"+966 53 111 2223": {national.ID}, "00966531112223": {national.ID}, "966531112223": {national.ID}, "0531112223": {national.ID},
		"+966 (0)53 111": {national.ID}, "٩٦٦٥٣١١١٢٢٢٣": {national.ID},
		"فاطمه": {second.ID}, "القحطاني": {second.ID}, "100%": {second.ID}, "two@rihla.test": {second.ID}, "98765": {second.ID},
		"passenger": {first.ID, second.ID}, "rihla.test": {first.ID, second.ID}, "DOC777777": {}, "777777": {}, uuid.NewString(): {}, "nowhere": {},
		"ref-" + tx.ID.String()[:8]: {}, "_": {}, "100_": {},
	} {
		list, err := b.Store.Bookings.ListBookings(t.Context(), bookings.BookingFilter{Search: search, Page: db.Page{Sort: bookstest.SortBy("created_at")}})
		require.NoError(t, err, search)
		require.EqualValues(t, len(want), list.Total, search)

		got := make([]uuid.UUID, 0, len(list.Items))
		for i := range list.Items {
			got = append(got, list.Items[i].ID)
		}

		require.Equal(t, want, got, search)

		// Payments are found by the same.
		payments, err := b.Store.Payments.ListTransactions(t.Context(), payments.TransactionFilter{Search: search})
		require.NoError(t, err, search)

		for _, p := range payments.Items {
			require.Equal(t, first.ID, *p.BookingID, search)
			require.Equal(t, first.Number, p.BookingNumber)
		}

		if len(want) > 0 && want[0] == first.ID {
			require.EqualValues(t, 2, payments.Total, "%s: the payment and its refund", search)
		} else {
			require.Zero(t, payments.Total, search)
		}
	}

	wrong := first.Number[:9] + string("0123456789A"[(strings.IndexByte("0123456789A", first.Number[9])+1)%11])
	_, err = b.Store.Bookings.ListBookings(t.Context(), bookings.BookingFilter{Search: wrong})
	bookstest.RequireInvalid(t, err, "search",
		"is not a booking number: the check character does not match. Check the spelling of "+wrong)
}

func TestListBookingsFiltersAndSorts(t *testing.T) {
	t.Parallel()
	b := setup(t)

	near, far := b.InsertTrip(t, 10, nil), b.InsertTrip(t, 10, nil)
	b.Exec(t, "UPDATE trips SET updated_at = now(), departure_at = departure_at - interval '1 day' WHERE id = $1", near.ID)

	one, two, three := b.Book(t, far, 1), b.Book(t, near, 3), b.Book(t, far, 2)
	b.Report(t, b.Open(t, two, 1), models.EventPaymentSucceeded)

	today := models.DateIn(time.Now())

	for name, c := range map[string]struct {
		filter bookings.BookingFilter
		want   []uuid.UUID
	}{
		"newest first":   {bookings.BookingFilter{}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"by amount":      {bookings.BookingFilter{Page: db.Page{Sort: bookstest.SortBy("-amount")}}, []uuid.UUID{two.ID, three.ID, one.ID}},
		"by departure":   {bookings.BookingFilter{Page: db.Page{Sort: bookstest.SortBy("departure_at", "amount")}}, []uuid.UUID{two.ID, one.ID, three.ID}},
		"confirmed":      {bookings.BookingFilter{Status: models.BookingConfirmed}, []uuid.UUID{two.ID}},
		"a trip":         {bookings.BookingFilter{TripID: far.ID}, []uuid.UUID{three.ID, one.ID}},
		"a company":      {bookings.BookingFilter{ProviderID: b.Provider.ID}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"another":        {bookings.BookingFilter{ProviderID: uuid.New()}, []uuid.UUID{}},
		"an account":     {bookings.BookingFilter{UserID: b.Customer.ID}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"somebody else":  {bookings.BookingFilter{UserID: uuid.New()}, []uuid.UUID{}},
		"today":          {bookings.BookingFilter{Days: models.Days{From: today, To: today}}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"until last day": {bookings.BookingFilter{Days: models.Days{To: today.AddDays(-1)}}, []uuid.UUID{}},
	} {
		list, err := b.Store.Bookings.ListBookings(t.Context(), c.filter)
		require.NoError(t, err, name)

		got := make([]uuid.UUID, 0, len(list.Items))
		for i := range list.Items {
			got = append(got, list.Items[i].ID)
		}

		require.Equal(t, c.want, got, name)

		// The pages of one each are the same list.
		paged, cursor := []uuid.UUID{}, ""

		for {
			f := c.filter
			f.Page.PerPage, f.Page.Cursor = 1, cursor

			page, err := b.Store.Bookings.ListBookings(t.Context(), f)
			require.NoError(t, err, name)

			for i := range page.Items {
				paged = append(paged, page.Items[i].ID)
			}

			if cursor = page.Next; cursor == "" {
				break
			}
		}

		require.Equal(t, c.want, paged, name)
	}
}

// No search reads all bookings or payments: each of its parts is found in an index.
func TestBookingsAreFoundInIndexes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "its bookings are inserted manually")

	trip := b.InsertTrip(t, 40, nil)
	b.Exec(t, `INSERT INTO bookings (id, trip_id, provider_id, user_id, seats, hold_until, amount, vat_rate, vat_amount, passengers, contact_name,
			contact_email, contact_phone, status, seats_held)
		SELECT gen_random_uuid(), $1, $2, $3, 1, now(), 115, 0.15, 15, jsonb_build_array(jsonb_build_object('name', 'Passenger ' || md5(n::text))),
			'Contact ' || md5('c' || n), 'contact' || n || '@rihla.test', '+9665' || lpad((n * 37)::text, 8, '0'), 'PAYMENT_FAILED', false
		FROM generate_series(1, 20000) AS n`, trip.ID, b.Provider.ID, b.Customer.ID)
	b.Exec(t, `INSERT INTO payment_transactions (id, kind, attempt, reference, user_id, provider_id, booking_id, amount, vat_rate, vat_amount, payment_method,
			gateway, channel, status, failure_code, expires_at, commission_rate)
		SELECT gen_random_uuid(), 'PAYMENT', 1, 'chk-' || b.id, b.user_id, b.provider_id, b.id, 115, 0.15, 15, 'credit_card', 'gateway_a', 'gateway_a', 'FAILED', 'DECLINED', now(),
			0.1
		FROM bookings AS b`)
	b.Lines(t, 20_000)
	b.Exec(t, "UPDATE financial_records SET payout_reference = 'TRF-' || right(transaction_number, 4) WHERE ctid < '(100,1)'")

	conn, err := b.DB.Conn(t.Context())
	require.NoError(t, err)

	defer conn.Close()

	// With the default of 100 samples the one text that is searched for stands for a hundredth of the table when it is among them.
	_, err = conn.ExecContext(t.Context(), "SET default_statistics_target = 1000")
	require.NoError(t, err)

	for _, table := range []string{"bookings", "booking_texts", "payment_transactions", "financial_records"} {
		_, err = conn.ExecContext(t.Context(), "VACUUM ANALYZE "+table)
		require.NoError(t, err)
	}

	var number string
	require.NoError(t, b.DB.QueryRowContext(t.Context(), "SELECT booking_number FROM bookings LIMIT 1").Scan(&number))

	e := &bookstest.Explainer{}
	storetest.Watch(b.Store, e)

	for _, search := range []string{number, "contact4242@", md5ish, md5ish + " passenger", "050015695", uuid.NewString(), "chk-none", "RH-2025-004242", "TRF-0042"} {
		e.Queries = nil

		_, err := b.Store.Bookings.ListBookings(t.Context(), bookings.BookingFilter{Search: search})
		require.NoError(t, err, search)
		_, err = b.Store.Payments.ListTransactions(t.Context(), payments.TransactionFilter{Search: search})
		require.NoError(t, err, search)
		require.NotEmpty(t, e.Queries)

		for _, q := range e.Queries {
			plan := b.Plan(t, q)
			for _, table := range []string{"bookings", "booking_texts", "payment_transactions", "financial_records"} {
				require.NotContains(t, plan, "Seq Scan on "+table+" ", "%s: %s", search, q)
			}
		}
	}
}

// md5ish is a part of a made-up passenger's name.
const md5ish = "a87ff679a2f3"

// A document number is as long as it is needed to tell two apart, and no longer.
func TestMaskDocuments(t *testing.T) {
	t.Parallel()

	b := models.Booking{Passengers: []models.Passenger{
		{Name: "a", DocumentNumber: "A1234567"}, {Name: "b", DocumentNumber: "1234567"}, {Name: "c"}, {Name: "d", DocumentNumber: "ب١٢٣٤٥٦٧"},
	}}
	kept := b.Passengers

	require.True(t, b.HasDocuments())
	b.MaskDocuments()
	require.Equal(t, []models.Passenger{
		{Name: "a", DocumentNumber: "****4567"}, {Name: "b", DocumentNumber: "****"}, {Name: "c"}, {Name: "d", DocumentNumber: "****٤٥٦٧"},
	}, b.Passengers)
	require.Equal(t, "A1234567", kept[0].DocumentNumber, "the caller's own stay as they were")
}
