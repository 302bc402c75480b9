package middleware

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/auth"
	"rihla/models"
)

// A browser keeps the tokens of a session in two cookies, out of reach of scripts. That a browser sends them by itself is what other
// sites could use: the cookies are for this site alone (SameSite=Strict), every write needs a header that forms cannot send and scripts
// of other origins may not, and a browser that says that another site asks is believed.
const (
	accessCookie  = "__Host-rihla_access"
	refreshCookie = "__Host-rihla_refresh"
	sessionHeader = "X-Session"
	byCookie      = "cookie"
)

// cookies are a request's, and those of its answer.
type cookies struct {
	asked   bool // the session is one by cookie, as the header says
	access  string
	refresh string
	signOns []string // the log-ins at an identity provider that the browser has begun
	set     []fiber.Cookie
}

// readCookies reads what the handlers of sessions need; the access token is read where it is looked for.
func (r *request) readCookies(f *fiber.Ctx) {
	if strings.EqualFold(f.Get(sessionHeader), byCookie) {
		r.cookies.asked = true
		r.readSession(f)
	}

	switch f.Path() {
	case auth.SignOnStart: // a browser goes there without a header of ours, and leaves a session behind
		if !crossSite(f) {
			r.readSession(f)
		}

		r.readSignOns(f)
	case auth.SignOnCallback, auth.SignOnStepUp:
		r.readSignOns(f)
	case auth.VerifyEmailPath: // which an app calls with its token, if it has one
		if token, ok := bearerOf(f); ok {
			r.cookies.access = strings.Clone(token)
		}
	}
}

func (r *request) readSession(f *fiber.Ctx) {
	r.cookies.access, r.cookies.refresh = strings.Clone(f.Cookies(accessCookie)), strings.Clone(f.Cookies(refreshCookie))
}

// writeCookies sets what a handler has left, unless the answer is none of a session.
func (r *request) writeCookies(f *fiber.Ctx) {
	for i := range r.cookies.set {
		f.Cookie(&r.cookies.set[i])
	}
}

const bearerPrefix = "bearer "

// tokenOf is the access token of a request: that of the header, else that of the cookie. Errors: UNAUTHENTICATED without one; FORBIDDEN
// for a session by cookie that another site may be using.
func tokenOf(f *fiber.Ctx, r *request) (string, error) {
	if token, ok := bearerOf(f); ok {
		return token, nil
	}

	header, token := f.Get(fiber.HeaderAuthorization), f.Cookies(accessCookie)

	switch {
	case header != "" || token == "":
		return "", models.Because(models.CauseNoToken)
	case crossSite(f):
		return "", errCrossSite()
	case f.Method() != http.MethodGet && f.Method() != http.MethodHead && !r.cookies.asked:
		return "", models.NewError(models.CodeForbidden, "access.cookie_header")
	default:
		return token, nil
	}
}

func bearerOf(f *fiber.Ctx) (string, bool) {
	header := f.Get(fiber.HeaderAuthorization)
	if len(header) <= len(bearerPrefix) || !strings.EqualFold(header[:len(bearerPrefix)], bearerPrefix) {
		return "", false
	}

	return strings.TrimSpace(header[len(bearerPrefix):]), true
}

// crossSite reports whether the browser says that another site has made the request. Other clients say nothing.
func crossSite(f *fiber.Ctx) bool {
	from := f.Get("Sec-Fetch-Site")

	return from != "" && from != "same-origin" && from != "none"
}

func errCrossSite() error {
	return models.NewError(models.CodeForbidden, "access.other_site")
}

// ByCookie reports whether the caller wants the tokens of its session in cookies.
func ByCookie(ctx context.Context) bool { return requestOf(ctx).cookies.asked }

// RefreshCookie is the refresh token of a session by cookie; empty without one.
func RefreshCookie(ctx context.Context) string { return requestOf(ctx).cookies.refresh }

// CookieSession is whose session the request to a public operation comes with, by the access token alone; the zero value without a good
// one. Whether the session is over is for the operation to ask.
func CookieSession(ctx context.Context) auth.Principal {
	r := requestOf(ctx)
	if r.cookies.access == "" || r.identify == nil {
		return auth.Principal{}
	}

	p, err := r.identify(ctx, r.cookies.access)
	if err != nil {
		return auth.Principal{}
	}

	return p
}

// SetSession has the answer keep a session in the browser. Each cookie lives as long as its token.
func SetSession(ctx context.Context, access string, accessFor time.Duration, refresh string, refreshFor time.Duration) {
	r := requestOf(ctx)
	r.cookies.set = append(r.cookies.set, cookie(accessCookie, access, accessFor), cookie(refreshCookie, refresh, refreshFor))
}

// ClearSession has the answer take the session out of the browser.
func ClearSession(ctx context.Context) {
	r := requestOf(ctx)
	r.cookies.set = append(r.cookies.set, cookie(accessCookie, "", 0), cookie(refreshCookie, "", 0))
}

// cookie is one of ours; one that lives for no time is taken away.
func cookie(name, value string, lives time.Duration) fiber.Cookie {
	c := fiber.Cookie{Name: name, Value: value, Path: "/", Secure: true, HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode}

	if lives > 0 {
		c.MaxAge = int(lives / time.Second)
	} else {
		c.Expires = time.Unix(0, 0)
	}

	return c
}

// UseCookies has the answer of an operation that only browsers call keep its session in cookies.
func UseCookies(ctx context.Context) { requestOf(ctx).cookies.asked = true }
