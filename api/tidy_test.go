package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/gen"
)

// named is a booking for a passenger of that name, in JSON's own escapes.
func named(t *testing.T, name string) string {
	t.Helper()

	text, err := json.Marshal(name)
	require.NoError(t, err)

	return strings.Replace(bookingBody, `[{"name":"Traveller One"}]`, `[{"name":`+string(text)+`}]`, 1)
}

func TestBlankNamesAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, name := range []string{
		"", " ", "\t\n", "\u00a0", "\u2003\u2003", "\u3000", "\u200b", "\u200c\u200d", "\u200e\u200f", "\u202e", "\u2060", "\ufeff", "\u00ad",
		"\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\ufe0f", "\u0301", "\u034f", "\u180e", "\ue000", "\u0007", "\U000e0020", " \u00a0\u200b\u3164 ",
	} {
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", named(t, name))
		require.Equal(t, http.StatusUnprocessableEntity, a.status, "%+q", name)
		require.Contains(t, a.details["passengers.0.name"], "must not be blank", "%+q", name)
	}
}

func TestNamesAreTrimmed(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for name, kept := range map[string]string{
		"Traveller One": "Traveller One", "\u00a0Traveller\u2003": "Traveller", "\ufeff\u200b علي \u3000": "علي",
		"نور\u200cالدین": "نور\u200cالدین", "❤\ufe0f": "❤\ufe0f", " ʼAbd ": "ʼAbd", "\u2028A\u2029": "A", "A\u00a0B": "A\u00a0B",
	} {
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", named(t, name))
		require.Equal(t, http.StatusCreated, a.status, "%+q: %s", name, a.body)
		require.Equal(t, kept, b.ops.booking.Passengers[0].Name, "%+q", name)
	}

	// Spaces do not count towards the length.
	a := b.call(t, http.MethodPost, bookingPath, "END_USER", named(t, strings.Repeat(" ", 200)+strings.Repeat("x", 120)))
	require.Equal(t, http.StatusCreated, a.status, a.body)
}

// TestWordsAsPeopleWriteThem: handlers, and idempotency keys, see what was cleaned, in bodies and in parameters.
func TestWordsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()

	b := setup(t)

	typed := strings.NewReplacer(
		`+966501234567`, "\u202a+٩٦٦ ٥٠-١٢٣\u2011٤٥٦٧\u202c", `traveller@rihla.test`, "traveller@rihla.test\u200e",
		`"Traveller One","email"`, `"\u200fTraveller\u202e One","email"`, `[{"name":"Traveller One"}]`,
		`[{"name":"Traveller One","document_number":"A١٢٣ ٤٥٦"}]`,
	).Replace(bookingBody)
	plain := strings.Replace(bookingBody, `[{"name":"Traveller One"}]`, `[{"name":"Traveller One","document_number":"A123456"}]`, 1)

	key := []string{"Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
	a := b.call(t, http.MethodPost, bookingPath, "END_USER", typed, key...)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	require.Equal(t, "+966501234567", b.ops.booking.Contact.Phone)
	require.Equal(t, "traveller@rihla.test", b.ops.booking.Contact.Email)
	require.Equal(t, "Traveller One", b.ops.booking.Contact.Name)
	require.Equal(t, "A123456", *b.ops.booking.Passengers[0].DocumentNumber)

	again := b.call(t, http.MethodPost, bookingPath, "END_USER", plain, key...)
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, "true", again.get("Idempotent-Replayed"), "to a key both are one body")

	query := url.Values{"page": {"٢"}, "search": {"\u200eعمرة\u202c "}, "date_from": {"٢٠٢٦\u2011١٢\u2011٠١"}, "origin": {"مكة\u200f"}}
	a = b.call(t, http.MethodGet, "/api/v1/trips?"+query.Encode(), "", "")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, 2, *b.ops.trips.Page)
	require.Equal(t, "عمرة", *b.ops.trips.Search)
	require.Equal(t, "مكة", *b.ops.trips.Origin)
	require.Equal(t, "2026-12-01", b.ops.trips.DateFrom.String())

	// An unknown parameter is still reported beside one that was cleaned.
	a = b.call(t, http.MethodGet, "/api/v1/admin/financial-records?Page=2&page="+url.QueryEscape("٢"), "FINANCE_ADMIN", "")
	require.Equal(t, map[string][]string{"Page": {"is not a known parameter"}}, a.details)
}

