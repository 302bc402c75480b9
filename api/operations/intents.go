package operations

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/payments"
	"rihla/models"
	"rihla/workflows"
)

// CreateBookingIntent opens a payment attempt for a booking, or returns the one that is open (rules: payments.intent).
func (o *Operations) CreateBookingIntent(
	ctx context.Context, r gen.CreateBookingIntentRequestObject,
) (gen.CreateBookingIntentResponseObject, error) {
	read := func() (payments.Payable, error) {
		p, err := o.Store.Payments.PayableBooking(ctx, r.BookingID, o.Now())
		if who := middleware.Principal(ctx); err == nil && who.UserID != p.OwnerID && !who.Role.IsAdmin() {
			return p, models.NotFound()
		}

		return p, err
	}

	t, created, err := o.intent(ctx, read, models.Attempt{BookingID: r.BookingID}, r.Body)
	if err != nil {
		return nil, err
	}

	if !created {
		return gen.CreateBookingIntent200JSONResponse{Data: transactionOf(&t)}, nil
	}

	return gen.CreateBookingIntent201JSONResponse{
		Body:    gen.PaymentTransactionAnswer{Data: transactionOf(&t)},
		Headers: gen.CreateBookingIntent201ResponseHeaders{Location: "/api/v1/bookings/" + r.BookingID.String() + "/payment-status"},
	}, nil
}

// CreateCampaignIntent opens a payment attempt for an advertising campaign, or returns the one that is open.
func (o *Operations) CreateCampaignIntent(
	ctx context.Context, r gen.CreateCampaignIntentRequestObject,
) (gen.CreateCampaignIntentResponseObject, error) {
	read := func() (payments.Payable, error) {
		p, err := o.Store.Payments.PayableCampaign(ctx, r.AdCampaignID, o.Now())
		if err == nil && !actor(ctx).Owns(p.ProviderID) {
			return p, models.NotFound()
		}

		return p, err
	}

	t, created, err := o.intent(ctx, read, models.Attempt{CampaignID: r.AdCampaignID}, r.Body)
	if err != nil {
		return nil, err
	}

	if !created {
		return gen.CreateCampaignIntent200JSONResponse{Data: transactionOf(&t)}, nil
	}

	return gen.CreateCampaignIntent201JSONResponse{
		Body:    gen.PaymentTransactionAnswer{Data: transactionOf(&t)},
		Headers: gen.CreateCampaignIntent201ResponseHeaders{Location: "/api/v1/provider/ad-campaigns/" + r.AdCampaignID.String()},
	}, nil
}

// intent is the rule of both intents: one open attempt at a time, the same one for every request, a new one when
// there is none or when the caller wants it replaced. created tells a new attempt from one that was found.
func (o *Operations) intent(
	ctx context.Context, read func() (payments.Payable, error), a models.Attempt, body *gen.IntentRequest,
) (t models.PaymentTransaction, created bool, err error) {
	if err := o.Returns.Check(valueOf(body.ReturnURL)); err != nil {
		return t, false, err
	}

	p, err := read()
	if err != nil {
		return t, false, err
	}

	a.ProviderID, a.Opener = p.ProviderID, opener(ctx)

	if t, found, err := o.openedBefore(ctx, a); found || err != nil {
		return t, openedBy(&t, a.Opener), err
	}

	if p.Err != nil {
		return t, false, p.Err
	}

	a.UserID, a.Method = middleware.Principal(ctx).UserID, body.PaymentMethod

	if p.Open == nil || valueOf(body.Replace) { // else it is the open attempt that is answered
		if err := o.Store.Payments.CheckMethod(a.Method, p.Amount); err != nil {
			return t, false, err
		}
	}

	if p, err = o.makeRoom(ctx, p, a, valueOf(body.Replace), read); err != nil {
		return t, false, err
	}

	a.Number = p.Next

	if p.Open != nil {
		if p.Open.CheckoutURL != nil {
			return *p.Open, false, nil
		}
		// The gateway has not answered yet: wait for the same attempt, as it was asked for.
		a.Number, a.UserID, a.Method = p.Open.Attempt, p.Open.UserID, p.Open.PaymentMethod
	} else if err := o.announce(ctx, a, body); err != nil {
		return t, false, err
	}

	t, err = o.start(ctx, a)

	return t, p.Open == nil && openedBy(&t, a.Opener), err
}

