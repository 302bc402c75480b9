package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/gateways/standardwebhook"
	"rihla/models"
)

// badSignatures are events that would confirm a booking, were they from the gateway.
func badSignatures(t *testing.T, w *targets) {
	t.Helper()

	body, err := json.Marshal(eventOf(w.booking, models.EventPaymentSucceeded))
	require.NoError(t, err)

	const (
		id, at, signature = standardwebhook.HeaderID, standardwebhook.HeaderTimestamp, standardwebhook.HeaderSignature
	)

	for _, channel := range models.Channels() {
		good := w.Signed(channel, "evt", body)
		changed := func(name, value string) map[string]string {
			h := maps.Clone(good)
			h[name] = value

			return h
		}
		without := func(name string) map[string]string {
			h := maps.Clone(good)
			delete(h, name)

			return h
		}
		later := strconv.FormatInt(time.Now().Unix()+1, 10)

		cases := map[string]map[string]string{
			"no headers": {}, "no id": without(id), "no timestamp": without(at), "no signature": without(signature),
			"empty signature": changed(signature, ""), "another id": changed(id, "evt2"), "another time": changed(at, later),
			"stale":  w.SignedAt(channel, "evt", body, time.Now().Add(-5*time.Minute-5*time.Second)),
			"future": w.SignedAt(channel, "evt", body, time.Now().Add(5*time.Minute+5*time.Second)),
			"1970":   w.SignedAt(channel, "evt", body, time.Unix(0, 0)), "9999": w.SignedAt(channel, "evt", body, time.Unix(253402300799, 0)),
			"no number": changed(at, "now"), "a fraction": changed(at, good[at]+".0"), "overflow": changed(at, "99999999999999999999"),
			"another version": changed(signature, "v1a"+strings.TrimPrefix(good[signature], "v1")),
			"no version":      changed(signature, strings.TrimPrefix(good[signature], "v1,")),
			"no base64":       changed(signature, "v1,!!!!"), "only the version": changed(signature, "v1,"),
			"cut":         changed(signature, good[signature][:len(good[signature])-4]),
			"other bytes": w.Signed(channel, "evt", append([]byte(" "), body...)),
		}

		for _, other := range models.Channels() {
			if other != channel {
				cases["secret of "+string(other)] = w.Signed(other, "evt", body)
			}
		}

		for name, header := range cases {
			a, err := w.Anybody().Do(http.MethodPost, "/api/v1/payments/"+channel.Path(), body, header)
			require.NoError(t, err)
			require.Equal(t, http.StatusUnauthorized, a.Status, "%s: %s: %s", channel, name, a.Body)
			require.Equal(t, models.CodeInvalidSignature, a.Code())
			require.Empty(t, errorDetails(t, a), "who cannot sign learns nothing")
		}

		require.Equal(t, http.StatusUnauthorized, signedTwice(t, w, channel, body).Status)
	}
}

// signedTwice sends a good signature and a second header line of the same name.
func signedTwice(t *testing.T, w *targets, channel models.Channel, body []byte) harness.Answer {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/api/v1/payments/"+channel.Path(), strings.NewReader(string(body)))
	require.NoError(t, err)

	for name, value := range w.Signed(channel, "evt", body) {
		r.Header.Set(name, value)
	}

	r.Header.Add(standardwebhook.HeaderID, "evt2")

	a, err := w.Anybody().Send(r)
	require.NoError(t, err)

	return a
}

