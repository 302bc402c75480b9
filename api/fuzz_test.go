package api

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzBody sends any bytes as a booking: the answer is always one of ours, and a booking that gets through is whole.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		bookingBody, `{}`, `[]`, `null`, `{"trip_id":1e999}`, `{"a":{"b":[{"c":"\ud800"}]}}`, "{\"\u0000\":1}", `{"trip_id":"x","trip_id":2}`,
		`{"passengers":[[[[{"name":null}]]]]}`, `"\u00"`, "\xff", `-`, `{"contact":{"email":"a@b.c","phone":"+00000000"}}`,
	} {
		f.Add([]byte(seed))
	}

	b := setup(f)

	f.Fuzz(func(t *testing.T, body []byte) {
		b.ops.booking = nil
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", string(body), "Content-Type", "application/json")

		switch a.status {
		case http.StatusCreated:
			require.NotNil(t, b.ops.booking)
			require.NotEmpty(t, b.ops.booking.Passengers)
			require.NotEmpty(t, b.ops.booking.Contact.Email)
			require.NotContains(t, b.ops.booking.Passengers[0].Name, "\x00")
		case http.StatusUnprocessableEntity:
			require.NotEmpty(t, a.details)
		default:
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
		}
	})
}

// FuzzQuery sends any values as filters.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{
		{"page", "1"}, {"per_page", "-1"}, {"sort", "-record_date,"}, {"period", "custom"}, {"search", "\x00"}, {"booking_id", "%"}, {"date_to", "2026-02-30"},
	} {
		f.Add(seed[0], seed[1])
	}

	b := setup(f)

	f.Fuzz(func(t *testing.T, name, value string) {
		query := url.Values{name: {value}}
		a := b.call(t, http.MethodGet, "/api/v1/admin/financial-records?"+query.Encode(), "ADMIN", "")

		if a.status != http.StatusOK {
			require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
			require.Contains(t, a.details, name)
		}
	})
}