// TestNullIsLeftOut: answers hold null for optional fields, and may be sent back as they are.
func TestNullIsLeftOut(t *testing.T) {
	t.Parallel()

	b := setup(t)

	body := strings.Replace(bookingBody, `{"name":"Traveller One"}`, `{"name":"Traveller One","document_number":null}`, 1)
	body = strings.TrimSuffix(body, "}") + `,"return_url":null}`

	a := b.call(t, http.MethodPost, bookingPath, "END_USER", body)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	require.Nil(t, b.ops.booking.Passengers[0].DocumentNumber)
	require.Nil(t, b.ops.booking.ReturnURL)

	// To an Idempotency-Key both are one body.
	key := []string{"Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
	require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, bookingPath, "END_USER", body, key...).status)

	again := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, key...)
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, "true", again.get("Idempotent-Replayed"))

	for _, required := range []string{"trip_id", "passengers", "contact", "payment_method"} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(bookingBody), &fields))

		fields[required] = nil
		text, err := json.Marshal(fields)
		require.NoError(t, err)

		a := b.call(t, http.MethodPost, bookingPath, "END_USER", string(text))
		require.Equal(t, []string{"must not be null"}, a.details[required], a.body)
	}

	// In the JSON part of a form, too.
	payload := strings.TrimSuffix(busJSON, "}") + `,"features":null}`
	a = b.call(t, http.MethodPost, busesPath, "PROVIDER_ADMIN", formBody("payload", payload), "Content-Type", formType)
	require.Equal(t, http.StatusCreated, a.status, a.body)

	var bus gen.BusAnswer
	require.NoError(t, json.Unmarshal([]byte(a.body), &bus))
}

func TestUnknownParameters(t *testing.T) {
	t.Parallel()

	b := setup(t)

	a := b.call(t, http.MethodGet, "/api/v1/me?nonsense=1&%ff=2", "END_USER", "")
	require.Equal(t, http.StatusUnprocessableEntity, a.status)
	require.Equal(t, map[string][]string{"nonsense": {"is not a known parameter"}, "\ufffd": {"is not a known parameter"}}, a.details)

	a = b.call(t, http.MethodGet, "/api/v1/admin/financial-records?page=1&Page=2", "FINANCE_ADMIN", "")
	require.Equal(t, map[string][]string{"Page": {"is not a known parameter"}}, a.details)
	require.Equal(t, http.StatusUnprocessableEntity, b.call(t, http.MethodPost, bookingPath+"?a=b", "END_USER", bookingBody).status)

	// Without a token they say nothing.
	require.Equal(t, http.StatusUnauthorized, b.call(t, http.MethodGet, "/api/v1/me?nonsense=1", "", "").status)

	for _, path := range []string{"/api/v1/trips?utm_source=x", "/healthz?x=1", "/docs?x=1", "/openapi.json?x=1"} {
		require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, path, "", "").status, path)
	}
}

func TestWordsForPeople(t *testing.T) {
	t.Parallel()

	b := setup(t)

	arabic := b.call(t, http.MethodPost, bookingPath, "END_USER", `{"trip_id":"x"}`)
	require.Equal(t, "بعض البيانات غير صحيحة. صحّح الحقول المحددة وحاول مرة أخرى.", arabic.uiMessage)
	require.Equal(t, []string{"must be a UUID"}, arabic.details["trip_id"])
	require.Equal(t, []string{"يجب أن تكون القيمة معرّفًا صحيحًا"}, arabic.uiDetails["trip_id"])
	require.Equal(t, []string{"هذا الحقل مطلوب"}, arabic.uiDetails["passengers"])

	english := b.call(t, http.MethodPost, bookingPath, "END_USER", `{"trip_id":"x"}`, "Accept-Language", "en")
	require.Equal(t, "Some details are not right. Correct the fields that are marked and try again.", english.uiMessage)
	require.Equal(t, english.details, english.uiDetails)

	require.Equal(t, "سجّل الدخول للمتابعة.", b.call(t, http.MethodGet, "/api/v1/me", "", "").uiMessage)
	require.Equal(t, "This was not found.", b.call(t, http.MethodGet, "/nothing", "", "", "Accept-Language", "en").uiMessage)
}

func TestEntrance(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, path := range []string{"/", "/api/v1"} {
		a := b.call(t, http.MethodGet, path, "", "")
		require.Equal(t, http.StatusOK, a.status, path)

		var index struct {
			Name    string            `json:"name"`
			Version string            `json:"version"`
			Links   map[string]string `json:"links"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &index))
		require.Equal(t, "Rihla API", index.Name)
		require.NotEmpty(t, index.Version)

		for name, address := range index.Links {
			require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, address, "", "").status, name)
		}

		require.Len(t, index.Links, 4)
	}
}
