package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"rihla/gateways"
	"rihla/internal/store"
	"rihla/internal/store/payments"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// errCompareAgain makes Temporal ask again: a refund of the payment went on while the gateway was asked, which is no fault.
var errCompareAgain = temporal.NewApplicationErrorWithOptions(
	"A refund of the payment changed while the gateway was asked.", "COMPARE_AGAIN",
	temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})

// ComparePayment asks the gateway what it has given back of the payment, and keeps what differs from our books. An answer of the last 30
// seconds will do, unless something was heard since. Of a payment of which nothing was taken it does nothing.
func (p *Payments) ComparePayment(ctx context.Context, id uuid.UUID) error {
	defer heartbeat(ctx)()

	t, err := p.Store.Payments.TransactionByID(ctx, id)
	if err != nil {
		return asActivityError(err)
	}

	if !t.NeedsComparison(p.Now()) {
		return nil
	}

	g, err := p.gateway(t.Channel.Account())
	if err != nil {
		return asActivityError(err)
	}

	compared, err := comparePayment(ctx, p.Store, g, &t)
	if err == nil && compared.Changed {
		err = errCompareAgain
	}

	return asActivityError(err)
}

// comparePayment asks the gateway about a payment that it has taken. A gateway that knows nothing of it, or does not say what it has
// given back, proves nothing.
func comparePayment(ctx context.Context, s *store.Store, g gateways.Gateway, t *models.PaymentTransaction) (refunds.Compared, error) {
	mark, err := s.Refunds.BeginComparison(ctx, t.ID)
	if err != nil {
		return refunds.Compared{}, err
	}

	c, err := g.ReadCheckout(ctx, refOf(t))
	if err == nil && c.Status == gateways.CheckoutPaid {
		if err := takenAgain(ctx, s, t, c); err != nil {
			return refunds.Compared{}, err
		}
	}

	answered := t.RecheckAt
	if c.OthersUnread {
		answered = nil // the question stays due
	}

	switch kind := gateways.KindOf(err); {
	case err == nil && c.Status == gateways.CheckoutPaid && !c.RefundsUnread:
		return s.Refunds.CompareRefunded(ctx, t.ID, mark, answered, refunds.GatewaySums{
			Refunded: c.RefundedAmount, Currency: c.Currency, Lag: g.Capabilities().SearchLag,
		})
	case err == nil && c.RefundsUnread:
		return refunds.Compared{}, errRefundsUnread
	case err == nil, kind == gateways.KindNotFound, kind == gateways.KindRejected:
		return refunds.Compared{}, s.Payments.CompleteRecheck(ctx, t.ID, t.RecheckAt)
	default:
		return refunds.Compared{}, err
	}
}

// takenAgain books what the gateway took for the checkout besides, and orders that it goes back. The sweep starts the refunds, and orders
// those that a killed worker did not.
func takenAgain(ctx context.Context, s *store.Store, t *models.PaymentTransaction, c gateways.Checkout) error {
	if t.Kind != models.KindPayment || len(c.Others) == 0 {
		return nil
	}

	added, err := s.Payments.NoteSecondDebits(ctx, t.ID, secondDebitsOf(c))
	if err != nil {
		return err
	}

	for _, debit := range added {
		_, err := s.Refunds.OrderLateRefund(ctx, debit, time.Now())
		if _, refused := errors.AsType[*models.Error](err); err != nil && !refused {
			return err
		}
	}

	return nil
}

func secondDebitsOf(c gateways.Checkout) []payments.SecondDebit {
	all := make([]payments.SecondDebit, len(c.Others))
	for i, d := range c.Others {
		all[i] = payments.SecondDebit{GatewayPaymentID: d.PaymentID, Amount: d.Amount, Currency: d.Currency, PaidBy: d.Method, TakenAt: d.PaidAt}
	}

	return all
}

// errRefundsUnread is an answer that has the payment and not what was given back of it.
var errRefundsUnread error = &gateways.Error{
	Kind: gateways.KindUnknown, Code: "refunds_unread", Message: "the gateway did not say what it has given back",
}

// fitsTimeout leaves the time of the activity to the refund.
const fitsTimeout = 2 * time.Second

// fits compares the payment of a refund that was never sent with the gateway before it is: what has gone back otherwise is not left to
// refund. It reports false for a refund that does not fit any more, which is not sent by anybody from then on. A gateway that cannot say
// it is not asked to wait: it refuses what exceeds the payment.
func (p *Payments) fits(ctx context.Context, r *models.Refund, t *models.PaymentTransaction, g gateways.Gateway) (bool, error) {
	if r.Sends > 0 || r.RefusedAt != nil {
		return r.RefusedAt == nil, nil
	}

	limited, cancel := context.WithTimeout(ctx, fitsTimeout)
	defer cancel()

	compared, err := comparePayment(limited, p.Store, g, t)

	switch {
	case err != nil && gateways.IsFromGateway(err):
		return true, nil
	case err != nil:
		return false, err
	case compared.Changed:
		return true, nil // refunds of one payment at once: the guards of each sending decide
	case !compared.Over.IsPositive():
		return true, nil
	}

	unsent, err := p.Store.Refunds.GiveUpUnsent(ctx, r.ID)

	return !unsent, err
}

// takenBackOutside is the result of a refund that does not fit beside what the gateway gave back without an order.
var takenBackOutside = models.RefundResult{Status: models.RefundFailed, FailureReason: models.ReasonOutsideRefund}
