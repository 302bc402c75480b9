package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/internal/inbox"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/models"
)

// ReadRefundOrder is the order of a refund (store.OrderedRefund). Error: NOT_FOUND without an order.
func (p *Payments) ReadRefundOrder(ctx context.Context, o models.RefundOrder) (models.ReservedRefund, error) {
	ordered, err := p.Store.Refunds.OrderedRefund(ctx, o.ID)

	return ordered, asActivityError(err)
}

// ReserveRefund is ReadRefundOrder for runs that began when refunds were reserved by their workflow: what was answered to
// their requesters is ordered, and the sweep orders what is owed.
func (p *Payments) ReserveRefund(ctx context.Context, o models.RefundOrder) (models.ReservedRefund, error) {
	return p.ReadRefundOrder(ctx, o)
}

// ReportUnorderedRefund opens an incident about a refund workflow without an order.
func (p *Payments) ReportUnorderedRefund(ctx context.Context, id uuid.UUID) error {
	return asActivityError(p.Store.Refunds.ReportUnorderedRefund(ctx, id))
}

// OrderLateRefund orders the refund of money that came too late (store.OrderLateRefund). ordered is false when there is
// nothing to give back.
func (p *Payments) OrderLateRefund(ctx context.Context, transaction uuid.UUID) (ordered bool, err error) {
	_, err = p.Store.Refunds.OrderLateRefund(ctx, transaction, p.Now())
	if _, refused := errors.AsType[*models.Error](err); refused {
		return false, nil
	}

	return err == nil, asActivityError(err)
}

// errUndecided makes Temporal ask again: the gateway has accepted the refund and not decided it.
var errUndecided = errors.New("the gateway has not decided the refund yet")

// errUnsettled makes Temporal ask again: what was sent may still have its effect.
var errUnsettled = errors.New("the gateway does not know the refund yet; an earlier request may still take effect")

// errDisputed makes Temporal ask again: the customer's bank has taken the money back, and the refund waits until the dispute is over.
var errDisputed = errors.New("the payment is disputed: the refund waits until the dispute is won or its incident is resolved")

// RefundAtGateway gets the refund's money moving, or learns what has become of it. The gateway is asked by the refund's id
// before anything is sent, and whatever is sent again carries the same key, so that no money can go back twice. A refund
// counts as refused when its only sending was refused, or when the gateway has not known it for SettleAfter since the last
// one: until then neither a refusal nor "not found" says that an earlier sending has no effect. A refusal is a result, not
// an error. So is a gateway that is not being asked for now.
func (p *Payments) RefundAtGateway(ctx context.Context, id uuid.UUID) (models.RefundResult, error) {
	defer heartbeat(ctx)()

	result, err := p.refundAtGateway(ctx, id)
	if isUnavailable(err) {
		return models.RefundResult{Status: models.RefundPending, Delayed: true}, nil
	}

	return result, asActivityError(err)
}

// TryRefund is RefundAtGateway for the first try, which is a local activity and may be cut off: only at a gateway where the same request
// again has the same result. Error when the gateway is another one or no slot is free, and when the try did not come through:
// RefundAtGateway goes on then.
func (p *Payments) TryRefund(ctx context.Context, id uuid.UUID, gateway models.Gateway) (models.RefundResult, error) {
	if !p.repeatsRefunds(gateway) {
		return models.RefundResult{}, errNotCutOff
	}

	if slots := p.FirstTries[gateway]; slots != nil {
		if !slots.TryAcquire(1) {
			return models.RefundResult{}, errNoSlot
		}
		defer slots.Release(1)
	}

	return p.RefundAtGateway(ctx, id)
}

// repeatsRefunds reports that a refund whose answer is lost can be sent again at once, at each account of the gateway.
func (p *Payments) repeatsRefunds(gateway models.Gateway) bool {
	for _, account := range []models.MerchantAccount{gateway.Primary(), gateway.Backup()} {
		if g, ok := p.Gateways[account]; ok && g.Capabilities().Refunds != gateways.SettledByKey {
			return false
		}
	}

	return true
}

// AwaitRefund is RefundAtGateway without a client that waits: it goes on until the gateway is back.
func (p *Payments) AwaitRefund(ctx context.Context, id uuid.UUID) (models.RefundResult, error) {
	defer heartbeat(ctx)()

	result, err := p.refundAtGateway(ctx, id)

	return result, asActivityError(err)
}

