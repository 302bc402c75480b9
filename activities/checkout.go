package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rihla/gateways"
	"rihla/internal/store/payments"
	"rihla/models"
)

func (p *Payments) openCheckout(ctx context.Context, a models.Attempt) (c models.Checkout, err error) {
	t, fresh, err := p.Store.Payments.OpenPayment(ctx, a, p.Now)
	if err != nil {
		return models.Checkout{}, err
	}

	if wasCancelled(&t) {
		// It was cancelled while it was being opened: a try whose answer was lost may have left a checkout.
		return checkoutOf(&t), p.closeCheckout(ctx, &t)
	}

	if t.Status != models.TransactionPending || t.Reference != nil {
		return checkoutOf(&t), nil
	}

	if !p.Now().Before(t.ExpiresAt) {
		return checkoutOf(&t), nil // it cannot be paid any more: it expires, and the gateway is queried before it does
	}

	asked := time.Now()

	opened, refusal, err := p.createSomewhere(ctx, &t, fresh)
	if err != nil {
		return checkoutOf(&t), err
	}

	took := time.Since(asked)

	defer func() { c.GatewayTook = took }()

	settled, err := p.openingSettled(ctx, &t, fresh, refusal)
	if err != nil {
		return checkoutOf(&t), err
	}

	// A gateway that goes on saying that something is under way has nothing under way after SettleAfter.
	stuck := settled && gateways.KindOf(refusal) == gateways.KindInProgress

	if err = refusal; isFinal(refusal) || stuck {
		var none bool
		if opened, none, err = p.madeAllTheSame(ctx, &t, fresh, settled, refusal); none {
			return p.failUnopened(ctx, &t, models.FailureGatewayRejected, refusal.Error())
		}
	}

	if err != nil {
		return checkoutOf(&t), err
	}

	// The checkout of an earlier try may have been closed since; then the gateway repeats what it said when it made it.
	if !fresh && !p.leavesNothing(&t) && p.foundCanceled(ctx, &t) {
		return p.failUnopened(ctx, &t, models.FailureCancelled, "")
	}

	err = p.Store.Payments.SaveCheckout(ctx, t.ID, t.Channel, payments.OpenedCheckout{
		Reference: opened.ID, URL: opened.URL, PageData: opened.PageData,
	})
	if errors.Is(err, payments.ErrReferenceTaken) {
		return p.failUnopened(ctx, &t, models.FailureGatewayRejected, err.Error())
	}

	return checkoutOf(&t), err
}

// madeAllTheSame looks for a checkout that was refused: the answer of an earlier try may have been lost, and a gateway refuses the same
// key with another request: the trip may have got another title since. An attempt that counted as refused would leave a checkout behind
// that can be paid. So would one whose gateway refuses to say, unless this is the first try. none: there is no such checkout.
func (p *Payments) madeAllTheSame(
	ctx context.Context, t *models.PaymentTransaction, fresh, settled bool, refusal error,
) (opened gateways.Checkout, none bool, err error) {
	if p.leavesNothing(t) {
		return opened, isFinal(refusal), refusal
	}

	opened, err = p.findCheckout(ctx, t)
	switch kind := gateways.KindOf(err); {
	case kind == gateways.KindNotFound && !fresh && !settled:
		// An earlier request for it may still be under way, and would leave a checkout without an attempt.
		return opened, false, refusal
	case kind == gateways.KindNotFound || kind == gateways.KindRejected && fresh:
		return opened, true, nil
	default:
		return opened, false, err
	}
}

// leavesNothing reports that a checkout whose answer was lost can neither be found nor be paid, so that an answer is the last word.
func (p *Payments) leavesNothing(t *models.PaymentTransaction) bool {
	g, err := p.gateway(t.Channel.Account())

	return err == nil && g.Capabilities().Checkouts == gateways.SettledHarmlessly
}

// foundCanceled reports that the gateway says that the attempt's checkout was canceled.
func (p *Payments) foundCanceled(ctx context.Context, t *models.PaymentTransaction) bool {
	now, err := p.findCheckout(ctx, t)

	return err == nil && now.Status == gateways.CheckoutCanceled
}

// createSomewhere creates the checkout at the attempt's account, or at the backup if that takes none and nothing of the attempt has
// been sent there: fresh is the first try. err is the database's.
func (p *Payments) createSomewhere(
	ctx context.Context, t *models.PaymentTransaction, fresh bool,
) (opened gateways.Checkout, refusal, err error) {
	opened, refusal = p.createCheckout(ctx, t, fresh)
	if !fresh || !gateways.TakesNone(refusal) || !p.backupTakes(t) {
		return opened, refusal, nil
	}

	moved, err := p.Store.Payments.MoveToBackup(ctx, t)
	if err != nil || !moved {
		return opened, refusal, err
	}

	p.Log.WarnContext(ctx, "attempt opened at the backup account", "payment_id", t.ID, "account", t.Channel.Account(),
		"instead_of", t.Gateway.Primary(), "why", gateways.KindOf(refusal).String())

	opened, refusal = p.createCheckout(ctx, t, fresh)

	return opened, refusal, nil
}

