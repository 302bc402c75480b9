package middleware

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/config"
	"rihla/models"
)

// limitClass is an operation's x-limit.
type limitClass string

const (
	limitNone      limitClass = "none"
	limitAnonymous limitClass = "anonymous"
	limitByRole    limitClass = "by-role"
	limitWebhook   limitClass = "webhook"
	limitLogin     limitClass = "login"
	limitMedia     limitClass = "media"
)

// RateLimits limits requests per minute (rules: input.rates).
type RateLimits struct {
	limiter Limiter
	limits  config.RateLimits
	log     *slog.Logger
}

// NewRateLimits applies limits with a limiter.
func NewRateLimits(limiter Limiter, limits config.RateLimits, log *slog.Logger) *RateLimits {
	return &RateLimits{limiter: limiter, limits: limits, log: log}
}

// Login counts one try to log in to an account from a network: nil, or RATE_LIMITED with Retry-After. The email is compared as
// accounts are looked up: without letter case, and without any space around it. A try that succeeds is given back by LoggedIn.
func (l *RateLimits) Login(ctx context.Context, email, network string) error {
	if l.limits.Login <= 0 {
		return nil
	}

	remaining, reset, retryAfter, ok, err := l.limiter.Allow(ctx, loginKey(email, network), l.limits.Login)
	if err != nil {
		l.warn(ctx, err)

		return nil
	}

	if !ok {
		return tooMany(retryAfter, allowance{l.limits.Login, remaining, reset})
	}

	return nil
}

// LoggedIn gives back the try that Login has counted: only failures count.
func (l *RateLimits) LoggedIn(ctx context.Context, email, network string) {
	if l.limits.Login <= 0 {
		return
	}

	if err := l.limiter.Return(ctx, loginKey(email, network), l.limits.Login); err != nil {
		l.warn(ctx, err)
	}
}

// LoginPaused is RATE_LIMITED for an account that may not be tried before a moment, from whatever network.
func (l *RateLimits) LoginPaused(until, now time.Time) error {
	err := tooMany(until.Sub(now), allowance{limit: l.limits.Login, reset: until})
	err.domain.Message = "Logging in is paused after too many failed attempts."

	return err
}

func loginKey(email, network string) string {
	return "account:" + strings.ToLower(strings.TrimSpace(email)) + " " + network
}

// check counts the request and sets the X-RateLimit headers. It returns RATE_LIMITED when the allowance is used up.
func (l *RateLimits) check(f *fiber.Ctx, op *operation, r *request) error {
	switch op.limit {
	case limitByRole:
		return l.take(f, "user:"+r.principal.UserID.String(), l.limits.ForRole(r.principal.Role))
	case limitWebhook:
		return l.take(f, "webhook:"+op.path, l.limits.Webhook)
	case limitLogin:
		return l.takeAddr(f, "login", r.ip, l.limits.LoginIP)
	case limitMedia:
		return l.takeAddr(f, "media", r.ip, l.limits.Media)
	case limitAnonymous:
		return l.takeAddr(f, "ip", r.ip, l.limits.Anonymous)
	default:
		return nil
	}
}

// Limited puts the limit of callers without a token in front of a handler that is no operation of the document.
func (c *Chain) Limited(handler fiber.Handler) fiber.Handler {
	return func(f *fiber.Ctx) error {
		if err := c.limits.takeAddr(f, "ip", requestOf(f.UserContext()).ip, c.limits.limits.Anonymous); err != nil {
			return err
		}

		return handler(f)
	}
}

// unidentified gives an answer to nobody in particular (401, 413) its headers: it counts against the address, and never
// refuses, because 413 and 401 come before 429.
func (l *RateLimits) unidentified(f *fiber.Ctx, op *operation, r *request) {
	if op.limit != limitNone {
		_ = l.takeAddr(f, "ip", r.ip, l.limits.Anonymous)
	}
}

// takeAddr counts a request of an address: that of its network, and for IPv6 of its site too.
func (l *RateLimits) takeAddr(f *fiber.Ctx, class, ip string, perMinute int) error {
	if err := l.take(f, class+":"+limitAddr(ip), perMinute); err != nil {
		return err
	}

	site := limitSite(ip)
	if site == "" || perMinute <= 0 {
		return nil
	}

	// The headers tell of the network's allowance, unless it is the site's that is used up.
	if spent, retryAfter, ok := l.count(f.UserContext(), class+"-site:"+site, perMinute*siteShare); !ok {
		return tooMany(retryAfter, spent)
	}

	return nil
}

func (l *RateLimits) take(f *fiber.Ctx, key string, perMinute int) error {
	if perMinute <= 0 {
		return nil
	}

	a, retryAfter, ok := l.count(f.UserContext(), key, perMinute)
	a.show(f)

	if !ok {
		return tooMany(retryAfter, a)
	}

	return nil
}

// count takes one from an allowance and reports whether there was one.
func (l *RateLimits) count(ctx context.Context, key string, perMinute int) (a allowance, retryAfter time.Duration, ok bool) {
	remaining, reset, retryAfter, ok, err := l.limiter.Allow(ctx, key, perMinute)
	if err != nil {
		// A counter that is down must not take the service down with it.
		l.warn(ctx, err)

		remaining, reset, ok = perMinute, time.Now(), true
	}

	return allowance{perMinute, remaining, reset}, retryAfter, ok
}

func (l *RateLimits) warn(ctx context.Context, err error) {
	l.log.LogAttrs(ctx, slog.LevelWarn, "rate limiter failed, request let through",
		slog.String("request_id", RequestID(ctx)), slog.String("error", err.Error()))
}

// allowance is what a caller is told of a limit.
type allowance struct {
	limit     int
	remaining int
	reset     time.Time
}

// show sets the X-RateLimit headers. Reset is rounded up, so that who waits until then finds the whole allowance.
func (a allowance) show(f *fiber.Ctx) {
	h := &f.Response().Header
	h.Set("X-RateLimit-Limit", strconv.Itoa(a.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(a.remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(a.reset.Add(time.Second-1).Unix(), 10))
}

// tooMany is RATE_LIMITED. Of two limits on one operation (login) the headers tell of the one that refused.
func tooMany(after time.Duration, spent allowance) *retryError {
	return &retryError{
		domain: models.Errorf(models.CodeRateLimited, "Too many requests."), after: after, spent: &spent,
	}
}
