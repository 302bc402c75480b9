package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"rihla/api/admission"
	"rihla/api/ratelimit"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/models"
)

const paymentDocument = `
openapi: 3.0.3
info: {title: t, version: '1'}
security: [{bearerAuth: []}]
components: {securitySchemes: {bearerAuth: {type: http, scheme: bearer}}}
paths:
  /payments:
    post:
      operationId: Pay
      x-roles: [END_USER]
      x-limit: by-role
      x-admission: payments
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [payment_method]
              properties: {payment_method: {type: string, enum: [CREDIT_CARD, BILL_PAYMENT]}}
      responses: {'200': {description: ok}}
`

type noMetrics struct{}

func (noMetrics) AdmissionState(models.Gateway, func() (limit, inflight int)) {}

func (noMetrics) AdmissionRefused(models.Gateway) {}

// TestAccountOfAPayment: the account of one who begins a payment is read once there is a place for it, so that a refusal costs the database
// nothing; every other answer is that of an operation whose account is checked before everything else.
func TestAccountOfAPayment(t *testing.T) {
	t.Parallel()

	const pay = `{"payment_method":"CREDIT_CARD"}`

	live, gone := auth.AccountStatus{Role: models.RoleEndUser}, auth.AccountStatus{}

	for _, tt := range []struct {
		name        string
		full        bool
		token, body string
		account     auth.AccountStatus
		err         error
		status      int
		reads       int32
	}{
		{"live", false, "END_USER", pay, live, nil, http.StatusOK, 1},
		{"revoked", false, "END_USER", pay, gone, nil, http.StatusUnauthorized, 1},
		{"removed", false, "END_USER", pay, gone, models.NotFound(), http.StatusUnauthorized, 1},
		{"not known", false, "END_USER", pay, gone, context.DeadlineExceeded, http.StatusServiceUnavailable, 1},
		{"wrong token", false, "wrong", pay, live, nil, http.StatusUnauthorized, 0},
		{"another role", false, "ADMIN", pay, auth.AccountStatus{Role: models.RoleAdmin}, nil, http.StatusForbidden, 1},
		{"another role, revoked", false, "ADMIN", pay, gone, nil, http.StatusUnauthorized, 1},
		{"invalid", false, "END_USER", "{}", live, nil, http.StatusUnprocessableEntity, 1},
		{"invalid, revoked", false, "END_USER", "{}", gone, nil, http.StatusUnauthorized, 1},
		{"no place", true, "END_USER", pay, live, nil, http.StatusServiceUnavailable, 0},
		{"no place, revoked", true, "END_USER", pay, gone, nil, http.StatusServiceUnavailable, 0},
		{"no place, wrong token", true, "wrong", pay, live, nil, http.StatusUnauthorized, 0},
		{"no place, invalid", true, "END_USER", "{}", live, nil, http.StatusUnprocessableEntity, 1},
		{"no place, invalid, revoked", true, "END_USER", "{}", gone, nil, http.StatusUnauthorized, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := &accounts{now: tt.account, err: tt.err}
			places := admission.New(config.Admission{Target: time.Second, Min: 1, Max: 1}, noMetrics{})
			app := paymentApp(t, a, places)

			if tt.full {
				held, ok := places.Admit(t.Context(), models.MethodCreditCard)
				require.True(t, ok)
				defer held.Release()
			}

			answer := begin(t, app, tt.token, tt.body)
			require.Equal(t, tt.status, answer.StatusCode)
			require.Equal(t, tt.reads, a.reads.Load())
			require.Equal(t, tt.status == http.StatusUnauthorized, answer.Header.Get("WWW-Authenticate") == "Bearer")
			require.Equal(t, tt.status == http.StatusServiceUnavailable, answer.Header.Get("Retry-After") != "")

			if !tt.full {
				again, ok := places.Admit(t.Context(), models.MethodCreditCard)
				require.True(t, ok, "the place was given back")
				again.Release()
			}
		})
	}
}

// A token that was refused because of its account is given no place before its account is read, for as long as that is remembered.
func TestASuspectHasItsAccountReadFirst(t *testing.T) {
	t.Parallel()

	const pay = `{"payment_method":"CREDIT_CARD"}`

	a := &accounts{now: auth.AccountStatus{}}
	places := admission.New(config.Admission{Target: time.Second, Min: 1, Max: 1}, noMetrics{})
	app := paymentApp(t, a, places)

	require.Equal(t, http.StatusUnauthorized, begin(t, app, "END_USER", pay).StatusCode)

	held, ok := places.Admit(t.Context(), models.MethodCreditCard)
	require.True(t, ok)
	require.Equal(t, http.StatusUnauthorized, begin(t, app, "END_USER", pay).StatusCode, "and not that there is no place")
	require.EqualValues(t, 2, a.reads.Load())

	a.now.Role = models.RoleEndUser // it counts again, whatever was remembered
	require.Equal(t, http.StatusServiceUnavailable, begin(t, app, "END_USER", pay).StatusCode)
	held.Release()
	require.Equal(t, http.StatusOK, begin(t, app, "END_USER", pay).StatusCode)
}

func TestSuspectsAreForgotten(t *testing.T) {
	t.Parallel()

	now := time.Unix(0, 0)
	s := newSuspects(func() time.Time { return now })

	s.add("a")
	require.True(t, s.have("a"))
	require.False(t, s.have("b"))

	now = now.Add(suspectTime)
	require.False(t, s.have("a"))
	require.Empty(t, s.until)

	for i := range 3 * suspectsAtMost {
		s.add(strconv.Itoa(i))
		require.LessOrEqual(t, len(s.until), suspectsAtMost)
	}
}

// panicking is an authenticator whose look at an account panics.
type panicking struct{ accounts }

func (*panicking) Verify(context.Context, string) (auth.Principal, error) { panic("no account") }

func TestAPanicGivesThePlaceBack(t *testing.T) {
	t.Parallel()

	places := admission.New(config.Admission{Target: time.Second, Min: 1, Max: 1}, noMetrics{})
	app := paymentApp(t, &panicking{}, places)

	require.Equal(t, http.StatusInternalServerError, begin(t, app, "END_USER", `{"payment_method":"CREDIT_CARD"}`).StatusCode)

	again, ok := places.Admit(t.Context(), models.MethodCreditCard)
	require.True(t, ok)
	again.Release()
}

func paymentApp(t *testing.T, by Authenticator, places *admission.Limits) *fiber.App {
	t.Helper()

	log := slog.New(slog.DiscardHandler)
	limits := ratelimit.New(ratelimit.NewMemory(), config.RateLimits{}, LimiterFailed(log))

	return appOf(t, paymentDocument, Deps{Auth: by, Limits: limits, Log: log, Admission: places},
		func(r *Router) { r.Post("/payments", func(f *fiber.Ctx) error { return f.SendString("ok") }) })
}

func begin(t *testing.T, app *fiber.App, token, body string) *http.Response {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/payments", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")

	answer, err := app.Test(r, 10_000)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	return answer
}
