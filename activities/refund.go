package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/internal/telemetry"
	"rihla/models"
)

// ReserveRefund promises the amount out of its payment (store.ReserveRefund).
func (p *Payments) ReserveRefund(ctx context.Context, r models.RefundRequest) (models.ReservedRefund, error) {
	reserved, err := p.Store.ReserveRefund(ctx, r, p.Now())

	return reserved, asActivityError(err)
}

// errUndecided makes Temporal ask again: the gateway has accepted the refund and not decided it.
var errUndecided = errors.New("the gateway has not decided the refund yet")

// RefundAtGateway gets the refund's money moving, or learns what has become of it. After an unknown outcome the
// gateway is asked by the refund's id before anything is sent again, and whatever is sent again carries the same key,
// so that no money can go back twice. A refusal is a result, not an error. So is a gateway that is not being asked for
// now.
func (p *Payments) RefundAtGateway(ctx context.Context, id uuid.UUID) (models.RefundResult, error) {
	defer alive(ctx)()

	result, err := p.refundAtGateway(ctx, id)
	if isAway(err) {
		return models.RefundResult{Status: models.RefundPending, Delayed: true}, nil
	}

	return result, asActivityError(err)
}

// AwaitRefund is RefundAtGateway when nobody waits for it any more: it goes on until the gateway is back.
func (p *Payments) AwaitRefund(ctx context.Context, id uuid.UUID) (models.RefundResult, error) {
	defer alive(ctx)()

	result, err := p.refundAtGateway(ctx, id)

	return result, asActivityError(err)
}

func (p *Payments) refundAtGateway(ctx context.Context, id uuid.UUID) (models.RefundResult, error) {
	r, err := p.Store.RefundByID(ctx, id)
	if err != nil {
		return models.RefundResult{}, err
	}

	if r.Channel != models.RefundByGateway { // whoever asks for that does not know what a refund by hand is
		return models.RefundResult{}, models.Errorf(models.CodeInvalidState, "The refund is paid out by hand.")
	}

	t, err := p.Store.TransactionByID(ctx, r.PaymentTransactionID)
	if err != nil {
		return models.RefundResult{}, err
	}

	g, err := p.gateway(t.Gateway)
	if err != nil {
		return models.RefundResult{}, err
	}

	sent, err := g.FindRefund(ctx, id)
	if gateways.KindOf(err) == gateways.KindNotFound {
		sent, err = g.CreateRefund(ctx, gateways.RefundRequest{
			CheckoutID: *t.Reference, MerchantReference: id, Amount: r.Amount, Currency: r.Currency, Reason: "refund " + id.String(),
		})
		// Only the refusal of the refund itself is one: a status query that is refused says nothing about the money. And it is none
		// if the refund is there all the same: a gateway may still have been at an earlier request for it.
		if refusal := err; isFinal(refusal) {
			if sent, err = g.FindRefund(ctx, id); gateways.KindOf(err) == gateways.KindNotFound {
				result := models.RefundResult{Status: models.RefundFailed, FailureReason: codeOf(refusal)}

				return p.refused(ctx, id, result, refusal.Error())
			}
		}
	}

	if err != nil {
		return models.RefundResult{}, err
	}

	return p.refundResult(ctx, &r, sent)
}

func (p *Payments) refundResult(ctx context.Context, r *models.Refund, sent gateways.Refund) (models.RefundResult, error) {
	result := models.RefundResult{GatewayRefundID: sent.ID}

	if !sent.Amount.Equal(r.Amount) || sent.Currency != r.Currency {
		return result, fmt.Errorf("the gateway reports another amount for refund %s", r.ID)
	}

	switch sent.Status {
	case gateways.RefundSucceeded:
		result.Status = models.RefundSucceeded
	case gateways.RefundFailed:
		result.Status, result.FailureReason = models.RefundFailed, "its words are with the refund"

		return p.refused(ctx, r.ID, result, sent.FailureReason)
	case gateways.RefundPending:
		result.Status = models.RefundPending

		return result, p.Store.SaveGatewayRefund(ctx, r.ID, sent.ID)
	default:
		return result, errUndecided
	}

	return result, nil
}

// refused puts what the gateway said into the database: it may name the customer, and what an activity returns is in the
// history for good. SettleRefund finds it there.
func (p *Payments) refused(ctx context.Context, id uuid.UUID, r models.RefundResult, words string) (models.RefundResult, error) {
	return r, p.Store.SaveRefundWords(ctx, id, words)
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
}

// SettleRefund applies the gateway's decision (store.SettleRefund).
func (p *Payments) SettleRefund(ctx context.Context, d RefundDecision) (models.SettledRefund, error) {
	s, err := p.Store.SettleRefund(ctx, d.RefundID, d.Result, p.Now())
	if s.Queued > 0 {
		p.Queued()
	}

	return s, asActivityError(err)
}
