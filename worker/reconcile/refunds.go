package reconcile

import (
	"context"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/store/db"
	"rihla/models"
)

// refunds asks about the refunds of the books.
func (a *asking) refunds(ctx context.Context) error {
	for after, more := (db.SweepCursor{}), true; more; {
		rows, next, err := a.Store.Refunds.RefundsSince(ctx, a.Channels, a.from, after, batch)
		if err != nil {
			return err
		}

		for i := range rows {
			if rows[i].Channel != models.RefundByGateway {
				continue // finance staff pay it out: the bank's statement says whether they did
			}

			a.sum.Refunds++

			if err := a.refund(ctx, &rows[i]); err != nil {
				return err
			}
		}

		after, more = next, !next.Is(db.SweepCursor{})
	}

	return nil
}

func (a *asking) refund(ctx context.Context, r *models.Refund) error {
	t, err := a.Store.Payments.TransactionByID(ctx, r.PaymentTransactionID)
	if err != nil || t.Reference == nil {
		return err
	}

	if a.Gateway.Capabilities().Refunds == gateways.SettledBySum {
		return a.refundBySum(ctx, r, &t)
	}

	var sent gateways.Refund

	answered, err := a.call(ctx, func(ctx context.Context) (err error) {
		sent, err = a.Gateway.ReadRefund(ctx, activities.RefundRefOf(r, &t))

		return err
	})
	if err != nil && !gateways.IsFromGateway(err) {
		return err
	}

	if !answered || err != nil { // not there: its workflow sends it
		if answered && r.Status == models.RefundSucceeded {
			a.find(a.refundFinding(NotRefundedThere, r, "made in the books, and the gateway does not know it: see the statement"))
		}

		return nil
	}

	return a.refundAnswered(ctx, r, &t, sent)
}

// refundAnswered brings the gateway's answer about a refund into the books.
func (a *asking) refundAnswered(ctx context.Context, r *models.Refund, t *models.PaymentTransaction, sent gateways.Refund) error {
	if !sent.Amount.Equal(r.Amount) || !models.SameCurrency(sent.Currency, r.Currency) {
		a.find(a.refundFinding(RefundDiffers, r, "another amount at the gateway: "+a.amount(sent.Amount, sent.Currency)))

		return nil // its workflow reports it, with an incident
	}

	if r.Status == models.RefundPending && r.Sends == 0 {
		f := a.refundFinding(RefundSent, r, "at the gateway, not sent in the books")

		if !a.how.DryRun {
			noted, err := a.Store.Refunds.NoteSentBefore(ctx, r.ID, nil)
			if err != nil {
				return err
			}

			f.Changed = noted
		}

		a.find(f)
	}

	same := sent.Status == gateways.RefundPending || sent.Status == gateways.RefundSucceeded && r.Status == models.RefundSucceeded ||
		sent.Status == gateways.RefundFailed && (r.Status == models.RefundFailed || r.ReturnedAt != nil)
	if same {
		return nil
	}

	f := a.refundFinding(RefundDecided, r, string(sent.Status)+" at the gateway, "+string(r.Status)+" in the books")

	if !a.how.DryRun {
		stored, err := a.answers.Refund(ctx, r, t, sent)
		if err != nil {
			return err
		}

		f.Changed = !stored.Duplicate
		a.deliver(ctx, stored)
	}

	a.find(f)

	return nil
}

// refundBySum looks at a refund that the gateway knows by the payment's sum alone. One that was never sent by these books, while more went
// back than they know, may have been: it becomes one whose outcome is unknown, which its workflow finds out before it sends anything.
func (a *asking) refundBySum(ctx context.Context, r *models.Refund, t *models.PaymentTransaction) error {
	if r.Status != models.RefundPending || r.Sends > 0 || r.ApprovalPending {
		return nil // what was sent is compared with the payment
	}

	known, err := a.Store.Refunds.Returned(ctx, t.ID)
	if err != nil {
		return err
	}

	c, found, _, err := a.read(ctx, activities.RefOf(t))
	if err != nil || !found || c.RefundsUnread {
		return err
	}

	before := known.Done.Add(known.Outside)
	if c.RefundedAmount.Cmp(before.Add(known.Sent).Add(r.Amount)) < 0 {
		return nil
	}

	f := a.refundFinding(RefundSent, r, a.amount(c.RefundedAmount, c.Currency)+" went back at the gateway; not sent in the books")

	if !a.how.DryRun {
		if f.Changed, err = a.Store.Refunds.NoteSentBefore(ctx, r.ID, &before); err != nil {
			return err
		}
	}

	a.find(f)

	return nil
}

func (a *asking) refundFinding(kind Kind, r *models.Refund, says string) Finding {
	return Finding{Kind: kind, Subject: SubjectRefund, ID: r.ID.String(), Amount: a.amount(r.Amount, r.Currency), Says: says}
}
