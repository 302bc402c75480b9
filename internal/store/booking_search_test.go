package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// bookedAs is a booking with its contact and passengers, paid when it has a reference.
func (b *books) bookedAs(t *testing.T, name, email, phone string, passengers ...string) models.Booking {
	t.Helper()

	n := store.NewBooking{
		UserID: b.customer.ID, TripID: b.Trip.ID, ContactName: name, ContactEmail: email, ContactPhone: phone, Method: models.MethodCreditCard,
	}
	for _, p := range passengers {
		n.Passengers = append(n.Passengers, models.Passenger{Name: p, DocumentNumber: "DOC" + strings.Repeat("7", 6)})
	}

	booking, err := b.s.CreateBooking(t.Context(), n)
	require.NoError(t, err)

	number, ok := models.ParseBookingNumber(booking.Number)
	require.True(t, ok, booking.Number)
	require.Equal(t, number, booking.Number)

	return booking
}

// Whatever people have at hand finds the booking and its payments, in any spelling.
func TestBookingsAreFound(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	first := b.bookedAs(t, "Contact One", "One.Customer@rihla.test", "+966501234567", "أحمد الزُّهراني", "Passenger O'Neil")
	second := b.bookedAs(t, "فاطمة القحطانى", "two@rihla.test", "+966559876543", "Passenger 100%")
	national := b.bookedAs(t, "Third", "three@other.test", "053 111 2223", "Third")

	tx := b.open(t, first, 1)
	b.report(t, tx, models.EventPaymentSucceeded)

	line := b.records(t, tx)[0]
	reference := "TRF ٢٠٢٦/أ"
	_, err := b.s.MarkTransferred(t.Context(), line.ID, store.MarkTransfer{Reference: &reference}, b.finance)
	require.NoError(t, err)

	refund := b.giveBack(t, tx, "15.00")

	for search, want := range map[string][]uuid.UUID{
		first.Number: {first.ID}, strings.ToLower(first.Number): {first.ID}, strings.Replace(first.Number, "-", " ", 1): {first.ID},
		first.Number[3:]: {first.ID}, first.ID.String(): {first.ID}, tx.ID.String(): {first.ID}, refund.ID.String(): {first.ID},
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
		list, err := b.s.ListBookings(t.Context(), store.BookingFilter{Search: search, Page: store.Page{Sort: store.ParseSort("created_at")}})
		require.NoError(t, err, search)
		require.EqualValues(t, len(want), list.Total, search)

		got := make([]uuid.UUID, 0, len(list.Items))
		for i := range list.Items {
			got = append(got, list.Items[i].ID)
		}

		require.Equal(t, want, got, search)

		// Payments are found by the same.
		payments, err := b.s.ListTransactions(t.Context(), store.TransactionFilter{Search: search})
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
	_, err = b.s.ListBookings(t.Context(), store.BookingFilter{Search: wrong})
	requireInvalid(t, err, "search",
		"is no booking number: its last character does not fit the others; look for a typing mistake in "+wrong)
}

func TestListBookingsFiltersAndSorts(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	near, far := b.trip(t, 10, nil), b.trip(t, 10, nil)
	b.exec(t, "UPDATE trips SET updated_at = now(), departure_at = departure_at - interval '1 day' WHERE id = $1", near.ID)

	one, two, three := b.book(t, far, 1), b.book(t, near, 3), b.book(t, far, 2)
	b.report(t, b.open(t, two, 1), models.EventPaymentSucceeded)

	today := models.DateIn(time.Now())

	for name, c := range map[string]struct {
		filter store.BookingFilter
		want   []uuid.UUID
	}{
		"newest first":   {store.BookingFilter{}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"by amount":      {store.BookingFilter{Page: store.Page{Sort: store.ParseSort("-amount")}}, []uuid.UUID{two.ID, three.ID, one.ID}},
		"by departure":   {store.BookingFilter{Page: store.Page{Sort: store.ParseSort("departure_at,amount")}}, []uuid.UUID{two.ID, one.ID, three.ID}},
		"confirmed":      {store.BookingFilter{Status: models.BookingConfirmed}, []uuid.UUID{two.ID}},
		"a trip":         {store.BookingFilter{TripID: far.ID}, []uuid.UUID{three.ID, one.ID}},
		"a company":      {store.BookingFilter{ProviderID: b.Provider.ID}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"another":        {store.BookingFilter{ProviderID: uuid.New()}, []uuid.UUID{}},
		"an account":     {store.BookingFilter{UserID: b.customer.ID}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"somebody else":  {store.BookingFilter{UserID: uuid.New()}, []uuid.UUID{}},
		"today":          {store.BookingFilter{Days: models.Days{From: today, To: today}}, []uuid.UUID{three.ID, two.ID, one.ID}},
		"until last day": {store.BookingFilter{Days: models.Days{To: today.AddDays(-1)}}, []uuid.UUID{}},
	} {
		list, err := b.s.ListBookings(t.Context(), c.filter)
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

			page, err := b.s.ListBookings(t.Context(), f)
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
	b.books.Tampered(t, "its bookings are inserted by hand")

	trip := b.trip(t, 40, nil)
	b.exec(t, `INSERT INTO bookings (id, trip_id, provider_id, user_id, seats, hold_until, amount, vat_rate, vat_amount, passengers, contact_name,
			contact_email, contact_phone, status, seats_held)
		SELECT gen_random_uuid(), $1, $2, $3, 1, now(), 115, 0.15, 15, jsonb_build_array(jsonb_build_object('name', 'Passenger ' || md5(n::text))),
			'Contact ' || md5('c' || n), 'contact' || n || '@rihla.test', '+9665' || lpad((n * 37)::text, 8, '0'), 'PAYMENT_FAILED', false
		FROM generate_series(1, 20000) AS n`, trip.ID, b.Provider.ID, b.customer.ID)
	b.exec(t, `INSERT INTO payment_transactions (id, kind, attempt, reference, user_id, provider_id, booking_id, amount, vat_rate, vat_amount, payment_method,
			gateway, status, failure_code, expires_at, commission_rate)
		SELECT gen_random_uuid(), 'PAYMENT', 1, 'chk-' || b.id, b.user_id, b.provider_id, b.id, 115, 0.15, 15, 'credit_card', 'gateway_a', 'FAILED', 'DECLINED', now(),
			0.1
		FROM bookings AS b`)
	b.lines(t, 20_000)
	b.exec(t, "UPDATE financial_records SET payout_reference = 'TRF-' || right(transaction_number, 4) WHERE ctid < '(100,1)'")

	for _, table := range []string{"bookings", "booking_texts", "payment_transactions", "financial_records"} {
		b.exec(t, "VACUUM ANALYZE "+table)
	}

	var number string
	require.NoError(t, b.db.QueryRowContext(t.Context(), "SELECT booking_number FROM bookings LIMIT 1").Scan(&number))

	e := &explainer{}
	store.Watch(b.s, e)

	for _, search := range []string{number, "contact4242@", md5ish, md5ish + " passenger", "050015695", uuid.NewString(), "chk-none", "RH-2025-004242", "TRF-0042"} {
		e.queries = nil

		_, err := b.s.ListBookings(t.Context(), store.BookingFilter{Search: search})
		require.NoError(t, err, search)
		_, err = b.s.ListTransactions(t.Context(), store.TransactionFilter{Search: search})
		require.NoError(t, err, search)
		require.NotEmpty(t, e.queries)

		for _, q := range e.queries {
			plan := b.plan(t, q)
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