func (p *Payments) refundAtGateway(ctx context.Context, id uuid.UUID) (models.RefundResult, error) {
	r, err := p.Store.Refunds.RefundByID(ctx, id)
	if err != nil {
		return models.RefundResult{}, err
	}

	if r.Channel != models.RefundByGateway { // a manual payout has no gateway
		return models.RefundResult{}, models.NewError(models.CodeInvalidState, "refund.by_hand")
	}

	if held, err := p.heldBack(ctx, &r); held || err != nil {
		return unapproved, err
	}

	t, err := p.Store.Payments.TransactionByID(ctx, r.PaymentTransactionID)
	if err != nil {
		return models.RefundResult{}, err
	}

	g, err := p.gateway(t.Channel.Account())
	if err != nil {
		return p.withoutAccount(ctx, id, t.Channel.Account(), err)
	}

	if err := p.noteAccountBack(ctx, &r); err != nil {
		return models.RefundResult{}, err
	}

	ref := refundRefOf(&r, &t)

	sent, err := p.readSentRefund(ctx, g, &r, ref)
	if gateways.KindOf(err) == gateways.KindNotFound {
		if ok, err := p.fits(ctx, &r, &t, g); err != nil || !ok {
			return takenBackOutside, err
		}

		if r.Sends > 0 {
			if refused, err := p.Store.Refunds.GiveUpRefund(ctx, id, p.settleAfter()); err != nil || refused {
				return rejectedEarlier, err
			}
		}

		sent, err = p.sendRefund(ctx, g, ref)
	}

	switch {
	case errors.Is(err, errRejected):
		return models.RefundResult{Status: models.RefundFailed, FailureReason: codeOf(err)}, nil
	case err != nil:
		return models.RefundResult{}, err
	default:
		return p.refundResult(ctx, &r, &t, sent)
	}
}

// withoutAccount notes that the account of a refund has no driver, and gives the refund's result: it fails once the account counts as gone,
// and missing is the error until then.
func (p *Payments) withoutAccount(
	ctx context.Context, id uuid.UUID, account models.MerchantAccount, missing error,
) (models.RefundResult, error) {
	gone, noted := p.Store.Refunds.AccountGone(ctx, id, account)
	if noted != nil || !gone {
		return models.RefundResult{}, errors.Join(missing, noted)
	}

	return accountGone, nil
}

// noteAccountBack takes back that the account of a refund was missing, unless the refund is refused.
func (p *Payments) noteAccountBack(ctx context.Context, r *models.Refund) error {
	if r.AccountGoneAt == nil || r.RefusedAt != nil {
		return nil
	}

	return p.Store.Refunds.AccountBack(ctx, r.ID)
}

// accountGone is the result of a refund whose account is not configured any more.
var accountGone = models.RefundResult{Status: models.RefundFailed, FailureReason: "the account that took the payment is not configured"}

// errUnapproved makes Temporal ask again: the refund waits for its approval.
var errUnapproved = errors.New("the refund is not approved")

// heldBack keeps a refund from its gateway that is not approved. A workflow of this version does not come here with one; a run that a
// worker that predates approvals has begun waits here, by trying again.
func (p *Payments) heldBack(ctx context.Context, r *models.Refund) (held bool, err error) {
	if !r.ApprovalPending && r.IsApproved() {
		return false, nil
	}

	settled, err := p.Store.Refunds.SettleRefund(ctx, r.ID, models.RefundResult{Status: models.RefundPending}, p.Now())

	switch {
	case err != nil:
		return true, err
	case settled.Status == models.RefundFailed:
		return true, nil
	case settled.Approval == models.ApprovalApproved:
		return false, nil
	default:
		return true, errUnapproved
	}
}

// unapproved is the result of a refund that was not approved: settling it once more changes nothing.
var unapproved = models.RefundResult{Status: models.RefundFailed, FailureReason: "not approved"}

