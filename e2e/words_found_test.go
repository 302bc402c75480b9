package e2e_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/e2e/harness"
	"rihla/models"
)

// How people write what is searched for. Each is one text to a search.
var (
	aisha = []string{
		"عائشة عبد الله", "عايشة عبدالله", "عائشه عبد الله", "عايشه", "عائشة عبدﷲ", "ﻋﺎﺋﺸﺔ", "عَائِشَة", "عــائــشة", "\u202bعائشة\u202c", "عائ\u200bشة", "\u2067عائشة\u2069\ufeff", "عائشة\u00a0عبد الله",
	}
	ahmadi  = []string{"الأحمدي", "الاحمدى", "الآحمدي", "الأحمدی", "\u200fالإحمدي\u200e"}
	makkah  = []string{"مكة المكرمة", "مكه المكرمه", "مكّة المكرّمة", "مکه المکرمه", "\u200fمكة المكرمة\u200e", "ﻣﻜﺔ المكرمة"}
	madinah = []string{"المدينة المنورة", "المدينه المنوره", "المدينة\u00a0المنورة", "\ufeffالمدينة المنورة"}
	mobile  = []string{
		"0501234567", "٠٥٠ ١٢٣ ٤٥٦٧", "۰۵۰۱۲۳۴۵۶۷", "\u202a+966 50-123-4567\u202c", "00966501234567", "+٩٦٦\u00a0٥٠\u2011١٢٣\u2011٤٥٦٧", "1234567\u200e",
	}
	plate    = []string{"أ ب ج ١٢٣٤", "ا ب ج 1234", "أبج١٢٣٤", "ابج-1234", "۱۲۳۴", "\u200fأ ب ج 1234"}
	transfer = []string{"تحويل TRF-2026-77", "تحويل TRF\u2011٢٠٢٦\u2011٧٧", "تحويل trf-۲۰۲۶-۷۷", "\u202bتحويل TRF–2026–77\u202c", "تَحويل TRF-2026-77"}
)

// search is a parameter of a list that looks for a text.
type search struct{ operation, parameter string }

// foundBy is what a search has to find, by what is typed.
type foundBy struct {
	id    string // in the answer
	typed [][]string
	also  url.Values
}

// typedSearches looks for one of everything in every list that looks for a text. The document says which there are.
func typedSearches(t *testing.T, w *targets) {
	t.Helper()

	cases := w.searches(t)
	there := []search{}

	for path, item := range w.doc.Paths.Map() {
		if item.Get == nil {
			continue
		}

		for _, p := range slices.Concat(item.Parameters, item.Get.Parameters) {
			kind := contract.ParameterOf(p.Value.Name, p.Value.Schema.Value)
			if p.Value.In != openapi3.ParameterInQuery || kind != contract.InputSearch && kind != contract.InputText && kind != contract.InputReference {
				continue
			}

			at := search{item.Get.OperationID, p.Value.Name}
			there = append(there, at)

			require.Contains(t, cases, at, "%s is met by no row", at)

			c := w.reader(item.Get)
			if strings.HasPrefix(path, "/api/v1/provider/") {
				c = w.here.As(models.RoleProviderAdmin)
			}

			ask := func(text string) string {
				query := neededBy(item.Get)
				query.Set(at.parameter, text)

				for name := range cases[at].also {
					query.Set(name, cases[at].also.Get(name))
				}

				a := c.Get(strings.Replace(path, "{id}", w.here.World.Provider.ID.String(), 1) + "?" + query.Encode())
				require.Equal(t, http.StatusOK, a.Status, "%v = %+q: %s", at, text, a.Body)

				return string(a.Body)
			}

			for _, spellings := range cases[at].typed {
				for _, text := range spellings {
					require.Contains(t, ask(text), cases[at].id, "%v = %q (%+q)", at, text, text)
				}
			}

			for _, text := range []string{"فاطمة الزهراء", "0559999999", "%%%", "___"} {
				require.NotContains(t, ask(text), cases[at].id, "%v = %q", at, text)
			}
		}
	}

	require.Len(t, there, len(cases), "rows of searches that the document does not have")
}

