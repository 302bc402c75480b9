package ratelimit

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/api/contract"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/models"
)

// Limits applies the configured limits per minute; 0 switches a limit off.
type Limits struct {
	limiter Limiter
	limits  config.RateLimits
	failed  func(ctx context.Context, err error)
}

// New counts with a limiter. When the limiter cannot count, the request is let through and failed is called.
func New(limiter Limiter, limits config.RateLimits, failed func(ctx context.Context, err error)) *Limits {
	return &Limits{limiter: limiter, limits: limits, failed: failed}
}

// Login counts one try to log in to an account from a network: nil, or RATE_LIMITED with Retry-After. The email is compared as
// accounts are looked up: without letter case, and without any space around it. A try that succeeds is given back by LoggedIn.
func (l *Limits) Login(ctx context.Context, email, network string) error {
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
func (l *Limits) LoggedIn(ctx context.Context, email, network string) {
	if l.limits.Login <= 0 {
		return
	}

	if err := l.limiter.Return(ctx, loginKey(email, network), l.limits.Login); err != nil {
		l.failed(ctx, err)
	}
}

// LoginPaused is RATE_LIMITED for an account that may not be tried before a moment, from whatever network.
func (l *Limits) LoginPaused(until, now time.Time) error {
	err := tooMany(until.Sub(now), allowance{limit: l.limits.Login, reset: until})
	err.domain.Text = models.TextOf("login.paused")

	return err
}

func loginKey(email, network string) string {
	return "account:" + strings.ToLower(models.CleanExact(email)) + " " + network
}

// Check counts the request and sets the X-RateLimit headers; channel is that of a webhook, whose paths share one allowance. It returns
// RATE_LIMITED when the allowance is used up.
func (l *Limits) Check(f *fiber.Ctx, op *contract.Operation, ip string, caller auth.Principal, channel models.Channel) error {
	switch op.Limit {
	case contract.LimitByRole:
		return l.take(f, userKey(caller), l.limits.ForRole(caller.Role))
	case contract.LimitWebhook:
		return l.take(f, "webhook:"+string(channel), l.limits.Webhook)
	case contract.LimitLogin:
		return l.takeAddr(f, "login", ip, l.limits.LoginIP)
	case contract.LimitMedia:
		return l.Media(f, ip)
	case contract.LimitAnonymous:
		return l.Anonymous(f, ip)
	default:
		return nil
	}
}

// Anonymous counts a request of a caller without a token. Error: RATE_LIMITED.
func (l *Limits) Anonymous(f *fiber.Ctx, ip string) error {
	return l.takeAddr(f, "ip", ip, l.limits.Anonymous)
}

// Media counts the opening of a file: a page has many of them. Error: RATE_LIMITED.
func (l *Limits) Media(f *fiber.Ctx, ip string) error {
	return l.takeAddr(f, "media", ip, l.limits.Media)
}

// Unidentified gives the answer to an unidentified caller (401, 413) its headers: it counts against the address, and never
// refuses, because 413 and 401 come before 429.
func (l *Limits) Unidentified(f *fiber.Ctx, op *contract.Operation, ip string) {
	if op.Limit != contract.LimitNone {
		_ = l.Anonymous(f, ip)
	}
}

// TakeBack gives back what Check has counted for a caller who turns out not to be let in, with the headers that tell of it.
func (l *Limits) TakeBack(f *fiber.Ctx, op *contract.Operation, caller auth.Principal) {
	perMinute := l.limits.ForRole(caller.Role)
	if op.Limit != contract.LimitByRole || perMinute <= 0 {
		return
	}

	for _, name := range headers {
		f.Response().Header.Del(name)
	}

	if err := l.limiter.Return(f.UserContext(), userKey(caller), perMinute); err != nil {
		l.failed(f.UserContext(), err)
	}
}

func userKey(caller auth.Principal) string { return "user:" + caller.UserID.String() }

// takeAddr counts a request of an address: that of its network, and for IPv6 of its site too.
func (l *Limits) takeAddr(f *fiber.Ctx, class, ip string, perMinute int) error {
	if err := l.take(f, class+":"+countedAddress(ip), perMinute); err != nil {
		return err
	}

	site := countedSite(ip)
	if class == "login" { // so many that guess from one network what shares a bucket with an address
		site = countedNetwork(ip)
	}

	if site == "" || perMinute <= 0 {
		return nil
	}

	// The headers tell of the network's allowance, unless it is the site's that is used up.
	if spent, retryAfter, ok := l.count(f.UserContext(), class+"-site:"+site, perMinute*siteShare); !ok {
		return tooMany(retryAfter, spent)
	}

	return nil
}

func (l *Limits) take(f *fiber.Ctx, key string, perMinute int) error {
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
func (l *Limits) count(ctx context.Context, key string, perMinute int) (a allowance, retryAfter time.Duration, ok bool) {
	remaining, reset, retryAfter, ok, err := l.limiter.Allow(ctx, key, perMinute)
	if err != nil {
		// A counter that is down must not take the service down with it.
		l.failed(ctx, err)

		remaining, reset, ok = perMinute, time.Now(), true
	}

	return allowance{perMinute, remaining, reset}, retryAfter, ok
}

// The headers of an allowance.
const (
	headerLimit     = "X-RateLimit-Limit"
	headerRemaining = "X-RateLimit-Remaining"
	headerReset     = "X-RateLimit-Reset"
)

var headers = [...]string{headerLimit, headerRemaining, headerReset}

// Shown is what the answer says of the allowance, by header; empty when the request was not counted.
func Shown(f *fiber.Ctx) map[string]string {
	shown := map[string]string{}

	for _, name := range headers {
		if value := f.Response().Header.Peek(name); len(value) > 0 {
			shown[name] = string(value)
		}
	}

	return shown
}

// allowance is the state of a limit as its caller sees it.
type allowance struct {
	limit     int
	remaining int
	reset     time.Time
}

// show sets the X-RateLimit headers. Reset is rounded up, so that a client that waits until then finds the whole allowance.
func (a allowance) show(f *fiber.Ctx) {
	h := &f.Response().Header
	h.Set(headerLimit, strconv.Itoa(a.limit))
	h.Set(headerRemaining, strconv.Itoa(a.remaining))
	h.Set(headerReset, strconv.FormatInt(a.reset.Add(time.Second-1).Unix(), 10))
}

// Error is RATE_LIMITED with the allowance that is used up. Of two limits on one operation (login) it is the one that
// refused.
type Error struct {
	// After is how long the caller waits.
	After time.Duration

	domain *models.Error
	spent  allowance
}

// Error is the domain error's text.
func (e *Error) Error() string { return e.domain.Error() }

// Unwrap returns the domain error.
func (e *Error) Unwrap() error { return e.domain }

// Show sets the X-RateLimit headers.
func (e *Error) Show(f *fiber.Ctx) { e.spent.show(f) }

func tooMany(after time.Duration, spent allowance) *Error {
	return &Error{After: after, domain: models.NewError(models.CodeRateLimited, "request.rate_limited"), spent: spent}
}

// WholeSeconds rounds up, so that a client that waits that long is not too early.
func WholeSeconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
