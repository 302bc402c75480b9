package api

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a customer opens in a browser and is not there is a page, and an error for programs (rules: api.pages-for-people).
func TestPagesThatDoNotExist(t *testing.T) {
	t.Parallel()

	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

	b := setup(t)

	for _, tt := range []struct{ path, accept, language, want string }{
		{"/pay/not-an-id", browser, "", "الصفحة غير موجودة"},
		{"/pay/not-an-id", browser, "en-GB,en;q=0.9", "Page not found"},
		{"/pay/not-an-id?lang=en", browser, "ar", "Page not found"},
		{"/pay/a/b", browser, "ar", "الصفحة غير موجودة"},
		{"/pay", browser, "ar", "الصفحة غير موجودة"},
		{"/api/v1/payments/returns/nothing", browser, "en", "Page not found"},
		{"/pay/not-an-id", "application/json", "en", ""},
		{"/pay/not-an-id", "", "en", ""},
		{"/pay/not-an-id", "*/*", "en", ""},
		{"/payments", browser, "en", ""},
		{"/api/v1/bookings/nothing", browser, "en", ""},
	} {
		headers := []string{"Accept-Language", tt.language}
		if tt.accept != "" {
			headers = append(headers, "Accept", tt.accept)
		}

		response, err := b.app.Test(request(t.Context(), http.MethodGet, tt.path, "ADMIN", "", headers...), 10_000)
		require.NoError(t, err)

		raw, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusNotFound, response.StatusCode, "%s: %s", tt.path, raw)

		if tt.want == "" {
			require.Equal(t, "application/json; charset=utf-8", response.Header.Get("Content-Type"), tt.path)

			continue
		}

		require.Equal(t, "text/html; charset=utf-8", response.Header.Get("Content-Type"), tt.path)
		require.Contains(t, string(raw), "<h1>"+tt.want+"</h1>", tt.path)
		require.Contains(t, response.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.NotContains(t, string(raw), "not-an-id", "nothing of the request gets into the page")
	}
}
