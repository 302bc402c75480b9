package middleware

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"
)

// preflightAge is how long a browser may remember what a preflight said; a change of the origins takes as long.
const preflightAge = 10 * time.Minute

var (
	// corsHeaders are the request headers that the API reads and that browsers ask about first.
	corsHeaders = []string{
		fiber.HeaderAuthorization, fiber.HeaderContentType, idempotencyHeader, fiber.HeaderAcceptLanguage, "X-Request-Id",
	}
	// corsExposed are the answer's headers that a page may read besides the few that it always may.
	corsExposed = []string{
		"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", fiber.HeaderRetryAfter,
		fiber.HeaderLocation, "Idempotent-Replayed", fiber.HeaderContentDisposition, fiber.HeaderWWWAuthenticate, fiber.HeaderAllow,
		fiber.HeaderETag, "Deprecation", "Sunset", fiber.HeaderLink,
	}
)

// CORS lets pages of the origins read answers: all of config.AnyOrigin, else exactly those that are named. It comes
// after Requests, so that a preflight has its trace id and its line in the log, and before every route: a preflight
// carries no token and costs no allowance. There are no cookies, hence no credentials. The origins are those that
// config has checked.
func CORS(origins []string) fiber.Handler {
	return cors.New(cors.Config{
		AllowOrigins: strings.Join(origins, ","),
		AllowMethods: strings.Join([]string{
			fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete,
		}, ","),
		AllowHeaders:  strings.Join(corsHeaders, ","),
		ExposeHeaders: strings.Join(corsExposed, ","),
		MaxAge:        int(preflightAge.Seconds()),
	})
}