// badWebhooks are signed, and yet nothing that can be kept.
func badWebhooks(t *testing.T, w *targets) {
	t.Helper()

	event := func(change func(root, data map[string]any)) string {
		root := eventOf(w.booking, models.EventPaymentSucceeded)
		change(root, root["data"].(map[string]any))

		text, err := json.Marshal(root)
		require.NoError(t, err)

		return string(text)
	}

	cases := map[string]int{
		"": 400, "hello": 400, "{": 400, "{}{}": 400, "\xff": 400, `{"type":"` + "\xff" + `"}`: 400,
		"[]": 422, "null": 422, `"text"`: 422, "{}": 422, `{"type":"payment.succeeded"}`: 422, `{"type":null}`: 422, `{"type":1}`: 422,
		`{"type":"payment.succeeded","timestamp":"2026-11-21T09:30:00Z","data":[]}`: 422,
		`{"type":"x","a":"\u0000"}`: 422, `{"type":"x","a":"\ud800"}`: 422, `{"type":"x","a":1e400000000}`: 422,
		`{"type":"x","a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: 422,
		strings.Repeat("[", 60_000): 400, strings.Repeat("[", 100_000): 413,
	}

	for _, field := range []string{"checkout_id", "merchant_reference", "amount", "currency", "payment_method", "result_code"} {
		cases[event(func(_, data map[string]any) { delete(data, field) })] = 422

		for _, value := range []any{nil, true, []any{}, map[string]any{}, "a\x00b", strings.Repeat("x", 300)} {
			cases[event(func(_, data map[string]any) { data[field] = value })] = 422
		}
		// Names are compared exactly.
		cases[event(func(_, data map[string]any) { data[strings.ToUpper(field)] = data[field]; delete(data, field) })] = 422
	}

	for _, amount := range []any{-1, "10.00", "1,00", 1.005, 1e300} {
		cases[event(func(_, data map[string]any) { data["amount"] = amount })] = 422
	}

	cases[event(func(_, data map[string]any) { data["currency"] = "RIYAL" })] = 422
	cases[event(func(_, data map[string]any) { data["payment_method"] = "cash" })] = 422
	cases[event(func(_, data map[string]any) { data["merchant_reference"] = "42" })] = 422
	cases[event(func(root, _ map[string]any) { root["timestamp"] = "yesterday" })] = 422
	cases[event(func(root, _ map[string]any) { delete(root, "timestamp") })] = 422
	cases[event(func(root, _ map[string]any) { root["data"] = "text" })] = 422

	codes := map[int]models.Code{400: models.CodeMalformedRequest, 413: models.CodePayloadTooLarge, 422: models.CodeValidation}

	for _, channel := range models.Channels() {
		for body, status := range cases {
			a, err := w.Anybody().Do(http.MethodPost, "/api/v1/payments/"+channel.Path(), []byte(body), w.Signed(channel, "bad", []byte(body)))
			require.NoError(t, err)
			require.Equal(t, status, a.Status, "%.300q: %s", body, a.Body)
			require.Equal(t, codes[status], a.Code())
		}

		long := strings.Repeat("i", 256)
		good := []byte(event(func(_, _ map[string]any) {}))

		a, err := w.Anybody().Do(http.MethodPost, "/api/v1/payments/"+channel.Path(), good, w.Signed(channel, long, good))
		require.NoError(t, err)
		refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
	}
}

// badTokens are not ours, not whole, or not tokens.
func badTokens(t *testing.T, w *targets) {
	t.Helper()

	good := w.As(models.RoleEndUser).Token()
	parts := strings.Split(good, ".")
	require.Len(t, parts, 3)

	for name, token := range map[string]string{
		"no token": "", "text": "token", "two dots": "..", "no signature": parts[0] + "." + parts[1] + ".",
		"unsigned":         "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"other claims":     parts[0] + ".eyJzdWIiOiIxIiwicm9sZSI6IkFETUlOIn0." + parts[2],
		"cut":              good[:len(good)-3],
		"longer":           good + "AA",
		"a refresh token":  strings.Repeat("a", 43),
		"very long":        strings.Repeat("a", 9000),
		"header swapped":   parts[1] + "." + parts[0] + "." + parts[2],
		"other whitespace": "a b",
	} {
		a := w.With(token).Get("/api/v1/me")
		refused(t, a, http.StatusUnauthorized, models.CodeUnauthenticated)
		require.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"), name)
	}

	for _, header := range []string{"Basic dXNlcjpwYXNz", good, "Bearer", "Bearer ", "Token " + good, "Bearer  "} {
		a, err := w.Anybody().Do(http.MethodGet, "/api/v1/me", nil, map[string]string{"Authorization": header})
		require.NoError(t, err)
		refused(t, a, http.StatusUnauthorized, models.CodeUnauthenticated)
	}

	// A token in the query is none.
	refused(t, w.Anybody().Get("/api/v1/me?access_token="+good), http.StatusUnauthorized, models.CodeUnauthenticated)
}
