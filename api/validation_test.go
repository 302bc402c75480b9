package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestBadBodies(t *testing.T) {
	t.Parallel()

	deep := strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200)
	with := func(old, replacement string) string { return strings.Replace(bookingBody, old, replacement, 1) }

	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		code    string
		fields  map[string]string
	}{
		{name: "not JSON", body: `{"trip_id":`, status: 400, code: "MALFORMED_REQUEST"},
		{name: "empty", body: ``, status: 400, code: "MALFORMED_REQUEST"},
		{name: "trailing data", body: bookingBody + `{}`, status: 400, code: "MALFORMED_REQUEST"},
		{name: "trailing garbage", body: bookingBody + `x`, status: 400, code: "MALFORMED_REQUEST"},
		{name: "byte order mark", body: "\ufeff" + bookingBody, status: 400, code: "MALFORMED_REQUEST"},
		{name: "NaN", body: with(`"credit_card"`, `NaN`), status: 400, code: "MALFORMED_REQUEST"},
		{name: "deep nesting", body: with(`"credit_card"`, deep), status: 400, code: "MALFORMED_REQUEST"},
		{
			name: "very deep nesting", body: strings.Repeat(`[`, 400_000) + strings.Repeat(`]`, 400_000), status: 400, code: "MALFORMED_REQUEST",
		},
		{name: "wrong type", body: bookingBody, headers: []string{"Content-Type", "text/plain"}, status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "form", body: `a=b`, headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "no type", body: bookingBody, headers: []string{"Content-Type", ""}, status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{
			name: "other charset", body: bookingBody, headers: []string{"Content-Type", "application/json; charset=latin1"},
			status: 415, code: "UNSUPPORTED_MEDIA_TYPE",
		},
		{name: "compressed", body: bookingBody, headers: []string{"Content-Encoding", "gzip"}, status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{name: "not an object", body: `[]`, status: 422, fields: map[string]string{"body": "must be an object"}},
		{name: "null", body: `null`, status: 422, fields: map[string]string{"body": "must not be null"}},
		{name: "unknown field", body: with(`{"trip_id"`, `{"x":1,"trip_id"`), status: 422, fields: map[string]string{"x": "is not a known field"}},
		{
			name: "other letter case", body: with(`{"trip_id"`, `{"Trip_ID":"`+companyID.String()+`","trip_id"`), status: 422,
			fields: map[string]string{"Trip_ID": "is not a known field"},
		},
		{
			name: "twice", body: with(`{"trip_id"`, `{"trip_id":"`+companyID.String()+`","trip_id"`), status: 422,
			fields: map[string]string{"trip_id": "is given more than once"},
		},
		{name: "NUL", body: with(`Traveller One`, `a\u0000b`), status: 422, fields: map[string]string{"passengers.0.name": "must not contain the NUL character"}},
		{name: "invalid UTF-8", body: with(`Traveller One`, "a\xffb"), status: 400, code: "MALFORMED_REQUEST"},
		{
			name: "half surrogate", body: with(`Traveller One`, `a\ud83db`), status: 422,
			fields: map[string]string{"body": "must not contain half of a surrogate pair"},
		},
		{name: "huge number", body: with(`"credit_card"`, `1e400000000`), status: 422, fields: map[string]string{"payment_method": "is a number with too many digits"}},
		{
			name: "endless number", body: with(`"credit_card"`, strings.Repeat("9", 900_000)), status: 422,
			fields: map[string]string{"payment_method": "is a number with too many digits"},
		},
		{name: "null field", body: with(`"credit_card"`, `null`), status: 422, fields: map[string]string{"payment_method": "must not be null"}},
		{
			name: "all errors at once", body: `{"trip_id":"x","passengers":[{},{"name":"","document_number":7}],"contact":{"email":"a@b","phone":"1"},"return_url":"javascript:alert(1)"}`,
			status: 422,
			fields: map[string]string{
				"trip_id": "must be a UUID", "passengers.0.name": "is required", "passengers.1.name": "must not be empty",
				"passengers.1.document_number": "must be a string", "contact.name": "is required", "contact.email": "must be an email address",
				"contact.phone": "must have at least 8 characters", "payment_method": "is required", "return_url": "must be an address such as https://example.com/path",
			},
		},
		{
			name: "a name that can be opened", body: with(`Traveller One`, `Your refund waits: https://evil.example/x`), status: 422,
			fields: map[string]string{"passengers.0.name": "must be a name, without a web address"},
		},
		{name: "nobody", body: with(`[{"name":"Traveller One"}]`, `[]`), status: 422, fields: map[string]string{"passengers": "must have at least 1 item"}},
		{
			name: "a bus full", body: with(`{"name":"Traveller One"}`, strings.Repeat(`{"name":"A"},`, 20)+`{"name":"B"}`), status: 422,
			fields: map[string]string{"passengers": "must have at most 20 items"},
		},
		{
			name: "unknown method", body: with(`credit_card`, `cash`), status: 422,
			fields: map[string]string{"payment_method": "must be one of credit_card, debit_network, wallet_a, wallet_b, bill_payment"},
		},
		{
			name: "key that is no UUID v4", body: bookingBody, headers: []string{"Idempotency-Key", companyID.String()}, status: 422,
			fields: map[string]string{"Idempotency-Key": "must be a UUID v4"},
		},
	}

	b := setup(t)

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			start := time.Now()
			a := b.call(t, http.MethodPost, bookingPath, "END_USER", tt.body, tt.headers...)

			require.Less(t, time.Since(start), 2*time.Second)
			require.Equal(t, tt.status, a.status, a.body)

			if tt.status != http.StatusUnprocessableEntity {
				require.Equal(t, tt.code, a.code)

				return
			}

			require.Equal(t, "VALIDATION_ERROR", a.code)

			for field, message := range tt.fields {
				require.Contains(t, a.details[field], message, a.body)
			}

			require.Len(t, a.details, len(tt.fields), a.body)
		})
	}

	require.Zero(t, b.ops.calls)
}

