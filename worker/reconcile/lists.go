package reconcile

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/models"
)

// listedCheckouts looks through what the gateway has made since for what the books do not have.
func (a *asking) listedCheckouts(ctx context.Context) error {
	if a.Checkouts == nil {
		return nil
	}

	for from, more := "", true; more; more = from != "" {
		var page []gateways.Checkout

		answered, err := a.call(ctx, func(ctx context.Context) (err error) {
			page, from, err = a.Checkouts.ListCheckouts(ctx, a.how.Since.Add(-clockSkew), from)

			return err
		})
		if err != nil || !answered {
			a.sum.ListsCheckouts = false // not to the end

			return ignoreGateway(err)
		}

		// The books are read after the list: an attempt is written before its checkout is made.
		known, err := a.Store.Payments.AttemptsByID(ctx, referencesOf(page))
		if err != nil {
			return err
		}

		for _, c := range page {
			if err := a.listed(ctx, known, c); err != nil {
				return err
			}
		}
	}

	return nil
}

func referencesOf(page []gateways.Checkout) []uuid.UUID {
	var ids []uuid.UUID

	for _, c := range page {
		if c.MerchantReference != uuid.Nil {
			ids = append(ids, c.MerchantReference)
		}
	}

	return ids
}

// listed looks at one checkout of the list. That of an attempt in the books was asked about by the attempt.
func (a *asking) listed(ctx context.Context, known map[uuid.UUID]models.PaymentTransaction, c gateways.Checkout) error {
	a.sum.Listed++

	if t, ok := known[c.MerchantReference]; ok && (t.Reference == nil || *t.Reference == c.ID) {
		return nil
	}

	f := Finding{
		Subject: SubjectCheckout, ID: cmp.Or(c.ID, c.MerchantReference.String()), Checkout: c.ID, Amount: a.amount(c.Amount, c.Currency),
	}

	switch {
	case c.MerchantReference == uuid.Nil:
		f.Kind, f.Says, f.Amount = Foreign, "not made by this service: another system, or a person in the dashboard", ""
	case c.Status == gateways.CheckoutPaid:
		return a.unknownMoney(ctx, f, c)
	case c.Status == gateways.CheckoutOpen:
		return a.unknownOpen(ctx, f, c)
	default:
		return nil // no money, and none can come
	}

	a.find(f)

	return nil
}

// unknownMoney keeps money that the books have no attempt for, as a webhook about it is kept: with an incident for people.
func (a *asking) unknownMoney(ctx context.Context, f Finding, c gateways.Checkout) error {
	f.Kind, f.Says = UnknownMoney, "paid at the gateway, no attempt in the books: incident UNKNOWN_REFERENCE"

	if !a.how.DryRun {
		method := cmp.Or(c.Method, models.MethodCreditCard)
		at := a.Now()

		if c.PaidAt != nil {
			at = *c.PaidAt
		}

		stored, err := a.Store.Inbox.StoreEvent(ctx, models.WebhookEvent{
			ID: models.NewID(), Channel: a.ChannelOf(method), WebhookID: models.PolledPrefix + "unknown:" + c.ID + ":paid",
			Type: models.EventPaymentSucceeded, CheckoutID: c.ID, MerchantReference: c.MerchantReference.String(), Amount: &c.Amount,
			Currency: models.CurrencyCode(c.Currency), PaymentMethod: method, ResultCode: c.ResultCode, OccurredAt: at,
			GatewayPaymentID: c.PaymentID,
		}, a.Now())
		if err != nil {
			return err
		}

		f.Changed = !stored.Duplicate
		a.deliver(ctx, stored)
	}

	a.find(f)

	return nil
}

// unknownOpen is a checkout that a customer may still pay, although the books have no attempt for it.
func (a *asking) unknownOpen(ctx context.Context, f Finding, c gateways.Checkout) error {
	f.Kind, f.Says = UnknownOpen, "can be paid at the gateway, no attempt in the books"

	if a.how.CloseUnknown && !a.how.DryRun && a.Gateway.Capabilities().Cancel {
		answered, err := a.call(ctx, func(ctx context.Context) error {
			_, err := a.Gateway.CancelCheckout(ctx, gateways.CheckoutRef{
				ID: c.ID, MerchantReference: c.MerchantReference, Method: c.Method, Amount: c.Amount, Currency: c.Currency, ExpiresAt: c.ExpiresAt,
			})

			return err
		})
		if err := ignoreGateway(err); err != nil {
			return err
		}

		if f.Changed = answered && err == nil; f.Changed {
			f.Says = "had no attempt in the books, closed at the gateway"
		}
	}

	a.find(f)

	return nil
}

// listedRefunds looks through the refunds that the gateway has made since for those that the books do not have, whatever the age of their
// payment.
func (a *asking) listedRefunds(ctx context.Context) error {
	if a.Refunds == nil {
		return nil
	}

	for from, more := "", true; more; more = from != "" {
		var page []gateways.ListedRefund

		answered, err := a.call(ctx, func(ctx context.Context) (err error) {
			page, from, err = a.Refunds.ListRefunds(ctx, a.how.Since.Add(-clockSkew), from)

			return err
		})
		if err != nil || !answered {
			a.sum.ListsRefunds = false

			return ignoreGateway(err)
		}

		ids := make([]uuid.UUID, len(page))
		for i := range page {
			ids[i] = page[i].MerchantReference
		}

		known, err := a.Store.Refunds.KnownRefunds(ctx, ids)
		if err != nil {
			return err
		}

		for i := range page {
			if err := a.listedRefund(ctx, known, &page[i]); err != nil {
				return err
			}
		}
	}

	return nil
}

func (a *asking) listedRefund(ctx context.Context, known map[uuid.UUID]bool, l *gateways.ListedRefund) error {
	a.sum.Listed++

	if known[l.MerchantReference] || l.Status == gateways.RefundFailed {
		return nil
	}

	t, ok, err := a.Store.Payments.TakenPayment(ctx, a.Channels, l.CheckoutID, l.PaymentID)
	if err != nil {
		return err
	}

	if !ok {
		a.find(Finding{
			Kind: UnknownRefund, Subject: SubjectRefund, ID: l.ID, Checkout: cmp.Or(l.CheckoutID, l.PaymentID),
			Amount: a.amount(l.Amount, l.Currency), Says: "given back at the gateway, of a payment that is not paid in the books",
		})

		return nil
	}

	if !t.CreatedAt.Before(a.from) || !t.UpdatedAt.Before(a.from) {
		return nil // its payment was compared
	}

	return a.taken(ctx, &t)
}

// ignoreGateway leaves the errors that are not a gateway's.
func ignoreGateway(err error) error {
	if err != nil && gateways.IsFromGateway(err) {
		return nil
	}

	return err
}
