package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

func TestScrub(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"Authorization: Bearer abcdefgh.ijk":                                                 "Authorization: [redacted]",
		"token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl is not valid":               "token [redacted] is not valid",
		"/api/v1/me/eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.":                                   "/api/v1/me/[redacted]",
		"secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw":                                      "secret [redacted]",
		"signature v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= is wrong":                 "signature [redacted] is wrong",
		"hash $argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA":                                  "hash [redacted]",
		"dial postgres://rihla:s3cret@db.internal:5432/rihla":                                "dial postgres://[redacted]@db.internal:5432/rihla",
		"dial redis://:s3cret@cache:6379":                                                    "dial redis://[redacted]@cache:6379",
		`Get "https://photos.test/a?signature=abc&expires=1": timeout`:                       `Get "https://photos.test/a?[redacted]": timeout`,
		"550 no mailbox umm.zarqa@private.test here":                                         "550 no mailbox [redacted] here",
		"/api/v1/bookings/umm%40private.test":                                                "/api/v1/bookings/[redacted]",
		"call +966577123456 or %2B966577123456":                                              "call [redacted] or [redacted]",
		"card 4111 1111 1111 1111 and 4111111111111111.":                                     "card [redacted] and [redacted].",
		`store: ERROR: invalid input syntax for type integer: "Umm "Z"" (SQLSTATE 22P02): x`: `store: ERROR: invalid input syntax for type integer: "[redacted]" (SQLSTATE 22P02): x`,
		`ERROR: syntax error at or near "Umm" (SQLSTATE 42601)`:                              `ERROR: syntax error at or near "[redacted]" (SQLSTATE 42601)`,

		// The parts that operators look for stay.
		`ERROR: relation "bookings" does not exist (SQLSTATE 42P01)`:                                 `ERROR: relation "bookings" does not exist (SQLSTATE 42P01)`,
		`ERROR: duplicate key value violates unique constraint "users_email" (SQLSTATE 23505)`:       `ERROR: duplicate key value violates unique constraint "users_email" (SQLSTATE 23505)`,
		"f0000000-0000-4000-8000-000000000001 at 2026-11-21T09:30:00.123456789+03:00":                "f0000000-0000-4000-8000-000000000001 at 2026-11-21T09:30:00.123456789+03:00",
		"/root/go/pkg/mod/github.com/gofiber/fiber/v2@v2.52.15/router.go:145 +0x1ac":                 "/root/go/pkg/mod/github.com/gofiber/fiber/v2@v2.52.15/router.go:145 +0x1ac",
		"/go/pkg/mod/golang.org/x/net@v0.0.0-20240101000000-abcdef123456/http2/x.go":                 "/go/pkg/mod/golang.org/x/net@v0.0.0-20240101000000-abcdef123456/http2/x.go",
		"dial tcp 127.0.0.1:5432: connect: connection refused; 1234567890123 bytes, amount 1,150.00": "dial tcp 127.0.0.1:5432: connect: connection refused; 1234567890123 bytes, amount 1,150.00",
	} {
		require.Equal(t, want, Scrub(text))
		require.Equal(t, want, Scrub(Scrub(text)), "again")
	}
}

func TestLoggerScrubsTexts(t *testing.T) {
	t.Parallel()

	for _, env := range []config.Environment{config.Production, config.Development} {
		var out bytes.Buffer

		err := fmt.Errorf("mail: %w", errors.New("550 umm@private.test"))
		log := NewLogger(&out, config.App{Env: env})
		log.Info("sent to umm@private.test", "error", err, "path", "/a/umm@private.test", "n", 1)
		log.With("cause", err).WithGroup("g").Info("m", slog.Group("h", "why", err))
		require.NotContains(t, out.String(), "umm@")
		require.Contains(t, out.String(), "550 [redacted]")
		require.Contains(t, out.String(), "/a/[redacted]")
	}
}

func BenchmarkScrubPath(b *testing.B) {
	for b.Loop() {
		Scrub("/api/v1/bookings/019ab0c2-7000-7aaa-8bbb-000000000001/payment-status")
	}
}
