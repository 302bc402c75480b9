package middleware

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"rihla/api/contract"
	"rihla/internal/config"
)

// preflightAge is how long a browser may remember what a preflight said; a change of the origins takes as long.
const preflightAge = 10 * time.Minute

var (
	// corsHeaders are the request headers that the API reads and that browsers ask about first.
	corsHeaders = []string{
		fiber.HeaderAuthorization, fiber.HeaderContentType, contract.IdempotencyHeader, fiber.HeaderAcceptLanguage, "X-Request-Id",
	}
	// corsExposed are the answer's headers that a page may read besides the few that it always may.
	corsExposed = []string{
		"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", fiber.HeaderRetryAfter,
		fiber.HeaderLocation, "Idempotent-Replayed", fiber.HeaderContentDisposition, fiber.HeaderWWWAuthenticate, fiber.HeaderAllow,
		fiber.HeaderETag, "Deprecation", "Sunset", fiber.HeaderLink,
	}
)

// CORS lets pages of the origins read answers: all of config.AnyOrigin, every page of this machine of config.LocalOrigins, else
// exactly those that are named. It comes after Requests, so that a preflight has its trace id and its line in the log, and before
// every route: a preflight carries no token and costs no allowance. There are no cookies, hence no credentials. The origins are
// those that config has checked.
func CORS(origins []string) fiber.Handler {
	c := cors.Config{
		AllowMethods: strings.Join([]string{
			fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete,
		}, ","),
		AllowHeaders:  strings.Join(corsHeaders, ","),
		ExposeHeaders: strings.Join(corsExposed, ","),
		MaxAge:        int(preflightAge.Seconds()),
	}

	if i := slices.Index(origins, config.LocalOrigins); i >= 0 {
		named := slices.Delete(slices.Clone(origins), i, i+1)
		c.AllowOriginsFunc = func(origin string) bool { return slices.Contains(named, origin) || isLocalOrigin(origin) }
	} else {
		c.AllowOrigins = strings.Join(origins, ",")
	}

	return cors.New(c)
}

// isLocalOrigin reports whether a page comes from this machine: a name that only begins or ends like one of its own does not.
func isLocalOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || origin != u.Scheme+"://"+u.Host {
		return false
	}

	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}
