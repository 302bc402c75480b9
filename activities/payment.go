package activities

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/semaphore"

	"rihla/gateways"
	"rihla/internal/inbox"
	"rihla/internal/store"
	"rihla/internal/store/incidents"
	"rihla/internal/store/payments"
	"rihla/models"
)

// Payments are the steps of a payment attempt and of a refund.
type Payments struct {
	Store    *store.Store
	Gateways map[models.MerchantAccount]gateways.Gateway
	Now      func() time.Time
	Log      *slog.Logger
	// AskFor is how long a gateway is queried about an expired attempt before an incident is opened; zero: the workflow knows.
	AskFor time.Duration
	// SettleAfter is how long a gateway is asked about a refund that it does not know, after a sending whose outcome is
	// unknown, before the refund counts as not made; zero: DefaultSettleAfter.
	SettleAfter time.Duration
	// FirstTries are the slots for TryCheckout and TryRefund of each gateway; a gateway without an entry has as many as are asked for.
	FirstTries map[models.Gateway]*semaphore.Weighted
	// Queued is called when the outbox has new rows; it must not block.
	Queued func()
	// Decided is called with the booking of every attempt that has ended, once or more often; it must not block. May be nil.
	Decided func(booking uuid.UUID)
	// Money is called with every transaction that has moved money, and with some that have not, once or more often; it must not block.
	// May be nil.
	Money func(transaction uuid.UUID)
	// Withdrawn is called with every cancellation request that ended with its booking, so that its workflow looks at it; it must not block.
	// May be nil.
	Withdrawn func(request uuid.UUID)
	// Settled is called for every attempt that has moved to a state; for metrics.
	Settled func(models.Settled)
}

// OpenCheckout writes the attempt's PENDING row, creates the checkout at the gateway under the attempt's id as
// idempotency key, and saves the gateway's reference. A checkout that the gateway refuses for good ends the attempt
// as FAILED, GATEWAY_REJECTED; that is a result, not an error. So is a gateway that is not being asked for now.
func (p *Payments) OpenCheckout(ctx context.Context, a models.Attempt) (models.Checkout, error) {
	defer heartbeat(ctx)()

	c, err := p.openCheckout(ctx, a)
	c.AskFor = p.AskFor

	if c.Status == models.TransactionPending && isUnavailable(err) {
		c.Delayed = true

		return c, nil
	}

	return c, asActivityError(err)
}

// TryCheckout is OpenCheckout for the first try, which is a local activity: a gateway that is slow must not fill the slots that settling
// needs, so that it has a bounded number of them. Error when none is free, and when the try did not come through: OpenCheckout goes on
// then.
func (p *Payments) TryCheckout(ctx context.Context, a models.Attempt) (models.Checkout, error) {
	if slots := p.FirstTries[a.Method.Gateway()]; slots != nil {
		if !slots.TryAcquire(1) {
			return models.Checkout{}, errNoSlot
		}
		defer slots.Release(1)
	}

	return p.OpenCheckout(ctx, a)
}

// AwaitCheckout is OpenCheckout without a client that waits: it goes on until the gateway is back.
func (p *Payments) AwaitCheckout(ctx context.Context, a models.Attempt) (models.Checkout, error) {
	defer heartbeat(ctx)()

	c, err := p.openCheckout(ctx, a)
	c.AskFor = p.AskFor

	return c, asActivityError(err)
}

// ReportOutage opens an incident about an attempt whose gateway does not say whether it was paid.
func (p *Payments) ReportOutage(ctx context.Context, id uuid.UUID) error {
	return asActivityError(p.Store.Payments.ReportOutage(ctx, id))
}

// SettlePayment applies the stored events of the attempt (store.SettlePayment).
func (p *Payments) SettlePayment(ctx context.Context, id uuid.UUID) (models.Settled, error) {
	// Of money that came too late not the attempt's own workflow tells the story, but the one that has heard of it.
	if activity.IsActivity(ctx) {
		ctx = incidents.InWorkflow(ctx, activity.GetInfo(ctx).WorkflowExecution.ID)
	}

	s, err := p.Store.Payments.SettlePayment(ctx, id, p.Now())

	return p.announce(ctx, id, s), asActivityError(err)
}

// End says why an attempt ends without money.
type End struct {
	TransactionID uuid.UUID          `json:"transaction_id"`
	Why           models.FailureCode `json:"why"`
}

// EndPayment ends an attempt that is unpaid (store.EndPayment).
func (p *Payments) EndPayment(ctx context.Context, e End) (models.Settled, error) {
	s, err := p.Store.Payments.EndPayment(ctx, e.TransactionID, e.Why, "", p.Now())

	return p.announce(ctx, e.TransactionID, s), asActivityError(err)
}

func (p *Payments) announce(ctx context.Context, id uuid.UUID, s models.Settled) models.Settled {
	if s.NeedsReview {
		p.Log.WarnContext(ctx, "incident opened for payment", "payment_id", id, "workflow_id", workflowOf(ctx),
			"status", s.Status, "failure", s.Failure, "gateway", s.Gateway, "refund_owed", s.RefundOwed)
	}

	if s.Queued > 0 {
		p.Queued()
	}

	// By the state and not by the move: a worker that was killed after the commit has not said so.
	if s.Final() && s.Booking != uuid.Nil && p.Decided != nil {
		p.Decided(s.Booking)
	}

	if s.Status == models.TransactionPaid {
		p.moved(id)
	}

	if s.Moved && p.Settled != nil {
		p.Settled(s)
	}

	return s
}