func TestGoodBodies(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, contentType := range []string{"application/json", "application/json; charset=UTF-8", "Application/JSON ; charset=\"utf-8\""} {
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Content-Type", contentType)
		require.Equal(t, http.StatusCreated, a.status, a.body)
		require.Equal(t, "/api/v1/bookings/"+tripID.String(), a.header.Get("Location"))
		require.Equal(t, "application/json; charset=utf-8", a.header.Get("Content-Type"))
		require.Contains(t, a.body, `"amount":1150.00`)
		require.Contains(t, a.body, `"vat_rate":0.15`)
		require.Equal(t, tripID, b.ops.booking.TripID)
		require.Equal(t, models.MethodCreditCard, b.ops.booking.PaymentMethod)
	}
}

func TestMoneyInput(t *testing.T) {
	t.Parallel()

	path := "/api/v1/admin/bookings/" + tripID.String() + "/refund"
	b := setup(t)

	for amount, message := range map[string]string{
		`150`: "", `150.5`: "", `150.50`: "", `1.500`: "", `1.5e2`: "", `0.01`: "", `999999999999.99`: "",
		`0`: "must be at least 0.01", `-1`: "must be at least 0.01", `0.001`: "must be a number with at most 2 decimals",
		`1.005`: "must be a number with at most 2 decimals", `1.1500000000000001`: "must be a number with at most 2 decimals",
		`1000000000000`: "must be at most 999999999999.99", `"150.00"`: "must be a number", `1e31`: "is a number with too many digits",
	} {
		a := b.call(t, http.MethodPost, path, "FINANCE_ADMIN", `{"refund_type":"PARTIAL","amount":`+amount+`}`)
		if message == "" {
			require.Equal(t, http.StatusCreated, a.status, "%s: %s", amount, a.body)
		} else {
			require.Equal(t, http.StatusUnprocessableEntity, a.status, amount)
			require.Contains(t, a.details["amount"], message, amount)
		}
	}
}

