package middleware

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/auth"
)

// Each log-in at an identity provider has a cookie of its own, so that those of two tabs do not overwrite each other.
const (
	// signOnCookie is what their names begin with; a name ends with that of its attempt.
	signOnCookie = "__Host-rihla_oidc"
	// signOnFor is how long a browser may stay at an identity provider.
	signOnFor = 10 * time.Minute
	// maxSignOns bounds the attempts that a browser keeps: the oldest give way. maxSignOnsRead bounds what is read of a request.
	maxSignOns, maxSignOnsRead = 5, 20
)

func (r *request) readSignOns(f *fiber.Ctx) {
	for name, value := range f.Request().Header.Cookies() {
		if strings.HasPrefix(string(name), signOnCookie) && len(r.cookies.signOns) < maxSignOnsRead {
			r.cookies.signOns = append(r.cookies.signOns, string(value))
		}
	}
}

// KeepSignOn has the browser keep a log-in at an identity provider until it comes back from there. The way back begins at another site,
// so that a cookie for this site alone would not come with it.
func KeepSignOn(ctx context.Context, a auth.SignOnAttempt) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode log-in: %w", err)
	}

	r := requestOf(ctx)

	kept := r.signOns()
	slices.SortFunc(kept, func(x, y auth.SignOnAttempt) int { return cmp.Compare(y.Began.UnixNano(), x.Began.UnixNano()) })

	for _, old := range kept[min(len(kept), maxSignOns-1):] {
		r.cookies.set = append(r.cookies.set, signOnCookieOf(old.State, "", 0))
	}

	r.cookies.set = append(r.cookies.set, signOnCookieOf(a.State, base64.RawURLEncoding.EncodeToString(text), signOnFor))

	return nil
}

// TakeSignOn is the log-in with the state that the browser comes back from, once.
func TakeSignOn(ctx context.Context, state string) (auth.SignOnAttempt, bool) {
	r := requestOf(ctx)

	for _, a := range r.signOns() {
		if a.State == state {
			r.cookies.set = append(r.cookies.set, signOnCookieOf(a.State, "", 0))

			return a, true
		}
	}

	return auth.SignOnAttempt{}, false
}

// signOns are the log-ins that the browser keeps.
func (r *request) signOns() (kept []auth.SignOnAttempt) {
	for _, value := range r.cookies.signOns {
		var a auth.SignOnAttempt

		text, err := base64.RawURLEncoding.DecodeString(value)
		if err == nil && json.Unmarshal(text, &a) == nil && a.State != "" && a.Verifier != "" && a.Nonce != "" {
			kept = append(kept, a)
		}
	}

	return kept
}

func signOnCookieOf(state, value string, lives time.Duration) fiber.Cookie {
	c := cookie(signOnCookie+"_"+auth.SignOnName(state), value, lives)
	c.SameSite = fiber.CookieSameSiteLaxMode

	return c
}
