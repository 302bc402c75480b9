// Package reconcile brings books that were restored to an earlier moment, or whose orchestrator was lost, to what happened. It asks the
// gateways about everything since then, hands their answers to the same intake and settlement as webhooks, and starts the workflows that
// are missing. It decides nothing about money itself.
package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/inbox"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/models"
)

// Account is a merchant account whose gateway is asked.
type Account struct {
	Name     models.MerchantAccount
	Driver   string
	Channels []models.Channel // on which its payments are reported
	Gateway  gateways.Gateway
	// Checkouts and Refunds list what the company has; nil where it has no such list.
	Checkouts gateways.CheckoutLister
	Refunds   gateways.RefundLister
	Rate      float64 // questions a second
	// ChannelOf is where the account reports a payment by the method.
	ChannelOf func(models.PaymentMethod) models.Channel
}

// Workflows is what of workflows.Client is needed.
type Workflows interface {
	activities.Deliverer

	IsRunning(ctx context.Context, id string) (bool, error)
	ResumePayment(ctx context.Context, t *models.PaymentTransaction) error
	RunningFor(ctx context.Context, workflow string, before time.Time) ([]uuid.UUID, error)
	Terminate(ctx context.Context, id, reason string) error
}

// Options say what is asked.
type Options struct {
	Since time.Time     // the moment to which the books were restored, or from which on they may lack something
	Back  time.Duration // how long before it an attempt may have been opened that may have changed since
	// DryRun asks and changes nothing: neither the books, nor the gateways, nor the orchestrator.
	DryRun bool
	// CloseUnknown closes open checkouts at the gateways that the books have no attempt for.
	CloseUnknown bool
}

// Reconciler asks.
type Reconciler struct {
	Store     *store.Store
	Workflows Workflows
	Accounts  []Account
	Now       func() time.Time
	Log       *slog.Logger
}

// clockSkew is what a company's clock may differ from the database's.
const clockSkew = 5 * time.Minute

// batch is how many rows are read at once.
const batch = 200

// run is one reconciliation.
type run struct {
	*Reconciler

	how       Options
	from      time.Time // since then attempts of the books may have changed
	report    *Report
	answers   activities.Answers
	delivered map[uuid.UUID]bool // attempts of which an event was handed over
	seen      map[string]bool    // findings
}

// Run asks about everything, and reports what it asked, what it changed and what it cannot tell. Its error is that of the database, or of
// ctx: gateways and an orchestrator that do not answer are in the report.
func (r *Reconciler) Run(ctx context.Context, how Options) (*Report, error) {
	began := r.Now()
	one := &run{
		Reconciler: r, how: how, from: how.Since.Add(-how.Back), answers: activities.Answers{Store: r.Store, Now: r.Now},
		report:    &Report{Since: how.Since, From: how.Since.Add(-how.Back), Began: began, DryRun: how.DryRun},
		delivered: map[uuid.UUID]bool{}, seen: map[string]bool{},
	}

	for i := range r.Accounts {
		if err := one.account(ctx, &r.Accounts[i]); err != nil {
			return one.report, fmt.Errorf("reconcile %s: %w", r.Accounts[i].Name, err)
		}
	}

	if err := one.startMissing(ctx, began); err != nil {
		return one.report, err
	}

	var err error

	one.report.MessagesDue, one.report.OldestMessage, err = r.Store.Payments.MessagesDue(ctx, r.Now())
	one.report.Took = r.Now().Sub(began)

	return one.report, err
}

// account asks one gateway. Refunds come first: one that the gateway has made, and that these books do not know to be sent, would count as
// made outside of the service.
func (r *run) account(ctx context.Context, a *Account) error {
	sum := &AccountReport{
		Account: a.Name, Driver: a.Driver, ListsCheckouts: a.Checkouts != nil, ListsRefunds: a.Refunds != nil, Only: statementOnly(a),
	}
	r.report.Accounts = append(r.report.Accounts, sum)

	one := &asking{run: r, Account: a, sum: sum, limiter: rate.NewLimiter(rate.Limit(a.Rate), 1)}

	for _, step := range []func(context.Context) error{one.refunds, one.attempts, one.listedCheckouts, one.listedRefunds} {
		if err := step(ctx); err != nil {
			return err
		}
	}

	return nil
}

// deliver hands a stored event to its workflow. What the orchestrator does not take the sweep hands over later.
func (r *run) deliver(ctx context.Context, stored inbox.Stored) {
	if !stored.Deliver {
		return
	}

	r.delivered[stored.TransactionID] = true

	if err := r.Workflows.Deliver(ctx, stored.Delivery); err != nil {
		r.noteOrchestrator(ctx, err)
	}
}

func (r *run) noteOrchestrator(ctx context.Context, err error) {
	if r.report.Orchestrator == "" {
		r.Log.WarnContext(ctx, "Temporal did not take a workflow; the sweep hands it over later", "error", telemetry.Scrub(err.Error()))
	}

	r.report.Orchestrator = "Temporal did not answer: run the command again when it does"
}