// backupTakes reports whether the attempt's gateway has a backup account that could take this payment.
func (p *Payments) backupTakes(t *models.PaymentTransaction) bool {
	backup, ok := p.Gateways[t.Gateway.Backup()]
	if !ok || t.Channel.Account().IsBackup() {
		return false
	}

	can, ok := backup.Capabilities().Of(t.PaymentMethod)

	return ok && can.Takes(t.Amount)
}

// openingSettled keeps, about an opening without success, that it or an earlier one may still have its effect, and reports whether
// that has had its time. A first one that was refused has none.
func (p *Payments) openingSettled(ctx context.Context, t *models.PaymentTransaction, fresh bool, refusal error) (bool, error) {
	switch kind := gateways.KindOf(refusal); {
	case refusal == nil:
		return false, nil
	case kind == gateways.KindUnknown:
		_, err := p.Store.Payments.NoteOpeningAnswer(ctx, t.ID, models.SentUnknown, p.settleAfter())

		return false, errors.Join(refusal, err)
	case kind == gateways.KindInProgress:
		return p.Store.Payments.NoteOpeningAnswer(ctx, t.ID, models.SentConflict, p.settleAfter())
	case isFinal(refusal) && !fresh:
		return p.Store.Payments.NoteOpeningAnswer(ctx, t.ID, models.SentRefused, p.settleAfter())
	default:
		return false, nil
	}
}

// failUnopened ends an attempt that cannot be paid.
func (p *Payments) failUnopened(
	ctx context.Context, t *models.PaymentTransaction, why models.FailureCode, words string,
) (models.Checkout, error) {
	ended, err := p.Store.Payments.EndPayment(ctx, t.ID, why, words, p.Now())
	p.announce(ctx, t.ID, ended)

	return models.Checkout{Status: ended.Status, Failure: ended.Failure, ExpiresAt: t.ExpiresAt}, err
}

func wasCancelled(t *models.PaymentTransaction) bool {
	return t.FailureCode != nil && *t.FailureCode == models.FailureCancelled && t.CapturedAt == nil
}

// isFinal reports an answer that stays the same however often it is asked for: every 4xx but 429 (rules: gateways.outcomes).
func isFinal(err error) bool {
	kind := gateways.KindOf(err)

	return err != nil && (kind == gateways.KindRejected || kind == gateways.KindNotFound)
}

// createCheckout asks for a checkout. Where a repeated request would make another one, what an earlier try may have made is looked
// for first.
func (p *Payments) createCheckout(ctx context.Context, t *models.PaymentTransaction, fresh bool) (gateways.Checkout, error) {
	g, err := p.gateway(t.Channel.Account())
	if err != nil {
		return gateways.Checkout{}, err
	}

	if !fresh && g.Capabilities().Checkouts == gateways.SettledByReference {
		if made, err := p.findCheckout(ctx, t); gateways.KindOf(err) != gateways.KindNotFound || err == nil {
			return made, err
		}
	}

	var payer gateways.Payer

	if g.Capabilities().Payer {
		if payer.Name, payer.Email, err = p.Store.Payments.Payer(ctx, t); err != nil {
			return gateways.Checkout{}, err
		}
	}

	return g.CreateCheckout(ctx, gateways.CheckoutRequest{
		MerchantReference: t.ID, Payer: payer, Amount: t.Amount, Currency: t.Currency, Method: t.PaymentMethod,
		Description: t.Purchase.Name(), Details: t.Purchase.Details(), ReturnURL: t.ReturnAddress(),
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
	})
}

func (p *Payments) findCheckout(ctx context.Context, t *models.PaymentTransaction) (gateways.Checkout, error) {
	g, err := p.gateway(t.Channel.Account())
	if err != nil {
		return gateways.Checkout{}, err
	}

	ref := refOf(t)
	ref.ID = ""

	return g.ReadCheckout(ctx, ref)
}

func (p *Payments) gateway(account models.MerchantAccount) (gateways.Gateway, error) {
	g, ok := p.Gateways[account]
	if !ok {
		return nil, fmt.Errorf("no driver is configured for merchant account %s", account)
	}

	return g, nil
}

func checkoutOf(t *models.PaymentTransaction) models.Checkout {
	c := models.Checkout{Status: t.Status, ExpiresAt: t.ExpiresAt}
	if t.FailureCode != nil {
		c.Failure = *t.FailureCode
	}

	return c
}