// makeRoom ends the open attempt when the caller wants it replaced or it has expired, unless the account may not begin another one.
func (o *Operations) makeRoom(
	ctx context.Context, p payments.Payable, a models.Attempt, replace bool, read func() (payments.Payable, error),
) (payments.Payable, error) {
	a.Number = p.Next

	if p.Open != nil {
		if !replace && p.Open.ExpiresAt.After(o.Now()) {
			return p, nil
		}

		a.Number = p.Open.Attempt + 1
	}

	if err := o.Store.Bookings.MayAttempt(ctx, a, o.Now()); err != nil || p.Open == nil {
		return p, err
	}

	return o.replace(ctx, p.Open.ID, read)
}

// opener names the request by its Idempotency-Key, so that it has the same name when it is repeated; without a key it has one
// of its own.
func opener(ctx context.Context) uuid.UUID {
	k := middleware.KeyScope(ctx)
	if k.Key == uuid.Nil {
		return uuid.New()
	}

	return models.Derive("request:" + k.UserID.String() + ":" + k.Method + ":" + k.Path + ":" + k.Key.String())
}

// openedBy reports whether the request has opened the attempt. Several that find none open start the same one, and the row
// names one of them; that of a worker of an older version names none.
func openedBy(t *models.PaymentTransaction, opener uuid.UUID) bool {
	return t.OpenedFor == nil || *t.OpenedFor == opener
}

// announce stores, before an attempt is started, the return address and the key that its workflow and a retry will look for.
func (o *Operations) announce(ctx context.Context, a models.Attempt, body *gen.IntentRequest) error {
	if err := o.Store.Bookings.SetReturnURL(ctx, a, valueOf(body.ReturnURL), o.PublicURL); err != nil {
		return err
	}

	return o.Store.DB.BindKey(ctx, middleware.Claim(ctx).ID, a.ID())
}

// openedBefore finds the attempt that a request with the same Idempotency-Key has opened and was killed before it could
// answer. That one is what was asked for, whatever has become of it since: no other is opened, and none replaced.
func (o *Operations) openedBefore(ctx context.Context, a models.Attempt) (t models.PaymentTransaction, found bool, err error) {
	first := middleware.Claim(ctx).ResourceID
	if first == uuid.Nil {
		return t, false, nil
	}

	t, err = o.Store.Payments.TransactionByID(ctx, first)

	switch {
	case err != nil && models.CodeOf(err) == models.CodeNotFound:
		return t, false, nil // it was announced, and never opened
	case err != nil || t.Status != models.TransactionPending || t.CheckoutURL != nil:
		return t, err == nil, err
	}

	// The gateway has not answered yet.
	a.Number, a.UserID, a.Method = t.Attempt, t.UserID, t.PaymentMethod
	t, err = o.start(ctx, a)

	return t, err == nil, err
}

// replace closes the open attempt. It may turn out to be paid; then there is nothing to replace.
func (o *Operations) replace(ctx context.Context, open uuid.UUID, read func() (payments.Payable, error)) (payments.Payable, error) {
	wait, cancel := context.WithTimeout(ctx, o.CheckoutWait)
	defer cancel()

	_, err := o.Workflows.CancelPayment(wait, open)
	if errors.Is(err, workflows.ErrStillRunning) {
		return payments.Payable{}, o.blockedBy(ctx, "payment.not_closed")
	}

	// An attempt whose workflow has ended is NOT_FOUND there: its final state is read next.
	if err != nil && models.CodeOf(err) != models.CodeNotFound {
		return payments.Payable{}, err
	}

	p, err := read()
	if err == nil {
		err = p.Err
	}

	return p, err
}