func TestOptionalBody(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := "/api/v1/admin/financial-records/" + tripID.String() + "/mark-transferred"

	require.Equal(t, http.StatusOK, b.call(t, http.MethodPost, path, "ADMIN", "").status)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodPost, path, "ADMIN", `{"payout_date":"2026-02-28"}`).status)

	a := b.call(t, http.MethodPost, path, "ADMIN", `{"payout_date":"2026-02-31"}`)
	require.Equal(t, []string{"must be a date, YYYY-MM-DD"}, a.details["payout_date"])
}

func TestQueryParameters(t *testing.T) {
	t.Parallel()

	b := setup(t)
	records, trips := "/api/v1/admin/financial-records", "/api/v1/trips"

	tests := []struct {
		path, query string
		fields      map[string]string
	}{
		{records, "", nil},
		{records, "page=1&per_page=100&sort=-gross_amount,record_date&period=this_week", nil},
		{records, "unknown=%00", map[string]string{"unknown": "is not a known parameter"}},
		{records, "page=999999&search=%D8%B1%D8%AD%D9%84%D8%A9+%25_", nil},
		{records, "page=0", map[string]string{"page": "must be at least 1"}},
		{records, "page=", map[string]string{"page": "must be an integer"}},
		{records, "page=1.0", map[string]string{"page": "must be an integer"}},
		{records, "page=%2B1", map[string]string{"page": "must be an integer"}},
		{records, "page=99999999999999999999", map[string]string{"page": "must be an integer"}},
		{records, "page=1&page=2", map[string]string{"page": "is given more than once"}},
		{records, "per_page=9", map[string]string{"per_page": "must be at least 10"}},
		{records, "per_page=101&page=x", map[string]string{"per_page": "must be at most 100", "page": "must be an integer"}},
		{records, "balance_status=PAID", map[string]string{"balance_status": "must be one of IN_CURRENT_BALANCE, TRANSFERRED, REFUNDED"}},
		{records, "sort=id", map[string]string{"sort": "must be record_date, gross_amount, net_amount or created_at, each with an optional leading -, separated by commas"}},
		{records, "booking_id=1", map[string]string{"booking_id": "must be a UUID"}},
		{records, "date_from=2026-13-01", map[string]string{"date_from": "must be a date, YYYY-MM-DD"}},
		{records, "search=a%00b", map[string]string{"search": "must be valid UTF-8 without the NUL character"}},
		{records, "search=%ff", map[string]string{"search": "must be valid UTF-8 without the NUL character"}},
		{records, "search=" + strings.Repeat("a", 201), map[string]string{"search": "must have at most 200 characters"}},
		{trips, "type=CRUISE", map[string]string{"type": "must be one of UMRAH, TOURISM"}},
	}

	for _, tt := range tests {
		a := b.call(t, http.MethodGet, tt.path+"?"+tt.query, "ADMIN", "")
		if tt.fields == nil {
			require.Equal(t, http.StatusOK, a.status, "%s: %s", tt.query, a.body)

			continue
		}

		require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", tt.query, a.body)

		for field, message := range tt.fields {
			require.Equal(t, []string{message}, a.details[field], tt.query)
		}

		require.Len(t, a.details, len(tt.fields), a.body)
	}

	a := b.call(t, http.MethodGet, records+"?search=%zz", "ADMIN", "")
	require.Equal(t, "MALFORMED_REQUEST", a.code)
}

func TestPathIDs(t *testing.T) {
	t.Parallel()

	b := setup(t)
	never := b.call(t, http.MethodGet, "/api/v1/trips/"+tripID.String(), "", "")

	require.Equal(t, http.StatusNotFound, never.status)

	for _, id := range []string{
		"1", "%00", "%ff", "null", "{019ab0c2-7000-7aaa-8bbb-000000000001}", "urn:uuid:019ab0c2-7000-7aaa-8bbb-000000000001",
		"019ab0c270007aaa8bbb000000000001", "019ab0c2-7000-7aaa-8bbb-00000000000g", "019ab0c2-7000-7aaa-8bbb-000000000001%20",
	} {
		a := b.call(t, http.MethodGet, "/api/v1/trips/"+id, "", "")
		require.Equal(t, http.StatusNotFound, a.status, id)
		require.Equal(t, never.body, a.body, id)
	}
}
