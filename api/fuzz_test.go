package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/testkit/cputime"
)

var createBooking = jsonOperation{method: http.MethodPost, path: bookingPath, role: "END_USER"}

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
		cputime.RequireInProportion(t,
			func() { serve(b, createBooking, body) }, func() { serve(b, createBooking, harmless(len(body))) }, "a booking of %d bytes", len(body))

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

// FuzzCost blows a name and a value up into large bodies and holds their cost to that of a harmless body of the same
// size, so that inputs whose cost grows faster than their size are found although a fuzzer's own inputs stay small.
func FuzzCost(f *testing.F) {
	for _, seed := range []struct{ name, value string }{
		{"a", "1"},
		{"passengers", "{}"},
		{"passengers", `{"name":0}`},
		{"contact", `{"email":"a@b"}`},
		{"trip_id", "1e30"},
		{`\u0000`, `"\u0000"`},
		{"a", `{"a":[]}`},
		{"payment_method", `"\ud83d\ude00"`},
		{"contact", `{"phone":null}`},
	} {
		f.Add(seed.name, seed.value)
	}

	b := setup(f)

	f.Fuzz(func(t *testing.T, name, value string) {
		if len(name)+len(value) > 1<<10 {
			return
		}

		for shape, body := range blownUp(name, value) {
			cputime.RequireInProportion(t,
				func() { serve(b, createBooking, body) }, func() { serve(b, createBooking, harmless(len(body))) },
				"%s of %q and %q", shape, name, value)
		}
	})
}

// blownUp repeats a name and a value as often as the limits allow, and oftener. A body that is not JSON is refused as such.
func blownUp(name, value string) map[string][]byte {
	const size = 256 << 10

	long := strings.Repeat(name, 1+size/2/(len(name)+1))
	member := `"` + escaped(name) + `%d":` + escaped(value)

	return map[string][]byte{
		"members":                     filledTo(size, "{", member, "}", mostMembers),
		"many members":                filledTo(size, "{", member, "}", noLimit),
		"one member again":            filledTo(size, "{", `"`+name+`":`+value, "}", mostMembers),
		"elements":                    filledTo(size, `{"`+name+`":[`, value, "]}", mostElements),
		"some elements":               filledTo(size, `{"`+name+`":[`, value, "]}", mostMembers/2),
		"elements behind a long name": filledTo(size, `{"`+long+`":[`, value, "]}", mostElements),
		"a few behind a long name":    filledTo(size, `{"`+long+`":[`, value, "]}", mostMembers/2),
		"members behind a long name":  filledTo(size, `{"`+long+`":{`, member, "}}", mostMembers),
	}
}

func escaped(s string) string { return strings.ReplaceAll(s, "%", "%%") }
