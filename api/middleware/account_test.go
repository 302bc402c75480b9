package middleware

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/ratelimit"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/models"
)

const accountDocument = `
openapi: 3.0.3
info: {title: t, version: '1'}
security: [{bearerAuth: []}]
components: {securitySchemes: {bearerAuth: {type: http, scheme: bearer}}}
paths:
  /status/{id}:
    get:
      operationId: Status
      x-roles: [authenticated]
      x-limit: by-role
      x-account-check: handler
      parameters:
        - {name: id, in: path, required: true, schema: {type: string, format: uuid}}
        - {name: wait, in: query, schema: {type: integer}}
      responses: {'200': {description: ok}}
`

// accounts is an authenticator in halves: the tokens are roles' names, and the account is that of the test.
type accounts struct {
	roleTokens

	now   auth.AccountStatus
	err   error
	reads atomic.Int32 // of the account, by the chain itself
}

func (a *accounts) Identify(ctx context.Context, token string) (auth.Principal, error) {
	return a.roleTokens.Verify(ctx, token)
}

func (a *accounts) Judge(p auth.Principal, now auth.AccountStatus, err error) error {
	switch {
	case err != nil && models.CodeOf(err) == models.CodeNotFound, err == nil && now.Role != p.Role:
		return &models.Error{Code: models.CodeUnauthenticated, Text: models.Verbatim("No.")}
	default:
		return err
	}
}

func (a *accounts) Verify(ctx context.Context, token string) (auth.Principal, error) {
	p, err := a.Identify(ctx, token)
	if err == nil {
		a.reads.Add(1)
		err = a.Judge(p, a.now, a.err)
	}

	return p, err
}

// TestAccountByHandler: whatever the handler of such an operation does, the answer is that of an operation whose account is checked
// before everything else, and none without the account's verdict.
func TestAccountByHandler(t *testing.T) {
	t.Parallel()

	const id = "019ab0c2-7000-7aaa-8bbb-000000000001"

	live, gone := auth.AccountStatus{Role: models.RoleEndUser}, auth.AccountStatus{}
	judging := func(a *accounts, then error) fiber.Handler {
		return func(f *fiber.Ctx) error {
			if err := JudgeAccount(f.UserContext(), a.now, a.err); err != nil {
				return err
			}

			if then != nil {
				return then
			}

			return f.SendString("secret")
		}
	}
	careless := func(a *accounts, _ error) fiber.Handler { // judges, and answers whatever that says
		return func(f *fiber.Ctx) error {
			_ = JudgeAccount(f.UserContext(), a.now, a.err)

			return f.SendString("secret")
		}
	}
	blind := func(_ *accounts, then error) fiber.Handler {
		return func(f *fiber.Ctx) error {
			if err := f.SendString("secret"); err != nil || then != nil {
				return errors.Join(err, then)
			}

			return nil
		}
	}

	for _, tt := range []struct {
		name    string
		path    string
		token   string
		account auth.AccountStatus
		err     error
		handler func(*accounts, error) fiber.Handler
		then    error
		status  int
		reads   int32
	}{
		{"live", id, "END_USER", live, nil, judging, nil, http.StatusOK, 0},
		{"no token", id, "", live, nil, judging, nil, http.StatusUnauthorized, 0},
		{"wrong token", id, "wrong", live, nil, judging, nil, http.StatusUnauthorized, 0},
		{"revoked", id, "END_USER", gone, nil, judging, nil, http.StatusUnauthorized, 0},
		{"removed", id, "END_USER", gone, models.NotFound(), judging, nil, http.StatusUnauthorized, 0},
		{"not known", id, "END_USER", gone, context.DeadlineExceeded, judging, nil, http.StatusServiceUnavailable, 0},
		{"not found", id, "END_USER", live, nil, judging, models.NotFound(), http.StatusNotFound, 0},
		{"verdict ignored", id, "END_USER", gone, nil, careless, nil, http.StatusUnauthorized, 0},
		{"not judged", id, "END_USER", live, nil, blind, nil, http.StatusInternalServerError, 0},
		{"fails before it judges", id, "END_USER", live, nil, blind, models.NotFound(), http.StatusNotFound, 1},
		{"fails before it judges, revoked", id, "END_USER", gone, nil, blind, models.NotFound(), http.StatusUnauthorized, 1},
		{"fails before it judges, not known", id, "END_USER", gone, context.Canceled, blind, models.NotFound(), http.StatusServiceUnavailable, 1},
		{"invalid", id + "?wait=x", "END_USER", live, nil, judging, nil, http.StatusUnprocessableEntity, 1},
		{"invalid, revoked", id + "?wait=x", "END_USER", gone, nil, judging, nil, http.StatusUnauthorized, 1},
		{"no id", "x", "END_USER", live, nil, judging, nil, http.StatusNotFound, 1},
		{"no id, revoked", "x", "END_USER", gone, nil, judging, nil, http.StatusUnauthorized, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := &accounts{now: tt.account, err: tt.err}
			answer := ask(t, accountApp(t, a, config.RateLimits{}, tt.handler(a, tt.then)), tt.path, tt.token)
			require.Equal(t, tt.status, answer.StatusCode)
			require.Equal(t, tt.reads, a.reads.Load())
			require.Equal(t, tt.status == http.StatusUnauthorized, answer.Header.Get("WWW-Authenticate") == "Bearer")
		})
	}
}

