package cmd

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/internal/ticket"
	"rihla/models"
)

// TestTicketsOverHTTP: from the ticket of a paid booking to the passengers' check-ins, on the API as it is wired, whose answers are held
// against the document.
func TestTicketsOverHTTP(t *testing.T) {
	t.Parallel()

	b := setupFuzz(t)
	paid, unpaid := fuzzID(604), fuzzID(600)
	booking := "/api/v1/bookings/" + paid.String() + "/ticket"
	accept := func(mediaType string) map[string]string {
		return map[string]string{"Accept": mediaType, "Accept-Language": "en"}
	}

	a := b.call(t, http.MethodGet, booking, models.RoleEndUser, nil, nil)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	var read struct {
		BookingNumber string `json:"booking_number"`
		Passengers    []struct {
			ID    string `json:"passenger_id"`
			Token string
		}
	}

	require.NoError(t, a.Data(&read))
	require.NotEmpty(t, read.Passengers)

	keys, err := ticket.LoadKeys(config.DevTicketKey().Reveal())
	require.NoError(t, err)

	c, err := ticket.Verify(keys.Public(), read.Passengers[0].Token, time.Now())
	require.NoError(t, err)
	require.Equal(t, []string{read.BookingNumber, read.Passengers[0].ID}, []string{c.BookingNumber, c.Passenger.String()})

	a = b.call(t, http.MethodGet, booking, models.RoleEndUser, nil, accept("text/html,application/xhtml+xml,*/*;q=0.8"))
	require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
	require.Contains(t, string(a.Body), read.BookingNumber)
	require.Contains(t, a.Header.Get("Content-Security-Policy"), "style-src 'nonce-")

	a = b.call(t, http.MethodGet, booking, models.RoleSupportAgent, nil, accept("application/pdf"))
	require.Equal(t, "application/pdf", a.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(string(a.Body), "%PDF-"))

	require.Equal(t, http.StatusConflict,
		b.call(t, http.MethodGet, "/api/v1/bookings/"+unpaid.String()+"/ticket", models.RoleEndUser, nil, nil).Status)
	require.Equal(t, http.StatusNotFound, b.call(t, http.MethodGet, booking, models.RoleProviderAdmin, nil, nil).Status)

	b.openLinks(t, keys)
	b.checkIn(t, read.Passengers[0].Token, c)
}

// openLinks opens tickets as readers of mails do.
func (b *fuzzBundle) openLinks(t *testing.T, keys *ticket.Keys) {
	t.Helper()

	link := keys.LinkTo(fuzzID(604))

	a := b.call(t, http.MethodGet, link+"&lang=ar", "", nil, map[string]string{"Accept": "*/*"})
	require.Equal(t, http.StatusOK, a.Status)
	require.Contains(t, string(a.Body), `<html lang="ar" dir="rtl">`)
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))

	a = b.call(t, http.MethodGet, link+"&format=pdf", "", nil, nil)
	require.True(t, strings.HasPrefix(string(a.Body), "%PDF-"))

	for name, other := range map[string]string{
		"changed":     strings.Replace(link, "signature=", "signature=A", 1),
		"no proof":    strings.Split(link, "?")[0],
		"not paid":    keys.LinkTo(fuzzID(600)),
		"no booking":  keys.LinkTo(fuzzID(1)),
		"another one": strings.Replace(link, fuzzID(604).String(), fuzzID(605).String(), 1),
	} {
		require.Equal(t, http.StatusNotFound, b.call(t, http.MethodGet, other, "", nil, nil).Status, name)
	}

	a = b.call(t, http.MethodGet, "/.well-known/jwks.json", "", nil, nil)
	require.Contains(t, string(a.Body), `"use":"ticket"`)
	require.Contains(t, string(a.Body), base64.RawURLEncoding.EncodeToString(keys.Public()[0]))
}

