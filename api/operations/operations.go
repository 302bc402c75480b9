// Package operations holds the handlers of the API's operations, one file per resource. A handler authorizes what
// depends on the resource, decodes, calls one store method or one workflow, and encodes; roles and the form of requests
// are checked before it runs, and errors are turned into answers after it.
package operations

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/gateways"
	"rihla/internal/auth"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/models"
	"rihla/workflows"
)

// Deps are what the handlers work with; every field is needed.
type Deps struct {
	Store     *store.Store
	Workflows *workflows.Client
	Passwords *auth.Passwords
	Issuer    *auth.Issuer
	// Logins counts log-ins per account.
	Logins *middleware.RateLimits
	// Verifiers check the webhooks of each channel.
	Verifiers map[models.Channel]gateways.WebhookVerifier
	// Deliver takes a stored event on its way to its workflow; it must not block.
	Deliver func(models.Delivery)
	Metrics *telemetry.Metrics
	Now     func() time.Time

	RefreshTTL   time.Duration // of a refresh token
	CheckoutWait time.Duration // for the gateway's checkout
	RefundWait   time.Duration // for the gateway's decision (contract §7)
}

// Operations implements the generated interface, but for what the server answers itself.
type Operations struct {
	gen.StrictServerInterface // health, keys, document, docs and metrics: answered by api.New's own handlers

	Deps

	exports chan struct{} // a place for each export that may run
}

// New makes the handlers.
func New(d Deps) *Operations {
	return &Operations{Deps: d, exports: make(chan struct{}, exportsAtOnce)}
}

// actor is the caller in the store's terms.
func actor(ctx context.Context) store.Actor {
	p := middleware.Principal(ctx)

	return store.Actor{UserID: p.UserID, Role: p.Role, ProviderID: p.ProviderID, RequestID: middleware.RequestID(ctx)}
}

// MayWrite refuses staff of a company whose data cannot be changed now: they read and do not write (contract §2).
func (o *Operations) MayWrite(ctx context.Context, staff auth.Principal) error {
	return o.Store.MayWrite(ctx, store.Actor{UserID: staff.UserID, Role: staff.Role, ProviderID: staff.ProviderID})
}

// valueOf is the value behind an optional parameter, or the zero value.
func valueOf[T any](p *T) T {
	if p == nil {
		var none T

		return none
	}

	return *p
}

// optional is a pointer to v, or nil for the zero value.
func optional[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}

	return &v
}

// newID is the id of what a request makes. With an Idempotency-Key it derives from caller and key, so that a request
// which is sent again after a crash makes the same thing and not a second one.
func newID(ctx context.Context, kind string, key *gen.IdempotencyKey) uuid.UUID {
	if key == nil {
		return models.NewID()
	}

	return models.Derive(kind + ":" + middleware.Principal(ctx).UserID.String() + ":" + key.String())
}
