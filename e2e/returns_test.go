package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// returnToTheApp pays, declines and cancels on the gateway's page, and follows the customer back to the app: through an address of
// the service, which says nothing and leads nowhere else.
func returnToTheApp(t *testing.T, s *harness.Stack) {
	t.Helper()

	const app = "https://app.rihla.test/done?token=of-the-app"

	customer := s.As(models.RoleEndUser)

	for outcome, status := range map[string]models.TransactionStatus{
		"succeed": models.TransactionPaid, "decline": models.TransactionFailed, "cancel": models.TransactionFailed,
	} {
		body := s.BookingRequest(1)
		body["return_url"] = app
		booking := decoded[harness.Booking](t, http.StatusCreated, customer.Post("/api/v1/bookings", body))

		away := redirected(t, http.MethodPost, *booking.Payment.CheckoutURL, "outcome="+outcome)
		require.True(t, strings.HasPrefix(away, s.URL+"/api/v1/payments/returns/"), away)

		for _, secret := range []string{booking.ID.String(), booking.Payment.TransactionID.String(), "of-the-app", "app.rihla.test"} {
			path, _, _ := strings.Cut(away, "?") // the sandbox adds what it knows
			require.NotContains(t, path, secret)
		}

		require.Equal(t, status, customer.Await(booking.ID).PaymentStatus)

		// Whatever is added to the address leads to the same place.
		for _, added := range []string{"", "&return_url=https://evil.test&booking_id=1"} {
			require.Equal(t, app+"&booking_id="+booking.ID.String()+"&transaction_id="+booking.Payment.TransactionID.String()+
				"&status="+string(status), redirected(t, http.MethodGet, away+added, ""))
		}
	}

	booking := customer.Book(1)

	for address, why := range map[string]string{
		"javascript://x/%0aalert(1)":    "must be an https address, or one of the app's own",
		"http://app.rihla.test/":        "must be an https address, or one of the app's own",
		"https://app.rihla.test@x.test": "must be an address such as https://example.com/path",
		"rihla://done":                  "must be an https address, or one of the app's own", // RETURN_URL_SCHEMES names none
		"javascript:alert(1)":           "must be an address such as https://example.com/path",
	} {
		again, first := byCard(), s.BookingRequest(1)
		again["return_url"], first["return_url"] = address, address

		for path, body := range map[string]any{"/api/v1/bookings": first, intentPath(booking.ID): again} {
			a := customer.Post(path, body)
			require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s: %s", address, a.Body)
			require.Contains(t, string(a.Body), `"return_url":["`+why+`"]`)
		}
	}
}

// redirected is where an address leads a browser with 303.
func redirected(t *testing.T, method, address, form string) string {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	response, err := client.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusSeeOther, response.StatusCode, address)
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))

	target, err := url.Parse(response.Header.Get("Location"))
	require.NoError(t, err)

	return target.String()
}