// checkIn reports a passenger, and reads the lists of the trip.
func (b *fuzzBundle) checkIn(t *testing.T, token string, c ticket.Claims) {
	t.Helper()

	trip := "/api/v1/provider/trips/" + c.Trip.String()
	at := time.Now().UTC().Truncate(time.Second)
	report := func(role models.Role, entries ...map[string]any) (int, string) {
		t.Helper()

		body, err := json.Marshal(entries)
		require.NoError(t, err)

		a := b.call(t, http.MethodPost, trip+"/check-ins", role, body, map[string]string{"Content-Type": "application/json"})

		return a.Status, string(a.Body)
	}
	entry := func(device string, more map[string]any) map[string]any {
		e := map[string]any{"at": at, "device_id": device}
		maps.Copy(e, more)

		return e
	}

	status, body := report(models.RoleProviderStaff, entry("a", map[string]any{"ticket": token}), entry("b", map[string]any{"ticket": token}),
		entry("a", map[string]any{"ticket": token[:len(token)-4] + "AAAA"}), entry("a", map[string]any{"ticket": "https://example.com"}),
		entry("a", map[string]any{"ticket": token, "passenger_id": fuzzID(1)}), entry("a", map[string]any{"passenger_id": fuzzID(1)}),
		entry("a", map[string]any{"passenger_id": c.Passenger}), entry("a", nil))
	require.Equal(t, http.StatusOK, status, body)

	var done struct {
		Data []struct {
			Status      models.CheckInStatus `json:"status"`
			CheckedInAt *time.Time           `json:"checked_in_at"`
		} `json:"data"`
	}

	require.NoError(t, json.Unmarshal([]byte(body), &done))

	got := make([]models.CheckInStatus, len(done.Data))
	for i, d := range done.Data {
		got[i] = d.Status
	}

	require.Equal(t, []models.CheckInStatus{
		models.CheckInDone, models.CheckInAlready, models.CheckInInvalid, models.CheckInInvalid, models.CheckInInvalid, models.CheckInInvalid,
		models.CheckInDone, models.CheckInInvalid,
	}, got)
	require.True(t, at.Equal(*done.Data[1].CheckedInAt))
	require.Nil(t, done.Data[2].CheckedInAt)

	for name, c := range map[string]struct {
		role    models.Role
		entries []map[string]any
		status  int
	}{
		"a customer":  {models.RoleEndUser, []map[string]any{entry("a", nil)}, http.StatusForbidden},
		"nothing":     {models.RoleProviderStaff, []map[string]any{}, http.StatusUnprocessableEntity},
		"no device":   {models.RoleProviderStaff, []map[string]any{{"at": at}}, http.StatusUnprocessableEntity},
		"no moment":   {models.RoleProviderStaff, []map[string]any{{"device_id": "a", "at": "soon"}}, http.StatusUnprocessableEntity},
		"another key": {models.RoleProviderStaff, []map[string]any{entry("a", map[string]any{"booking_id": fuzzID(604)})}, http.StatusUnprocessableEntity},
	} {
		status, body := report(c.role, c.entries...)
		require.Equal(t, c.status, status, "%s: %s", name, body)
	}

	a := b.call(t, http.MethodGet, trip+"/check-ins", models.RoleProviderStaff, nil, nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Contains(t, string(a.Body), `"checked_in_at":"`+at.Format(time.RFC3339)+`"`)

	a = b.call(t, http.MethodGet, trip+"/manifest?format=csv", models.RoleProviderStaff, nil, nil)
	require.Equal(t, http.StatusConflict, a.Status, "years before departure")

	_, err := b.db.ExecContext(t.Context(), "UPDATE trips SET departure_at = now() + interval '1 hour', return_at = now() + interval '2 days' WHERE id = $1", c.Trip)
	require.NoError(t, err)

	a = b.call(t, http.MethodGet, trip+"/manifest?format=csv", models.RoleProviderStaff, nil, map[string]string{"Accept-Language": "en"})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(t, "text/csv; charset=utf-8", a.Header.Get("Content-Type"))
	require.Contains(t, a.Header.Get("Content-Disposition"), ".csv")

	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(a.Body), "\ufeff"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"No.", "Booking number", "Name", "Document number", "Phone", "Boarded at"}, rows[0])
	require.Equal(t, c.BookingNumber, rows[1][1])

	var counted, noted int

	require.NoError(t, b.db.QueryRowContext(t.Context(), `SELECT (SELECT rows FROM people_reads WHERE account_id = $1),
		(SELECT count(*) FROM audit_log WHERE action = 'TRIP_MANIFEST_READ')`, fuzzUser(models.RoleProviderStaff)).Scan(&counted, &noted))
	require.Equal(t, []int{2, 1}, []int{counted, noted}, "the list of check-ins and that of passengers have a row each")

	a = b.call(t, http.MethodGet, trip+"/manifest?format=pdf", models.RoleProviderAdmin, nil, nil)
	require.True(t, strings.HasPrefix(string(a.Body), "%PDF-"))
}
