// Package operations holds the handlers of the API's operations, one file per resource. A handler authorizes what
// depends on the resource, decodes, calls one store method or one workflow, and encodes; roles and the form of requests
// are checked before it runs, and errors are turned into answers after it.
package operations

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"rihla/api/contract"
	"rihla/api/exports"
	"rihla/api/gen"
	"rihla/api/live"
	"rihla/api/middleware"
	"rihla/api/ratelimit"
	"rihla/api/stream"
	"rihla/gateways"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/inbox"
	"rihla/internal/media"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/telemetry"
	"rihla/internal/ticket"
	"rihla/models"
	"rihla/workflows"
)

// Deps are what the handlers work with; every field is needed.
type Deps struct {
	Store     *store.Store
	Workflows *workflows.Client
	Passwords *auth.Passwords
	Issuer    *auth.Issuer
	// Sealer encrypts the secrets of second factors.
	Sealer *auth.Sealer
	// SignOn is the identity provider of the platform's own people; nil without one.
	SignOn *auth.SignOn
	// StepUpAbove is the amount above which a refund asks for a code, alone or with those of an hour; 0: none.
	StepUpAbove models.Money
	// Logins counts log-ins per account.
	Logins *ratelimit.Limits
	// Verifiers check the webhooks of each channel.
	Verifiers map[models.Channel]gateways.WebhookVerifier
	// Pages are ours on which customers pay, of the accounts that have one.
	Pages map[models.MerchantAccount]gateways.Page
	// Methods can be paid with, in the order in which they are shown; Hold is how long a customer has to pay by each.
	Methods []Method
	Hold    func(models.PaymentMethod) time.Duration
	// Inbox stores verified webhooks.
	Inbox *inbox.Queue
	// Deliver takes a stored event on its way to its workflow; it must not block.
	Deliver func(models.Delivery)
	Metrics *telemetry.Metrics
	// Media has the files of photos, Links makes the addresses that open them.
	Media *media.Bucket
	Links *media.Links
	// Tickets sign and verify tickets and their links.
	Tickets *ticket.Keys
	Now     func() time.Time
	Log     *slog.Logger

	// TemporalUI is a namespace in the Temporal UI and Runbook the operations page; incidents have no link to what is empty.
	TemporalUI, Runbook string
	// PublicURL is where customers reach the API, without a trailing slash; Returns say where they may go from there.
	PublicURL string
	// PayURL is where customers reach pages of ours on which they pay, without a trailing slash.
	PayURL  string
	Returns models.ReturnRules
	// AtOnce bounds what one account or company has running at the same time.
	AtOnce config.AtOnce

	RefreshTTL   time.Duration // of a refresh token
	CheckoutWait time.Duration // for the gateway's checkout
	RefundWait   time.Duration // for the gateway's decision
}

// Operations implements the generated interface, but for what the server answers itself.
type Operations struct {
	gen.StrictServerInterface // health, keys, document, docs and metrics: answered by api.New's own handlers

	Deps

	exports *exports.Sender
	uploads chan struct{} // a place for each upload that may run

	ownUploads, ownPolls *stream.Slots // those of one account, and of one company

	updates *live.Updates

	signOnNotes signOnNotes

	wake   wake          // of the outbox
	resets chan struct{} // a place for each new password that is being asked for
}

// New makes the handlers.
func New(d Deps) *Operations {
	o := &Operations{
		Deps: d, uploads: make(chan struct{}, uploadsAtOnce),
		exports: &exports.Sender{
			Store: d.Store, Log: d.Log, Running: exports.NewRunning(), Own: stream.NewSlots("slots.exports", d.AtOnce.Exports),
		},
		ownUploads: stream.NewSlots("slots.uploads", d.AtOnce.Uploads), ownPolls: stream.NewSlots("slots.long_polls", d.AtOnce.LongPolls),
		resets: make(chan struct{}, resetsAtOnce),
	}
	o.updates = live.New(d.payments(), d.Log, d.Now, o.askGateways)

	return o
}

// payments is the store of payments; nil in tests of what needs none.
func (d *Deps) payments() *payments.Store {
	if d.Store == nil {
		return nil
	}

	return d.Store.Payments
}

// Listen is live.Updates.Listen.
func (o *Operations) Listen() (stop func()) { return o.updates.Listen() }

// StopExports is exports.Running.Stop.
func (o *Operations) StopExports() (over func() error) { return o.exports.Running.Stop() }

// detachedTime bounds what a handler has to bring to its end when the request's own time is over.
const detachedTime = 5 * time.Second

// detached is a context that outlives the request and its client by detachedTime.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), detachedTime)
}

// actor is the caller in the store's terms.
func actor(ctx context.Context) db.Actor {
	p := middleware.Principal(ctx)

	return db.Actor{
		UserID: p.UserID, Role: p.Role, ProviderID: p.ProviderID, RequestID: middleware.RequestID(ctx),
		Address: middleware.Address(ctx), UserAgent: middleware.UserAgent(ctx), Network: middleware.Network(ctx),
	}
}

// MayWrite refuses staff of a company whose data cannot be changed now: they read and do not write (rules: companies.inactive).
func (o *Operations) MayWrite(ctx context.Context, staff auth.Principal) error {
	return o.Store.Catalogue.MayWrite(ctx, db.Actor{UserID: staff.UserID, Role: staff.Role, ProviderID: staff.ProviderID})
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

// keepAnswer has the store keep the answer to a request with an Idempotency-Key in the SQL transaction of its effect. answer
// makes the body of what the effect was; it must be what the handler returns.
func keepAnswer[T any](ctx context.Context, status int, answer func(T) any) db.Once[T] {
	return db.Once[T]{Claim: middleware.Claim(ctx).ID, Answer: func(result T) (db.Answer, error) {
		body, err := contract.EncodeJSON(answer(result))

		return db.Answer{Status: status, Body: body}, err
	}}
}

// keepCreated is keepAnswer for what is created, and found at location.
func keepCreated[T any](ctx context.Context, location string, answer func(T) any) db.Once[T] {
	once := keepAnswer(ctx, http.StatusCreated, answer)
	encode := once.Answer

	once.Answer = func(result T) (db.Answer, error) {
		a, err := encode(result)
		a.Location = location

		return a, err
	}

	return once
}