// refundResult is what the gateway's answer about the refund r of t comes to. A decision is stored as an event first, as if a
// webhook had brought it: it is the proof of what is settled by it.
func (p *Payments) refundResult(
	ctx context.Context, r *models.Refund, t *models.PaymentTransaction, sent gateways.Refund,
) (models.RefundResult, error) {
	result := models.RefundResult{GatewayRefundID: sent.ID}

	if !sent.Amount.Equal(r.Amount) || !models.SameCurrency(sent.Currency, r.Currency) || sent.CheckoutID != *t.Reference {
		result.Status, result.Mismatch = models.RefundPending, true

		return result, p.Store.Refunds.ReportRefundMismatch(ctx, r, map[string]any{
			"gateway_refund_id": sent.ID, "checkout_id": sent.CheckoutID, "amount": sent.Amount, "currency": sent.Currency, "status": sent.Status,
		})
	}

	switch sent.Status {
	case gateways.RefundSucceeded:
		result.Status = models.RefundSucceeded

		return result, p.recordRefund(ctx, r, t, sent, models.EventRefundSucceeded)
	case gateways.RefundFailed:
		result.Status, result.FailureReason = models.RefundFailed, reasonStored
		if err := p.recordRefund(ctx, r, t, sent, models.EventRefundFailed); err != nil {
			return result, err
		}

		return result, p.Store.Refunds.SaveRefundWords(ctx, r.ID, sent.FailureReason)
	case gateways.RefundPending:
		result.Status = models.RefundPending

		return result, p.Store.Refunds.SaveGatewayRefund(ctx, r.ID, sent.ID)
	default:
		return result, errUndecided
	}
}

// recordRefund stores what the gateway answered about a refund.
func (p *Payments) recordRefund(
	ctx context.Context, r *models.Refund, t *models.PaymentTransaction, sent gateways.Refund, kind models.EventType,
) error {
	_, err := storeRefundAnswer(ctx, p.Store, r, t, sent, kind, p.Now())

	return err
}

func storeRefundAnswer(
	ctx context.Context, s *store.Store, r *models.Refund, t *models.PaymentTransaction, sent gateways.Refund, kind models.EventType,
	now time.Time,
) (inbox.Stored, error) {
	return s.Inbox.StoreEvent(ctx, models.WebhookEvent{
		ID:                models.NewID(),
		Channel:           t.Channel,
		WebhookID:         models.PolledRefundEventID(r.ID, string(sent.Status)),
		Type:              kind,
		CheckoutID:        sent.CheckoutID,
		MerchantReference: r.ID.String(),
		Amount:            &sent.Amount,
		Currency:          models.CurrencyCode(sent.Currency),
		PaymentMethod:     t.Method(),
		FailureReason:     sent.FailureReason,
		GatewayRefundID:   sent.ID,
		OccurredAt:        now,
		Revises:           kind == models.EventRefundFailed && r.Status == models.RefundSucceeded,
	}, now)
}

// codeOf is the machine code of a gateway's refusal.
func codeOf(err error) string {
	if e, ok := errors.AsType[*gateways.Error](err); ok {
		return telemetry.Scrub(e.Code)
	}

	return ""
}

// RefundDecision is what SettleRefund applies.
type RefundDecision struct {
	RefundID uuid.UUID           `json:"refund_id"`
	Result   models.RefundResult `json:"result"`
	// At is the workflow's time when it asks for what was decided about an approval. By the clock that is ahead of the two the wait
	// is over: by a worker's clock that is behind alone, the timer would end again and again.
	At time.Time `json:"at,omitzero"`
}

// SettleRefund applies the gateway's decision, or that about the refund's approval (store.SettleRefund).
func (p *Payments) SettleRefund(ctx context.Context, d RefundDecision) (models.SettledRefund, error) {
	now := p.Now()
	if d.At.After(now) {
		now = d.At
	}

	s, err := p.Store.Refunds.SettleRefund(ctx, d.RefundID, d.Result, now)
	if s.Queued > 0 {
		p.Queued()
	}

	if s.NeedsReview {
		p.Log.WarnContext(ctx, "incident opened for refund", "refund_id", d.RefundID, "workflow_id", workflowOf(ctx),
			"status", s.Status)
	}

	if s.Status == models.RefundSucceeded {
		p.moved(models.RefundTransactionID(d.RefundID))
	}

	p.ended(s.Withdrawn)

	return s, asActivityError(err)
}
