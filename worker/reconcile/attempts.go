package reconcile

import (
	"context"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// attempts asks about the attempts and payments of the books.
func (a *asking) attempts(ctx context.Context) error {
	for after, more := (db.SweepCursor{}), true; more; {
		rows, next, err := a.Store.Payments.AttemptsSince(ctx, a.Channels, a.from, after, batch)
		if err != nil {
			return err
		}

		for i := range rows {
			a.sum.Attempts++

			if rows[i].TakenAt() != nil {
				err = a.taken(ctx, &rows[i])
			} else {
				err = a.unpaid(ctx, &rows[i])
			}

			if err != nil {
				return err
			}
		}

		after, more = next, !next.Is(db.SweepCursor{})
	}

	return nil
}

// unpaid asks about an attempt for which the books have no money.
func (a *asking) unpaid(ctx context.Context, t *models.PaymentTransaction) error {
	c, found, _, err := a.read(ctx, activities.RefOf(t))
	if err != nil || !found {
		return err // an attempt that never came to a checkout: its workflow opens or ends it
	}

	ended := t.Status != models.TransactionPending

	if ended && c.Status == gateways.CheckoutOpen {
		return a.stillOpen(ctx, t, c)
	}

	if c.Status != gateways.CheckoutPaid && (ended || c.Status != gateways.CheckoutFailed) {
		return nil // the books say the same, or its workflow ends it
	}

	f := Finding{
		Kind: PaidThere, Subject: SubjectPayment, ID: t.ID.String(), Checkout: c.ID, Amount: a.amount(c.Amount, c.Currency),
		Says: "paid at the gateway, " + string(t.Status) + " in the books",
	}
	if c.Status == gateways.CheckoutFailed {
		f.Kind, f.Says = FailedThere, "failed at the gateway, PENDING in the books"
	}

	if !a.how.DryRun {
		stored, err := a.answers.Checkout(ctx, t, c)
		if err != nil {
			return err
		}

		f.Changed = !stored.Duplicate
		a.deliver(ctx, stored)
	}

	a.find(f)

	return nil
}

// stillOpen closes a checkout that can be paid although its attempt has ended.
func (a *asking) stillOpen(ctx context.Context, t *models.PaymentTransaction, c gateways.Checkout) error {
	f := Finding{
		Kind: StillOpen, Subject: SubjectPayment, ID: t.ID.String(), Checkout: c.ID, Amount: a.amount(c.Amount, c.Currency),
		Says: "can be paid at the gateway, FAILED in the books",
	}

	if !a.how.DryRun && a.Gateway.Capabilities().Cancel {
		now := c

		_, err := a.call(ctx, func(ctx context.Context) (err error) {
			now, err = a.answers.Close(ctx, a.Gateway, t, c)

			return err
		})
		if err != nil && !gateways.IsFromGateway(err) {
			return err
		}

		f.Changed = now.Status != gateways.CheckoutOpen

		if now.Status == gateways.CheckoutPaid { // it was paid meanwhile
			return a.unpaid(ctx, t)
		}
	}

	a.find(f)

	return nil
}

// taken compares a payment with its gateway: what went back without an order here, and second payments.
func (a *asking) taken(ctx context.Context, t *models.PaymentTransaction) error {
	before, err := a.Store.Refunds.Returned(ctx, t.ID)
	if err != nil {
		return err
	}

	c, found, answered, err := a.read(ctx, activities.RefOf(t))
	if err != nil || !answered {
		return err
	}

	if !found || c.Status != gateways.CheckoutPaid {
		a.find(Finding{
			Kind: NotPaidThere, Subject: SubjectPayment, ID: t.ID.String(), Checkout: c.ID, Amount: a.amount(t.Amount, t.Currency),
			Says: "paid in the books, and the gateway does not say so: see the statement",
		})

		return nil
	}

	if agrees(&before, c) {
		return nil
	}

	return a.compare(ctx, t, before, c)
}

// agrees reports that nothing went back that the books do not know, and that there is no second payment to look for.
func agrees(known *refunds.Returned, c gateways.Checkout) bool {
	if len(c.Others) > 0 || c.OthersUnread || c.RefundsUnread {
		return false
	}

	least := known.Done.Add(known.Outside)

	return c.RefundedAmount.Cmp(least) >= 0 && c.RefundedAmount.Cmp(least.Add(known.Sent)) <= 0
}

// compareUntilStill compares a payment, and again when a refund of it went on meanwhile.
func (a *asking) compareUntilStill(ctx context.Context, t *models.PaymentTransaction) error {
	for range maxTries {
		var compared refunds.Compared

		_, err := a.call(ctx, func(ctx context.Context) (err error) {
			compared, err = a.answers.Taken(ctx, a.Gateway, t)

			return err
		})
		if err != nil || !compared.Changed {
			return ignoreGateway(err)
		}
	}

	return nil
}

func (a *asking) compare(ctx context.Context, t *models.PaymentTransaction, before refunds.Returned, c gateways.Checkout) error {
	debits, err := a.Store.Payments.SecondDebitsOf(ctx, t.ID)
	if err != nil {
		return err
	}

	if !a.how.DryRun {
		if err := a.compareUntilStill(ctx, t); err != nil {
			return err
		}
	}

	after, err := a.Store.Refunds.Returned(ctx, t.ID)
	if err != nil {
		return err
	}

	if !agrees(&before, gateways.Checkout{RefundedAmount: c.RefundedAmount}) {
		a.find(Finding{
			Kind: OutsideRefund, Subject: SubjectPayment, ID: t.ID.String(), Checkout: c.ID, Amount: a.amount(c.RefundedAmount, c.Currency),
			Says:    "given back at the gateway in all; the books have orders for " + a.amount(before.Done.Add(before.Sent), c.Currency),
			Changed: !after.Outside.Equal(before.Outside),
		})
	}

	known, err := a.Store.Payments.SecondDebitsOf(ctx, t.ID)
	if err == nil && int64(len(c.Others)) > debits {
		a.find(Finding{
			Kind: SecondPayment, Subject: SubjectPayment, ID: t.ID.String(), Checkout: c.ID, Amount: a.amount(c.Others[0].Amount, c.Currency),
			Says: "paid once more at the gateway", Changed: known > debits,
		})
	}

	return err
}
