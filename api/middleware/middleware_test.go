package middleware

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
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

// TestRoutesAndDocumentAgree: an operation without a route, and a route without an operation, stop the start.
func TestRoutesAndDocumentAgree(t *testing.T) {
	t.Parallel()

	router := (&Chain{operations: map[string]*contract.Operation{"GET /a/:id": {}}}).Router(fiber.New())
	require.ErrorContains(t, router.Err(), "GET /a/:id is in the document but has no route")
	router.Get("/a/:id", func(*fiber.Ctx) error { return nil })
	require.NoError(t, router.Err())
	router.Post("/b", func(*fiber.Ctx) error { return nil })
	require.ErrorContains(t, router.Err(), "route POST /b is not in the document")
}