// moved has dashboards told of a transaction.
func (p *Payments) moved(transaction uuid.UUID) {
	if p.Money != nil {
		p.Money(transaction)
	}
}

// CloseCheckout makes sure that the attempt cannot be paid any more, unless it has been paid: an attempt may have ended
// in the database first, as that of a booking which was cancelled has. What it finds at the gateway, a payment whose
// webhook was lost above all, it stores as an event for SettlePayment; it decides nothing itself. It does
// not succeed before the gateway has said how the checkout stands.
func (p *Payments) CloseCheckout(ctx context.Context, id uuid.UUID) error {
	defer heartbeat(ctx)()

	t, err := p.Store.Payments.TransactionByID(ctx, id)
	if models.CodeOf(err) == models.CodeNotFound {
		return nil // the attempt was never opened
	}

	if err != nil || t.TakenAt() != nil {
		return asActivityError(err)
	}

	return asActivityError(p.closeCheckout(ctx, &t))
}

func (p *Payments) closeCheckout(ctx context.Context, t *models.PaymentTransaction) error {
	g, err := p.gateway(t.Channel.Account())
	if err != nil {
		return err
	}

	c, err := g.ReadCheckout(ctx, refOf(t))
	if gateways.KindOf(err) == gateways.KindNotFound {
		// The gateway never heard of it, or its search lags behind: a checkout that turns up later is closed, or its money is
		// given back, when the attempt is asked about after its end.
		return nil
	}

	if err == nil {
		c, err = cancelOpenCheckout(ctx, g, t, c)
	}

	if err != nil {
		return err
	}

	if c.Status == gateways.CheckoutOpen && !g.Capabilities().Cancel {
		return nil // it can be paid until the company ends it, and is asked about until then like all that came too late
	}

	if c.Status == gateways.CheckoutOpen {
		return fmt.Errorf("the gateway keeps checkout %s open", c.ID)
	}

	_, err = recordAnswer(ctx, p.Store, t, c, p.Now())

	return err
}

// cancelOpenCheckout cancels the checkout if it is open, and returns how it stands then. It may be paid before the
// cancellation arrives: the gateway rejects that, and is read again.
func cancelOpenCheckout(
	ctx context.Context, g gateways.Gateway, t *models.PaymentTransaction, c gateways.Checkout,
) (gateways.Checkout, error) {
	if c.Status != gateways.CheckoutOpen || !g.Capabilities().Cancel {
		return c, nil
	}

	ref := refOf(t)
	ref.ID = c.ID // it may not be saved yet

	now, err := g.CancelCheckout(ctx, ref)
	if kind := gateways.KindOf(err); kind == gateways.KindRejected || kind == gateways.KindInProgress {
		return g.ReadCheckout(ctx, ref)
	}

	return now, err
}

// recordAnswer stores what the gateway answered as an event, from where on it goes the way of a webhook. A checkout that is
// open or was closed without money leaves none: the closing step records its reason.
func recordAnswer(
	ctx context.Context, s *store.Store, t *models.PaymentTransaction, c gateways.Checkout, now time.Time,
) (inbox.Stored, error) {
	var kind models.EventType

	switch c.Status {
	case gateways.CheckoutPaid:
		kind = models.EventPaymentSucceeded
	case gateways.CheckoutFailed:
		kind = models.EventPaymentFailed
	case gateways.CheckoutOpen:
		if c.FailureReason != "" { // a try was declined, and the customer may try again
			return inbox.Stored{}, s.Inbox.StoreDecline(ctx, t, c.PaymentID, payments.Decline{
				At: now, ResultCode: c.ResultCode, Reason: c.FailureReason,
			})
		}

		return inbox.Stored{}, nil
	default:
		return inbox.Stored{}, nil
	}

	// The first answer "paid" is the event; the gateway's own time, where it gives one, is that of the payment.
	at := now
	if c.PaidAt != nil {
		at = *c.PaidAt
	}

	if len(c.Others) > 0 || c.RefundedAmount.IsPositive() { // paid twice, or given back, before it was settled
		if err := s.Payments.ExpectComparison(ctx, t.ID, now); err != nil {
			return inbox.Stored{}, err
		}
	}

	return s.Inbox.StoreEvent(ctx, models.WebhookEvent{
		ID:                models.NewID(),
		Channel:           t.Channel,
		WebhookID:         models.PolledEventID(t, string(c.Status)),
		Type:              kind,
		CheckoutID:        c.ID,
		MerchantReference: t.ID.String(),
		Amount:            &c.Amount,
		Currency:          strings.ToUpper(c.Currency), // as of a webhook
		PaymentMethod:     cmp.Or(c.Method, t.PaymentMethod),
		ResultCode:        c.ResultCode,
		FailureReason:     c.FailureReason,
		OccurredAt:        at,
		GatewayPaymentID:  c.PaymentID,
	}, now)
}
