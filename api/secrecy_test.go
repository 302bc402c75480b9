package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/internal/config"
	"rihla/internal/telemetry"
	"rihla/models"
)

// panicking fails in the worst way: with the request in its mouth.
type panicking struct{ *operations }

func (panicking) CreateBooking(_ context.Context, r gen.CreateBookingRequestObject) (gen.CreateBookingResponseObject, error) {
	panic(fmt.Sprintf("no way to book for %v", *r.Body))
}

// TestFailuresQuoteNobody has operations fail with the customer's data in the error: neither log nor answer repeats it.
func TestFailuresQuoteNobody(t *testing.T) {
	t.Parallel()

	private := []string{"Umm Zarqa", "umm@private.test", "+966577123456", "ZQ7654321", "4111111111111111", "s3cret"}
	body := strings.NewReplacer("Traveller One", private[0], "traveller@rihla.test", private[1], "+966501234567", private[2]).Replace(bookingBody)
	body = strings.Replace(body, `"name":`, `"document_number":"ZQ7654321","name":`, 1)

	for name, tt := range map[string]struct {
		fail   error
		panics bool
		status int
		logged string
	}{
		"panic": {panics: true, status: http.StatusInternalServerError, logged: "panic: string"},
		"a value that the database quotes": {
			fail:   fmt.Errorf("book: %w", &pgconn.PgError{Severity: "ERROR", Code: "22P02", Message: `invalid input for integer: "ZQ7654321 Umm Zarqa"`}),
			status: http.StatusInternalServerError, logged: "22P02",
		},
		"an address that a driver quotes": {
			fail:   errors.New("mail to umm@private.test, sms to +966577123456, card 4111111111111111, postgres://rihla:s3cret@db/rihla"),
			status: http.StatusInternalServerError, logged: "mail to",
		},
		"a dependency that is away": {
			fail:   &models.Error{Code: models.CodeServiceUnavailable, Text: models.Verbatim("smtp://mailer:s3cret@mail.test does not answer.")},
			status: http.StatusServiceUnavailable, logged: "does not answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(d *Deps) {
				log := &logBuffer{}
				d.Log = telemetry.NewLogger(log, config.App{Env: config.Production})
				ops := &operations{fail: tt.fail}
				d.Operations = ops

				if tt.panics {
					d.Operations = panicking{ops}
				}

				t.Cleanup(func() {
					text := log.b.String()
					require.Contains(t, text, tt.logged)
					require.Contains(t, text, "request_id")

					for _, p := range private {
						require.NotContains(t, text, p)
					}
				})
			})
			a := b.call(t, http.MethodPost, bookingPath, "END_USER", body)

			require.Equal(t, tt.status, a.status, a.body)

			if a.status == http.StatusInternalServerError {
				for _, p := range private {
					require.NotContains(t, a.body, p)
				}
			}
		})
	}
}

// TestReturnAddressesAreNotLogged: a reader of the logs cannot open the page that an app sends its customers to.
func TestReturnAddressesAreNotLogged(t *testing.T) {
	t.Parallel()

	const secret = "5f3c1e0a-8a54-4b7e-9d0f"

	b := setup(t)
	a := b.call(t, http.MethodGet, "/api/v1/payments/RETURNS/"+secret, "", "")
	require.Equal(t, http.StatusNotFound, a.status)

	lines := b.log.lines(t, "request")
	require.Len(t, lines, 1)
	require.Equal(t, "/api/v1/payments/returns/", lines[0]["path"])
	require.NotContains(t, b.log.b.String(), secret)
}
