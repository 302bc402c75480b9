package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/api/ratelimit"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/models"
)

const deprecatedDocument = `
openapi: 3.0.3
info: {title: t, version: '1'}
security: [{bearerAuth: []}]
components: {securitySchemes: {bearerAuth: {type: http, scheme: bearer}}}
paths:
  /old:
    post:
      operationId: Old
      deprecated: true
      x-deprecated-at: 2026-03-01
      x-sunset: 2026-09-01
      x-roles: [ADMIN]
      x-limit: by-role
      x-body-limit: 10
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {'200': {description: ok}}
  /new:
    get:
      operationId: New
      x-roles: [public]
      x-limit: none
      security: []
      responses: {'200': {description: ok}}
`

// roleTokens takes a role's name for a token.
type roleTokens struct{}

func (roleTokens) Verify(_ context.Context, token string) (auth.Principal, error) {
	if token == "" || token == "wrong" {
		return auth.Principal{}, &models.Error{Code: models.CodeUnauthenticated, Text: models.Verbatim("No.")}
	}

	return auth.Principal{UserID: uuid.NewSHA1(uuid.Nil, []byte(token)), Role: models.Role(token)}, nil
}

// noAnswers is an idempotency store that is never asked.
type noAnswers struct{ IdempotencyStore }

func TestDeprecatedOperation(t *testing.T) {
	t.Parallel()

	doc, err := openapi3.NewLoader().LoadFromData([]byte(deprecatedDocument))
	require.NoError(t, err)

	log := slog.New(slog.DiscardHandler)
	limits := ratelimit.New(ratelimit.NewMemory(), config.RateLimits{Anonymous: 9, EndUser: 9, Admin: 4}, LimiterFailed(log))

	chain, err := New(doc, Deps{Auth: roleTokens{}, Limits: limits, Idempotency: noAnswers{}, Log: log})
	require.NoError(t, err)

	app := fiber.New(fiber.Config{ErrorHandler: chain.HandleError, StreamRequestBody: true})
	app.Use(chain.Requests)

	router := chain.Router(app)
	router.Get("/new", func(f *fiber.Ctx) error { return f.SendString("ok") })
	router.Post("/old", func(f *fiber.Ctx) error {
		switch f.Get("X-Fate") {
		case "conflict":
			return &models.Error{Code: models.CodeInvalidState, Text: models.Verbatim("No.")}
		case "panic":
			panic("on purpose")
		default:
			return f.SendString("ok")
		}
	})
	require.NoError(t, router.Err())

	for _, tt := range []struct {
		token, body, fate string
		status            int
	}{
		{"ADMIN", "{}", "", http.StatusOK},
		{"ADMIN", "{}", "conflict", http.StatusConflict},
		{"ADMIN", "{}", "panic", http.StatusInternalServerError},
		{"ADMIN", "{", "", http.StatusBadRequest},
		{"ADMIN", "{}", "", http.StatusTooManyRequests},
		{"END_USER", "{}", "", http.StatusForbidden},
		{"wrong", "{}", "", http.StatusUnauthorized},
		{"ADMIN", `{"a":"0123456789"}`, "", http.StatusRequestEntityTooLarge},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/old", strings.NewReader(tt.body))
		r.Header.Set("Authorization", "Bearer "+tt.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Fate", tt.fate)

		answer, err := app.Test(r, 10_000)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, tt.status, answer.StatusCode)
		require.Equal(t, "@1772323200", answer.Header.Get("Deprecation"), tt.status)
		require.Equal(t, "Tue, 01 Sep 2026 00:00:00 GMT", answer.Header.Get("Sunset"), tt.status)
		require.Equal(t, `</docs>; rel="deprecation"; type="text/html"`, answer.Header.Get("Link"), tt.status)
	}

	answer, err := app.Test(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/new", nil), 10_000)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	for _, name := range []string{"Deprecation", "Sunset", "Link"} {
		require.Empty(t, answer.Header.Get(name))
	}
}

// TestDeprecationFaultsStopTheStart takes the sound document and breaks it in one way at a time.
func TestDeprecationFaultsStopTheStart(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ name, old, replacement, message string }{
		{"sound", "", "", ""},
		{"quoted", "2026-03-01", "'2026-03-01'", ""},
		{"longer", "2026-09-01", "2027-01-31", ""},
		{"own page", "operationId: Old", "operationId: Old\n      externalDocs: {url: 'https://a.test/x'}", ""},
		{"no date", "x-deprecated-at: 2026-03-01", "x-other: 1", "x-deprecated-at is missing"},
		{"no sunset", "x-sunset: 2026-09-01", "x-other: 1", "x-sunset is missing"},
		{"no day", "2026-03-01", "spring", `"spring" is not a day`},
		{"a moment", "2026-09-01", "2026-09-01T10:00:00Z", "is not a day"},
		{"a number", "2026-09-01", "20260901", "x-sunset is missing"},
		{"too soon", "2026-09-01", "2026-08-31", "x-sunset is before 2026-09-01, 6 months"},
		{"before", "2026-09-01", "2026-01-01", "x-sunset is before"},
		{"not deprecated", "deprecated: true", "deprecated: false", "belong to an operation with deprecated: true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			doc, err := openapi3.NewLoader().LoadFromData([]byte(strings.Replace(deprecatedDocument, tt.old, tt.replacement, 1)))
			require.NoError(t, err)

			_, err = contract.Compile(doc)
			if tt.message != "" {
				require.ErrorContains(t, err, "POST /old: ")
				require.ErrorContains(t, err, tt.message)

				return
			}

			require.NoError(t, err)
		})
	}
}
