package activities

import (
	"cmp"
	"context"
	"errors"
	"time"

	"rihla/gateways"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// DefaultSettleAfter is Payments.SettleAfter unless it is set.
const DefaultSettleAfter = 2 * time.Minute

// readSentRefund reads the refund. One that was never sent cannot be told by sums: then the gateway is not asked.
func (p *Payments) readSentRefund(
	ctx context.Context, g gateways.Gateway, r *models.Refund, ref gateways.RefundRef,
) (gateways.Refund, error) {
	if r.Sends == 0 && g.Capabilities().Refunds == gateways.SettledBySum {
		return gateways.Refund{}, &gateways.Error{Kind: gateways.KindNotFound, Code: "never_sent"}
	}

	sent, err := g.ReadRefund(ctx, ref)
	if err == nil && r.Sends == 0 {
		// These books have lost its sending: they are older than what happened. It is no refund that was made outside of the service.
		_, err = p.Store.Refunds.NoteSentBefore(ctx, r.ID, nil)
	}

	return sent, err
}

// refundRefOf names the refund r of t. A refund whose id at the gateway is known is read by it.
func refundRefOf(r *models.Refund, t *models.PaymentTransaction) gateways.RefundRef {
	ref := gateways.RefundRef{MerchantReference: r.ID, Checkout: refOf(t), Amount: r.Amount, Currency: r.Currency}
	if r.GatewayRefundID != nil {
		ref.ID = *r.GatewayRefundID
	}

	if r.RefundedBefore != nil {
		ref.RefundedBefore = *r.RefundedBefore
	}

	return ref
}

// rejectedEarlier is the result of a refund whose refusal was noted by an earlier try.
var rejectedEarlier = models.RefundResult{Status: models.RefundFailed, FailureReason: reasonStored}

// reasonStored stands where the gateway's words would: they may name the customer, and this is in the history for good.
const reasonStored = "the gateway's reason is stored with the refund"

// errRejected says that the gateway has refused the refund for good; the gateway's error is around it.
var errRejected = errors.New("refused for good")

// noteFor is how long a try that was cut off may take to note what it has sent.
const noteFor = 2 * time.Second

// sendRefund sends the refund, if it may be sent now, and notes how that is answered before anybody acts on it.
func (p *Payments) sendRefund(ctx context.Context, g gateways.Gateway, r gateways.RefundRef) (gateways.Refund, error) {
	id := r.MerchantReference

	send, before, err := p.Store.Refunds.BeginRefundSend(ctx, id, p.sendRules(g))
	if models.CodeOf(err) == models.CodePaymentDisputed {
		return gateways.Refund{}, errDisputed
	}

	if err != nil || send == 0 {
		return gateways.Refund{}, cmp.Or(err, errUnsettled)
	}

	if before != nil {
		r.RefundedBefore = *before
	}

	sent, err := g.CreateRefund(ctx, gateways.RefundRequest{
		Checkout: r.Checkout, MerchantReference: id, Amount: r.Amount, Currency: r.Currency, Reason: "refund " + id.String(),
		RefundedBefore: r.RefundedBefore,
	})
	if err == nil {
		return sent, nil
	}

	// A try that was cut off notes it all the same: otherwise the next one would have to wait until its lease is over.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteFor)
	defer cancel()

	switch gateways.KindOf(err) {
	case gateways.KindNotSent, gateways.KindRateLimited, gateways.KindUnreachable, gateways.KindUnauthorized:
		return sent, errors.Join(err, p.Store.Refunds.CancelRefundSend(noting, id, send))
	case gateways.KindInProgress:
		if e, ok := errors.AsType[*gateways.Error](err); ok && send == 1 && e.Code == gateways.CodeRefundedMeanwhile {
			// Nothing was sent, and nothing had been: the gateway gave something back since it was asked. It is compared anew.
			return sent, errors.Join(err, p.Store.Refunds.CancelRefundSend(noting, id, send))
		}

		return sent, errors.Join(err, p.Store.Refunds.NoteRefundAnswer(noting, id, send, models.SentConflict, err.Error()))
	case gateways.KindRejected, gateways.KindNotFound:
		if noted := p.Store.Refunds.NoteRefundAnswer(noting, id, send, models.SentRefused, err.Error()); noted != nil {
			return sent, noted
		}

		return p.confirmRejection(ctx, g, r, err)
	default:
		return sent, errors.Join(err, p.Store.Refunds.NoteRefundAnswer(noting, id, send, models.SentUnknown, ""))
	}
}

// sendRules follow from how the gateway settles a lost answer.
func (p *Payments) sendRules(g gateways.Gateway) refunds.SendRules {
	rules, can := refunds.SendRules{Settle: p.settleAfter()}, g.Capabilities()
	if can.Refunds != gateways.SettledByKey {
		// The gateway was asked and does not know it. It may not know it yet.
		rules.Again = max(can.SearchLag, p.settleAfter())
	}

	rules.BySum = can.Refunds == gateways.SettledBySum

	return rules
}

// confirmRejection asks once more before a refusal counts: a gateway may have made the refund all the same, and may still be at
// an earlier request for it.
func (p *Payments) confirmRejection(
	ctx context.Context, g gateways.Gateway, r gateways.RefundRef, refusal error,
) (gateways.Refund, error) {
	sent, err := g.ReadRefund(ctx, r)
	if gateways.KindOf(err) != gateways.KindNotFound {
		return sent, err
	}

	refused, err := p.Store.Refunds.GiveUpRefund(ctx, r.MerchantReference, p.settleAfter())

	switch {
	case err != nil:
		return sent, err
	case refused:
		return sent, errors.Join(refusal, errRejected)
	default:
		return sent, errUnsettled
	}
}

func (p *Payments) settleAfter() time.Duration { return cmp.Or(p.SettleAfter, DefaultSettleAfter) }
