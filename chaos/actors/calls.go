package actors

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/env"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/models"
)

// Answer is one answer of the service to one request.
type Answer struct {
	rig.Answer

	Who    string
	Method string
	Path   string
	Key    string // Idempotency-Key, "" for none
}

// caller is one person with a token, who notes every answer.
type caller struct {
	who     string
	token   string
	env     *env.Environment
	journal *Journal
}

// is reports whether the caller signed in as this user.
func (c caller) is(user uuid.UUID) bool {
	var claims jwt.RegisteredClaims

	_, _, err := jwt.NewParser().ParseUnverified(c.token, &claims)

	return err == nil && claims.Subject == user.String()
}

func (c caller) named(who string) caller {
	c.who = who

	return c
}

// request is what is sent, as often as it takes.
type request struct {
	method string
	path   string
	body   any
	key    string
	api    int    // asked first
	token  string // of the caller, when it is repeated
}

const retryPause = 150 * time.Millisecond // between two tries of one person

// once sends the request to one API process. An error is the network's.
func (c caller) once(ctx context.Context, r request, api int) (Answer, error) {
	a := Answer{Who: c.who, Method: r.method, Path: r.path, Key: r.key}

	header := map[string]string{}
	if r.key != "" {
		header["Idempotency-Key"] = r.key
	}

	r.token = c.token
	c.journal.sends(r)

	began := time.Now()

	var err error

	a.Answer, err = c.client(api).Do(ctx, r.method, r.path, r.body, header)
	if err != nil {
		if ctx.Err() == nil {
			c.journal.Stepf(c.who, "%s %s (API %d): no answer after %d ms: %v",
				r.method, r.path, api%schedule.APIs+1, time.Since(began).Milliseconds(), plain(err))
		}

		return a, err
	}

	c.examine(a)
	c.journal.add(a)
	c.journal.Stepf(c.who, "%s %s (API %d): %d %s after %d ms",
		r.method, r.path, api%schedule.APIs+1, a.Status, a.Code(), time.Since(began).Milliseconds())

	return a, nil
}

// client is the caller at one API process.
func (c caller) client(api int) rig.Client { return rig.Client{URL: c.env.API(api), Token: c.token} }

// plain is a network error without the address that is known.
func plain(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}

	return err
}

// examine checks the rules for every answer, outages or not: none is a 500, errors are the service's own,
// and an error that asks for a retry says when.
func (c caller) examine(a Answer) {
	if a.Status < http.StatusBadRequest {
		return
	}

	e := a.Error()
	if e.Code == "" {
		c.journal.Problemf(c.who, "%s %s answered %d with %q, which is no error of ours", a.Method, a.Path, a.Status, a.Body)
	}

	switch {
	case a.Status == http.StatusInternalServerError:
		c.journal.Problemf(c.who, "%s %s answered 500: %s", a.Method, a.Path, a.Body)
	case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "":
		c.journal.Problemf(c.who, "%s %s answered 503 without Retry-After", a.Method, a.Path)
	case a.Status > http.StatusInternalServerError && len(e.Details["request_id"]) == 0:
		c.journal.Problemf(c.who, "%s %s answered %d without request_id", a.Method, a.Path, a.Status)
	case passing(a) && c.journal.isCalm():
		c.journal.Problemf(c.who, "%s %s answered %d, although nothing is broken: %s", a.Method, a.Path, a.Status, a.Body)
	}
}

// passing are the answers that say "try again".
func passing(a Answer) bool {
	return a.Status == http.StatusServiceUnavailable || a.Status == http.StatusBadGateway && a.Code() == models.CodeGatewayUnavailable ||
		a.Code() == models.CodeIdempotencyKeyInProcess
}

// retryUntilDecided sends the request until it has an answer that counts, to one API process after the other. ok is false when the
// time is over, or when the answer is neither a success nor one of the given refusals; both are problems.
func (c caller) retryUntilDecided(ctx context.Context, r request, refusals ...models.Code) (a Answer, ok bool) {
	var err error

	for try := r.api; ; try++ {
		a, err = c.once(ctx, r, try)
		if err == nil && !passing(a) {
			return a, c.expected(a, refusals)
		}

		if !pause(ctx, retryPause) {
			if errors.Is(ctx.Err(), context.Canceled) { // no caller waits for it any more
				return a, false
			}

			c.journal.Problemf(c.who, "gave up %s %s at %d %s %v", r.method, r.path, a.Status, a.Body, err)

			return a, false
		}
	}
}

func (c caller) expected(a Answer, refusals []models.Code) bool {
	if a.Status < http.StatusMultipleChoices || slices.Contains(refusals, a.Code()) {
		return true
	}

	c.journal.Problemf(c.who, "%s %s answered %d %s", a.Method, a.Path, a.Status, a.Body)

	return false
}

// twice sends the request to both API processes in the same moment, and then retries until it is decided.
func (c caller) twice(ctx context.Context, r request, refusals ...models.Code) (Answer, bool) {
	done := make(chan struct{})

	go func() {
		defer close(done)

		if a, err := c.once(ctx, r, r.api+1); err == nil && !passing(a) {
			c.expected(a, refusals)
		}
	}()

	a, ok := c.retryUntilDecided(ctx, r, refusals...)

	<-done

	return a, ok
}

// signIn is a caller with the role's token.
func (c caller) signIn(ctx context.Context, role models.Role) (caller, error) {
	var tokens gen.Tokens

	a, ok := c.retryUntilDecided(ctx, request{method: http.MethodPost, path: "/api/v1/auth/login", body: gen.LoginRequest{
		Email: strings.ToLower(string(role)) + "@rihla.test", Password: env.Password,
	}})
	if !ok {
		return c, fmt.Errorf("%s cannot sign in", role)
	}

	if err := a.Data(&tokens); err != nil {
		return c, err
	}

	c.token = tokens.AccessToken

	return c, nil
}

// text is a text that may be missing.
func text(s *string) string {
	if s == nil {
		return ""
	}

	return *s
}

func newKey() string { return uuid.NewString() }

// pause reports whether the time has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
