package middleware

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"rihla/models"
)

// TestEveryCodeHasAStatus reads the codes from the source, so that a new one cannot be forgotten here.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../models/errors.go")
	require.NoError(t, err)

	codes := regexp.MustCompile(`Code = "([A-Z_]+)"`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, codes)

	for _, c := range codes {
		require.Contains(t, statusOf, models.Code(c[1]))
	}
}

// TestDeadlineIsNotTheClientsFault: a request whose time is over is answered 503.
func TestDeadlineIsNotTheClientsFault(t *testing.T) {
	t.Parallel()

	require.Equal(t, models.CodeServiceUnavailable, domainError(context.DeadlineExceeded).Code)
}

func TestLocale(t *testing.T) {
	t.Parallel()

	for header, want := range map[string]models.Locale{
		"": "ar", "ar": "ar", "en": "en", "ar-SA": "ar", "en-US,en;q=0.9": "en", "fr": "ar", "fr,en;q=0.5": "en", "*": "ar",
		"en;q=0.1,ar;q=0.9": "ar", ";;;": "ar", "en" + strings.Repeat(",en", 200): "ar", "zh-Hant-TW": "ar",
	} {
		require.Equal(t, want, localeOf(header), header)
	}
}

func TestNumbersHaveOneForm(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"1": "1", "-0": "-0", "1.50": "1.5", "1e2": "100", "1.150E+3": "1150", "12E-1": "1.2", "0.10": "0.1",
		"1e29": "100000000000000000000000000000",
	} {
		var p problems

		got, err := decodeJSON(t.Context(), []byte(text), &p)
		require.NoError(t, err)
		require.NoError(t, p.err())
		require.Equal(t, json.Number(want), got, text)
	}
}

// TestParsingObeysTheDeadline: the body of a request whose time is over is not read any further.
func TestParsingObeysTheDeadline(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()

	var p problems

	_, err := decodeJSON(ctx, []byte(`{"a":[1,2,3]}`), &p)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestHalfSurrogates(t *testing.T) {
	t.Parallel()

	for text, half := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\uD83D\uDE00"`: false, `"\u0041"`: false, `"\\ud83d"`: false, `"\\\ud83d"`: true, `"\ud83d"`: true,
		`"\ude00"`: true, `"\ud83d\u0041"`: true, `"\ud83d\ud83d\ude00"`: true, `"😀"`: false, `"\ud83d\\ude00"`: true, `"\n\/\""`: false,
	} {
		require.True(t, json.Valid([]byte(text)), text)
		require.Equal(t, half, hasHalfSurrogate([]byte(text)), text)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()

	for name, values := range map[string]map[string]bool{
		"email": {
			"a@b.sa": true, "a.b+c@d-e.example": true, "a@b": false, "a b@c.d": false, `"a b"@c.d`: false, "A <a@b.c>": false,
			"a@b.c>": false, "@b.c": false, "a@": false, "a@b.c\n": false, "a@.": false, "a@[127.0.0.1]": false,
			"a@b.sa\u00a0": false, "a@b.sa\u2003": false, "a\u00a0@b.sa": false,
		},
		"date":      {"2026-02-28": true, "2026-02-29": false, "2026-2-1": false, "0000-01-01": false, "0001-01-01": false, "0001-01-02": true, "20260101": false},
		"date-time": {"2026-11-21T09:30:00Z": true, "2026-11-21T09:30:00.5+03:00": true, "2026-11-21 09:30:00Z": false, "2026-11-21": false, "9999-12-31T23:59:59-12:00": false, "0001-01-01T00:00:00+03:00": false},
		"uri":       {"https://a.b/c?d=e#f": true, "/relative": false, "https://": false, "https://u:p@a.b": false, "mailto:a@b.c": false, "https://a b": false},
		"uuid":      {"019ab0c2-7000-7aaa-8bbb-000000000001": true, "019ab0c270007aaa8bbb000000000001": false, "": false},
	} {
		for value, valid := range values {
			require.Equal(t, valid, stringFormats[name].Validate(value) == nil, "%s %q", name, value)
		}
	}
}

// TestDocumentFaultsStopTheStart takes a sound document and breaks it in one way at a time.
func TestDocumentFaultsStopTheStart(t *testing.T) {
	t.Parallel()

	const sound = `
openapi: 3.0.3
info: {title: t, version: '1'}
security: [{bearerAuth: []}]
components: {securitySchemes: {bearerAuth: {type: http, scheme: bearer}}}
paths:
  /a/{id}:
    get:
      operationId: GetA
      x-roles: [ADMIN]
      x-limit: by-role
      parameters: [{name: id, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {'200': {description: ok}}
`

	for _, tt := range []struct{ name, old, replacement, message string }{
		{"sound", "", "", ""},
		{"no roles", "x-roles: [ADMIN]", "x-other: 1", "x-roles is missing"},
		{"empty roles", "[ADMIN]", "[]", "x-roles is missing"},
		{"unknown role", "[ADMIN]", "[BOSS]", "not a role"},
		{"public among others", "[ADMIN]", "[public, ADMIN]", "not a role"},
		{"public with a token", "[ADMIN]", "[public]", "by-role needs a caller"},
		{"security says otherwise", "[ADMIN]\n      x-limit: by-role", "[public]\n      x-limit: none", "disagree"},
		{"no limit", "x-limit: by-role", "x-other: 1", "x-limit"},
		{"path id of another kind", "format: uuid", "maxLength: 9", "not a uuid"},
		{"list parameter", "schema: {type: string, format: uuid}}]", "schema: {type: string, format: uuid}}, {name: q, in: query, schema: {type: array, items: {type: string}}}]", "neither string"},
		{"merge patch of nothing", "    get:\n", "    patch:\n", "a PUT on the same path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			doc, err := openapi3.NewLoader().LoadFromData([]byte(strings.Replace(sound, tt.old, tt.replacement, 1)))
			require.NoError(t, err)

			_, err = compile(doc)
			if tt.message != "" {
				require.ErrorContains(t, err, tt.message)

				return
			}

			require.NoError(t, err)
		})
	}
}

