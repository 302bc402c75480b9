package middleware

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/admission"
	"rihla/internal/auth"
	"rihla/internal/store/db"
	"rihla/models"
)

// request is what is known about the current request. It is written by the middleware only, before a handler runs.
type request struct {
	id        string
	locale    models.Locale
	ip        string
	agent     string // User-Agent
	cookies   cookies
	principal auth.Principal
	// standing checks the caller's token again; nil on an operation without one.
	status func(ctx context.Context) error
	// identify reads an access token that the operation does not need; nil where there is no way to.
	identify func(ctx context.Context, token string) (auth.Principal, error)
	// account is set while the caller's account is still to be judged by the handler.
	account *accountCheck
	// webhook is set on an operation with x-raw-body.
	webhook Webhook
	// scope and claim are set for a request with an Idempotency-Key.
	scope db.KeyScope
	claim db.Claim
	// payment is what the request turned out to be about, for its log line; set by a handler.
	payment uuid.UUID
	// permit is the place of a request that begins a payment; nil where none is needed.
	permit *admission.Permit
}

type requestKey struct{}

func withRequest(ctx context.Context, r *request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// requestOf never returns nil, so that code which runs outside of a request (a test, a job) reads defaults.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}

	return &request{locale: models.LocaleArabic}
}

// Principal is the caller. On an operation that needs a token it is always set; on a public one it is the zero value.
func Principal(ctx context.Context) auth.Principal { return requestOf(ctx).principal }

// StillValid checks the caller's token and account once more, for an answer that goes on for longer than a token may
// hold. Errors: UNAUTHENTICATED once the token has expired or was revoked; others mean that it could not be found out.
func StillValid(ctx context.Context) error {
	check := requestOf(ctx).status
	if check == nil {
		return models.Because(models.CauseNoToken)
	}

	return check(ctx)
}

// Locale is the language that the caller asked for, ar by default (rules: api.language).
func Locale(ctx context.Context) models.Locale { return requestOf(ctx).locale }

// Address is the client's address, as far as trusted proxies tell it.
func Address(ctx context.Context) string { return requestOf(ctx).ip }

// UserAgent is what the client says of itself.
func UserAgent(ctx context.Context) string { return requestOf(ctx).agent }

// RequestID is the trace id of the request, the one in X-Request-Id and in every log line.
func RequestID(ctx context.Context) string { return requestOf(ctx).id }

// LogPayment adds the payment that the request is about to its log line.
func LogPayment(ctx context.Context, payment uuid.UUID) { requestOf(ctx).payment = payment }

// Claim is the request's hold on its Idempotency-Key; the zero value when it has none. An operation with an effect hands
// its ID down to where the effect is written.
func Claim(ctx context.Context) db.Claim { return requestOf(ctx).claim }

// Permit is the place of a request that begins a payment. It may be nil, and may be used all the same.
func Permit(ctx context.Context) *admission.Permit { return requestOf(ctx).permit }

// KeyScope is what the request's Idempotency-Key stands for; the zero value when it has none.
func KeyScope(ctx context.Context) db.KeyScope { return requestOf(ctx).scope }