// startPayment runs the attempt's workflow up to the checkout, for CheckoutWait at most, and notes with the request's permit how
// long our own parts took. Errors: those of StartPayment.
func (o *Operations) startPayment(ctx context.Context, a models.Attempt) error {
	wait, cancel := context.WithTimeout(ctx, o.CheckoutWait)
	defer cancel()

	began := time.Now()
	checkout, err := o.Workflows.StartPayment(wait, a)
	took := time.Since(began)

	switch {
	case err == nil && took > checkout.GatewayTook: // else it is an answer that was there already
		middleware.Permit(ctx).Observe(took - checkout.GatewayTook)
	case errors.Is(err, workflows.ErrStillRunning) && !o.gatewayIsAsked(ctx, a):
		middleware.Permit(ctx).Observe(took)
	}

	return err
}

// gatewayIsAsked reports whether an attempt whose checkout is not there in time waits for its gateway: a worker has taken it, and it has no
// checkout.
func (o *Operations) gatewayIsAsked(ctx context.Context, a models.Attempt) bool {
	ctx, done := detached(ctx)
	defer done()

	t, err := o.Store.Payments.TransactionByID(ctx, a.ID())

	return err == nil && t.CheckoutURL == nil
}

// start runs the attempt's workflow up to the checkout. Errors: the domain's; GATEWAY_UNAVAILABLE when the gateway
// does not answer, the attempt stays open; SERVICE_UNAVAILABLE when no worker has taken the attempt.
func (o *Operations) start(ctx context.Context, a models.Attempt) (models.PaymentTransaction, error) {
	err := o.startPayment(ctx, a)
	if err != nil && !errors.Is(err, workflows.ErrStillRunning) {
		return models.PaymentTransaction{}, err
	}

	ctx, done := detached(ctx)
	defer done()

	t, readErr := o.Store.Payments.TransactionByID(ctx, a.ID())
	if err == nil && models.CodeOf(readErr) == models.CodeNotFound {
		// Its workflow has opened an attempt that the books do not have: they were restored to an earlier moment.
		if _, err = o.Workflows.RestartPayment(ctx, a); err == nil {
			t, readErr = o.Store.Payments.TransactionByID(ctx, a.ID())
		}
	}

	switch {
	case err == nil && readErr == nil && t.Status == models.TransactionPending && t.CheckoutURL == nil:
		return t, models.NewError(models.CodeGatewayUnavailable, "payment.gateway_silent")
	case err == nil:
		return t, readErr
	case readErr != nil:
		return t, unavailable()
	default:
		return t, o.blockedBy(ctx, "payment.gateway_silent")
	}
}

// blockedBy names who keeps a workflow from going on: the orchestrator, when that cannot be reached, else the gateway.
func (o *Operations) blockedBy(ctx context.Context, gateway models.Key) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()

	if o.Workflows.Ping(ctx) != nil {
		return unavailable()
	}

	return models.NewError(models.CodeGatewayUnavailable, gateway)
}

func transactionOf(t *models.PaymentTransaction) gen.PaymentTransaction {
	label := t.Status.Label()

	var (
		amount   *models.Money
		currency *string
	)

	if t.TakenAt() != nil {
		taken, in := t.Taken()
		amount, currency = &taken, &in
	}

	return labelled(gen.PaymentTransaction{
		ID: t.ID, Kind: t.Kind, Reference: t.Reference, UserID: t.UserID, BookingID: t.BookingID,
		BookingNumber: optional(t.BookingNumber), AdCampaignID: t.AdCampaignID,
		Amount: t.Amount, Currency: t.Currency, VatRate: t.VATRate, VatAmount: t.VATAmount,
		PaymentMethod: t.PaymentMethod, PaidBy: t.PaidBy, Provider: t.Gateway,
		Status: t.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		CheckoutURL: openCheckout(t), ExpiresAt: utcOrNil(&t.ExpiresAt),
		FailureCode: t.FailureCode, FailureReason: optional(t.FailureReason),
		CapturedAt: utcOrNil(t.TakenAt()), CapturedAmount: amount, CapturedCurrency: currency,
		RefundedAmount: &t.RefundedAmount, RefundReservedAmount: &t.RefundReservedAmount,
		OutsideRefundedAmount: t.OutsideRefundedAmount,
		CreatedAt:             utc(t.CreatedAt), UpdatedAt: utc(t.UpdatedAt),
	})
}
