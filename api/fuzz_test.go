package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzBody sends any bytes as a booking: the answer is always one of ours, and a booking that gets through is whole. The
// handlers are the tests' own; what the real ones do with fuzzed requests is in package cmd.
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