// TestAccountByHandlerAndLimits: a token that was revoked uses up the address's allowance and not the account's, and gets its headers.
func TestAccountByHandlerAndLimits(t *testing.T) {
	t.Parallel()

	a := &accounts{now: auth.AccountStatus{Role: models.RoleEndUser}}
	app := accountApp(t, a, config.RateLimits{Anonymous: 9, EndUser: 2}, func(f *fiber.Ctx) error {
		if err := JudgeAccount(f.UserContext(), a.now, a.err); err != nil {
			return err
		}

		return f.SendString("ok")
	})

	get := func(status int, limit, remaining string) {
		t.Helper()

		answer := ask(t, app, uuid.NewString(), "END_USER")
		require.Equal(t, status, answer.StatusCode)
		require.Equal(t, limit, answer.Header.Get("X-Ratelimit-Limit"))
		require.Equal(t, remaining, answer.Header.Get("X-Ratelimit-Remaining"))
	}

	get(http.StatusOK, "2", "1")

	a.now = auth.AccountStatus{}

	get(http.StatusUnauthorized, "9", "8")
	get(http.StatusUnauthorized, "9", "7")

	a.now = auth.AccountStatus{Role: models.RoleEndUser}

	get(http.StatusOK, "2", "0")
	get(http.StatusTooManyRequests, "2", "0")

	a.now = auth.AccountStatus{}

	get(http.StatusUnauthorized, "9", "6")

	a.now = auth.AccountStatus{Role: models.RoleEndUser}

	get(http.StatusTooManyRequests, "2", "0")
}

func accountApp(t *testing.T, by Authenticator, limits config.RateLimits, handler fiber.Handler) *fiber.App {
	t.Helper()

	log := slog.New(slog.DiscardHandler)

	return appOf(t, accountDocument, Deps{Auth: by, Limits: ratelimit.New(ratelimit.NewMemory(), limits, LimiterFailed(log)), Log: log},
		func(r *Router) { r.Get("/status/:id", handler) })
}

// appOf serves a document of the test's own.
func appOf(t *testing.T, document string, deps Deps, register func(*Router)) *fiber.App {
	t.Helper()

	doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
	require.NoError(t, err)

	deps.Idempotency = noAnswers{}

	chain, err := New(doc, deps)
	require.NoError(t, err)

	app := fiber.New(fiber.Config{ErrorHandler: chain.HandleError, StreamRequestBody: true})
	app.Use(chain.Requests)

	router := chain.Router(app)
	register(router)
	require.NoError(t, router.Err())

	return app
}

func ask(t *testing.T, app *fiber.App, path, token string) *http.Response {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/status/"+path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}

	answer, err := app.Test(r, 10_000)
	require.NoError(t, err)

	defer answer.Body.Close()

	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)

	if answer.StatusCode != http.StatusOK {
		require.NotContains(t, string(body), "secret")
	}

	return answer
}