// searches makes one of everything with a name that is written in many ways. Some is written into the rows, as it was before texts
// were brought into one form.
func (w *targets) searches(t *testing.T) map[search]foundBy {
	t.Helper()

	w.here = w.For(t)
	world := &w.here.World

	for _, change := range []string{
		"UPDATE providers SET name = 'مؤسسة عائشة عبد الله الأحمدي', phone = '+966 50-123 4567', email = 'aisha@rihla.test' WHERE id = '" + world.Provider.ID.String() + "'",
		"UPDATE users SET name = 'عائشة عبد الله الأحمدي', phone = '0501234567' WHERE provider_id = '" + world.Provider.ID.String() + "'",
		"UPDATE buses SET plate_number = 'أ ب ج ١٢٣٤', driver_name = 'عائشة عبد الله الأحمدي' WHERE id = '" + world.Bus.ID.String() + "'",
		"UPDATE hotels SET name = 'فندق عائشة عبد الله الأحمدي', city = 'مكة المكرمة' WHERE id = '" + world.Hotel.ID.String() + "'",
		"UPDATE rest_stops SET name = 'استراحة عائشة عبد الله الأحمدي', city = 'مكة المكرمة' WHERE id = '" + world.RestStop.ID.String() + "'",
		"UPDATE trips SET title = 'رحلة عائشة عبد الله الأحمدي', origin = 'مكة المكرمة', destination = 'المدينة المنورة' WHERE id = '" + world.Trip.ID.String() + "'",
	} {
		_, err := w.DB.ExecContext(t.Context(), change)
		require.NoError(t, err)
	}

	a := w.here.As(models.RoleProviderAdmin).Post("/api/v1/provider/ad-campaigns", map[string]any{
		"trip_id": world.Trip.ID, "title": "حملة عائشة عبد الله الأحمدي", "description": "إعلان", "price": 333.33,
		"starts_on": models.DateIn(time.Now()).AddDays(3).String(), "ends_on": models.DateIn(time.Now()).AddDays(10).String(),
	})
	campaign := decoded[struct {
		ID string `json:"id"`
	}](t, http.StatusCreated, a).ID

	body := w.here.BookingRequest(1)
	body["contact"] = map[string]any{"name": "عائشة عبد الله", "phone": "\u202a٠٥٠ ١٢٣ ٤٥٦٧\u202c", "email": "aisha.words@rihla.test\u200e"}
	body["passengers"] = []map[string]any{{"name": "\u200fنورة الأحمدي", "document_number": "١٠٢٣٤ ٥٦٧٨٩"}}
	body["payment_method"] = models.MethodBillPayment

	customer := w.here.As(models.RoleEndUser)
	booked := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, body))
	require.NoError(t, w.Pay(*booked.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(booked.ID).PaymentStatus)

	// An earlier booking, whose address was kept as it was pasted.
	address := func(email string) {
		_, err := w.DB.ExecContext(context.WithoutCancel(t.Context()), "UPDATE bookings SET contact_email = $1 WHERE id = $2", email, booked.ID)
		require.NoError(t, err)
	}
	address("\u202aaisha.words@rihla.test\u200e")
	t.Cleanup(func() { address("aisha.words@rihla.test") })

	var line, number, reference string

	require.NoError(t, w.DB.QueryRowContext(t.Context(), "SELECT f.id, f.transaction_number, p.reference FROM financial_records AS f JOIN payment_transactions AS p ON p.booking_id = f.booking_id WHERE f.booking_id = $1",
		booked.ID).Scan(&line, &number, &reference))
	require.Equal(t, http.StatusOK, w.As(models.RoleFinanceAdmin).Post("/api/v1/admin/financial-records/"+line+"/mark-transferred",
		map[string]any{"payout_reference": transfer[1], "payout_date": models.DateIn(time.Now()).String()}).Status)

	paidOut := decoded[refund](t, http.StatusAccepted, w.As(models.RoleFinanceAdmin).Post(refundPath(booked.ID), partly("15.00"))).ID.String()
	require.Equal(t, http.StatusOK, w.As(models.RoleAdmin).Post("/api/v1/admin/refunds/"+paidOut+"/confirm-payout",
		map[string]any{"payout_reference": "REFUND\u2011٢٠٢٦", "paid_out_on": models.DateIn(time.Now()).String()}).Status)

	asked := decoded[refund](t, http.StatusCreated, customer.Post(bookingsPath+"/"+booked.ID.String()+"/cancellation-requests", map[string]any{})).ID.String()

	numbers := func(plain string) []string {
		return []string{plain, strings.ToLower(plain), arabicDigits.Replace(plain), farsiDigits.Replace(wordDashes.Replace(plain)), "\u2066" + plain + "\u2069", "\u200e" + plain + "\u200f\ufeff"}
	}
	emails := func(plain string) []string {
		return []string{plain, strings.ToUpper(plain), "\u202a" + plain + "\u202c", strings.Replace(plain, "@", "\u200b@", 1)}
	}
	whole := func(plain string) []string {
		return []string{plain, arabicDigits.Replace(plain), "\u2066" + plain + "\u2069", "\ufeff" + plain + " "}
	}
	names := [][]string{aisha, ahmadi}
	sale := slices.Concat(names, [][]string{
		mobile, emails("aisha.words@rihla.test"), numbers(booked.BookingNumber), whole(booked.ID.String()),
		whole(booked.Payment.TransactionID.String()), numbers(number), transfer,
		{arabicDigits.Replace(reference), "\u200e" + reference + "\u202c"},
	})
	lines := [][]string{aisha, ahmadi, transfer, numbers(number)}
	id := world.Provider.ID.String()
	of := url.Values{"provider_id": {id}}

	return map[search]foundBy{
		{"ListTrips", "search"}:                    {id: world.Trip.ID.String(), typed: append(names, makkah, madinah)},
		{"ListTrips", "origin"}:                    {id: world.Trip.ID.String(), typed: [][]string{makkah}},
		{"ListTrips", "destination"}:               {id: world.Trip.ID.String(), typed: [][]string{madinah}},
		{"ListProviderTrips", "search"}:            {id: world.Trip.ID.String(), typed: append(names, makkah, madinah)},
		{"ListProviderTrips", "origin"}:            {id: world.Trip.ID.String(), typed: [][]string{makkah}},
		{"ListProviderTrips", "destination"}:       {id: world.Trip.ID.String(), typed: [][]string{madinah}},
		{"ListCatalogueHotels", "search"}:          {id: world.Hotel.ID.String(), typed: append(names, makkah)},
		{"ListCatalogueHotels", "city"}:            {id: world.Hotel.ID.String(), typed: [][]string{makkah}},
		{"ListHotels", "search"}:                   {id: world.Hotel.ID.String(), typed: append(names, makkah)},
		{"ListHotels", "city"}:                     {id: world.Hotel.ID.String(), typed: [][]string{makkah}},
		{"ListCatalogueRestStops", "search"}:       {id: world.RestStop.ID.String(), typed: append(names, makkah)},
		{"ListCatalogueRestStops", "city"}:         {id: world.RestStop.ID.String(), typed: [][]string{makkah}},
		{"ListRestStops", "search"}:                {id: world.RestStop.ID.String(), typed: append(names, makkah)},
		{"ListRestStops", "city"}:                  {id: world.RestStop.ID.String(), typed: [][]string{makkah}},
		{"ListCatalogueBuses", "search"}:           {id: world.Bus.ID.String(), typed: append(names, plate)},
		{"ListBuses", "search"}:                    {id: world.Bus.ID.String(), typed: append(names, plate)},
		{"ListAdCampaigns", "search"}:              {id: campaign, typed: names},
		{"ListProviders", "search"}:                {id: id, typed: append(names, mobile, emails("aisha@rihla.test"))},
		{"ListStaff", "search"}:                    {id: world.Users[models.RoleProviderAdmin].ID.String(), typed: append(names, mobile)},
		{"ListCompanyStaff", "search"}:             {id: world.Users[models.RoleProviderAdmin].ID.String(), typed: append(names, mobile)},
		{"ListUsers", "search"}:                    {id: world.Users[models.RoleProviderAdmin].ID.String(), typed: append(names, mobile)},
		{"ListProviderBalances", "search"}:         {id: id, typed: names},
		{"ListBookings", "search"}:                 {id: booked.ID.String(), typed: sale},
		{"ListPaymentTransactions", "search"}:      {id: booked.Payment.TransactionID.String(), typed: sale},
		{"ListPaymentTransactions", "reference"}:   {id: booked.Payment.TransactionID.String(), typed: [][]string{{reference, arabicDigits.Replace(reference), "\u202a" + reference + "\u202c"}}},
		{"ListAllCancellationRequests", "search"}:  {id: asked, typed: sale},
		{"ListRefunds", "search"}:                  {id: paidOut, typed: append(sale, numbers("REFUND-2026"), whole(paidOut))},
		{"ListFinancialRecords", "search"}:         {id: line, typed: lines},
		{"ListProviderFinancialRecords", "search"}: {id: line, typed: lines},
		{"GetFinancialRecordTotals", "search"}:     {id: `"gross_amount":15.00`, typed: lines, also: of},
		{"ExportFinancialRecords", "search"}:       {id: number, typed: lines},
	}
}
