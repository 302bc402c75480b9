package middleware

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/auth"
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

// RateLimits applies the configured limits per minute; 0 switches a limit off.
type RateLimits struct {
	limiter Limiter
	limits  config.RateLimits
	failed  func(ctx context.Context, err error)
}

// NewRateLimits counts with a limiter. When the limiter cannot count, the request is let through and failed is called.
func NewRateLimits(limiter Limiter, limits config.RateLimits, failed func(ctx context.Context, err error)) *RateLimits {
	return &RateLimits{limiter: limiter, limits: limits, failed: failed}
}

// Login counts one try to log in to an account from a network: nil, or RATE_LIMITED with Retry-After. The email is compared as
// accounts are looked up: without letter case, and without any space around it. A try that succeeds is given back by LoggedIn.
func (l *RateLimits) Login(ctx context.Context, email, network string) error {
	if l.limits.Login <= 0 {
		return nil
	}

	remaining, reset, retryAfter, ok, err := l.limiter.Allow(ctx, loginKey(email, network), l.limits.Login)
	if err != nil {
		l.failed(ctx, err)

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
		l.failed(ctx, err)
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
func (l *RateLimits) check(f *fiber.Ctx, op *operation, ip string, caller auth.Principal) error {
	switch op.limit {
	case limitByRole:
		return l.take(f, "user:"+caller.UserID.String(), l.limits.ForRole(caller.Role))
	case limitWebhook:
		return l.take(f, "webhook:"+op.path, l.limits.Webhook)
	case limitLogin:
		return l.takeAddr(f, "login", ip, l.limits.LoginIP)
	case limitMedia:
		return l.takeAddr(f, "media", ip, l.limits.Media)
	case limitAnonymous:
		return l.anonymous(f, ip)
	default:
		return nil
	}
}

// anonymous counts a request of a caller without a token. Error: RATE_LIMITED.
func (l *RateLimits) anonymous(f *fiber.Ctx, ip string) error {
	return l.takeAddr(f, "ip", ip, l.limits.Anonymous)
}

// unidentified gives an answer to nobody in particular (401, 413) its headers: it counts against the address, and never
// refuses, because 413 and 401 come before 429.
func (l *RateLimits) unidentified(f *fiber.Ctx, op *operation, ip string) {
	if op.limit != limitNone {
		_ = l.anonymous(f, ip)
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
		l.failed(ctx, err)

		remaining, reset, ok = perMinute, time.Now(), true
	}

	return allowance{perMinute, remaining, reset}, retryAfter, ok
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

// LimitError is RATE_LIMITED with the allowance that is used up. Of two limits on one operation (login) it is the one that
// refused.
type LimitError struct {
	// After is how long the caller waits.
	After time.Duration

	domain *models.Error
	spent  allowance
}

// Error is the domain error's text.
func (e *LimitError) Error() string { return e.domain.Error() }

// Unwrap returns the domain error.
func (e *LimitError) Unwrap() error { return e.domain }

// Show sets the X-RateLimit headers.
func (e *LimitError) Show(f *fiber.Ctx) { e.spent.show(f) }

func tooMany(after time.Duration, spent allowance) *LimitError {
	return &LimitError{After: after, domain: models.Errorf(models.CodeRateLimited, "Too many requests."), spent: spent}
}
