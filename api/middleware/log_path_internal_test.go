package middleware

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// What opens a page to pay on, or a customer's way back, is in no log line, however the path is written.
func TestLogPathHasNothingThatOpens(t *testing.T) {
	t.Parallel()

	for path, logged := range map[string]string{
		models.PayPath + "secret":               models.PayPath,
		"/PAY/secret":                           models.PayPath,
		"//pay/secret":                          "//pay/",
		"/./pay/secret":                         "/./pay/",
		"/x" + models.ReturnPath + "secret":     "/x" + models.ReturnPath,
		models.PayPath + "secret/card?x=secret": models.PayPath,
		models.ReturnPath + "secret":            models.ReturnPath,
		"/api/v1/bookings":                      "/api/v1/bookings",
	} {
		app := fiber.New()
		app.Use(func(f *fiber.Ctx) error { return f.SendString(logPath(f.Path()) + "\n" + logRoute(f)) })

		answer, err := app.Test(httptest.NewRequest(http.MethodGet, path, http.NoBody))
		require.NoError(t, err)

		body := make([]byte, 256)
		n, _ := answer.Body.Read(body)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, logged+"\n/", string(body[:n]), path)
	}
}