// TestRoutesAndDocumentAgree: an operation without a route, and a route without an operation, stop the start.
func TestRoutesAndDocumentAgree(t *testing.T) {
	t.Parallel()

	router := (&Chain{operations: map[string]*operation{"GET /a/:id": {}}}).Router(fiber.New())
	require.ErrorContains(t, router.Err(), "GET /a/:id is in the document but has no route")
	router.Get("/a/:id", func(*fiber.Ctx) error { return nil })
	require.NoError(t, router.Err())
	router.Post("/b", func(*fiber.Ctx) error { return nil })
	require.ErrorContains(t, router.Err(), "route POST /b is not in the document")
}

func TestClientAddress(t *testing.T) {
	t.Parallel()

	app := fiber.New()

	for _, tt := range []struct {
		trusted   []string
		forwarded string
		want      string
	}{
		{nil, "203.0.113.9", "0.0.0.0"},
		{[]string{"10.0.0.0/8"}, "203.0.113.9", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "203.0.113.9", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		{[]string{"0.0.0.0", "10.0.0.0/8"}, "198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "203.0.113.9, nonsense", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{[]string{"0.0.0.0"}, "203.0.113.9:443", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "[2001:db8::1]:65535", "2001:db8::1"},
		{[]string{"0.0.0.0"}, "[2001:db8::1]", "2001:db8::1"},
		{[]string{"0.0.0.0"}, "2001:db8::1", "2001:db8::1"},
		{[]string{"0.0.0.0"}, "::ffff:203.0.113.9", "203.0.113.9"},
		{[]string{"0.0.0.0", "10.0.0.0/8"}, "203.0.113.9:1, 10.1.2.3:8080", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "203.0.113.9:x", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "203.0.113.9, 198.51.100.1:70000", "0.0.0.0"},
	} {
		trusted, err := parseProxies(tt.trusted)
		require.NoError(t, err)

		f := app.AcquireCtx(&fasthttp.RequestCtx{})
		f.Request().Header.Set("X-Forwarded-For", tt.forwarded)
		require.Equal(t, tt.want, trusted.clientAddr(f).String(), tt.forwarded)
		app.ReleaseCtx(f)
	}

	_, err := parseProxies([]string{"proxy.local"})
	require.ErrorContains(t, err, "neither an address nor a CIDR block")
	require.Equal(t, "2001:db8:1:2::", limitAddr("2001:db8:1:2:3:4:5:6"))
	require.Equal(t, "203.0.113.9", limitAddr("203.0.113.9"))
	require.Equal(t, "2001:db8:1::", limitSite("2001:db8:1:2:3:4:5:6"))
	require.Empty(t, limitSite("203.0.113.9"))
}
