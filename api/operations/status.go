package operations

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// askAtMost bounds the call to the orchestrator that has a gateway asked about payments whose webhooks may be lost.
const askAtMost = 500 * time.Millisecond

// GetPaymentStatus is what the success page polls. With wait it answers as soon as the payment is decided
// (rules: payments.status). When nothing was heard of the payment for 20 seconds its gateway is asked. A process that ends answers
// with what is known, so that its clients ask another one.
func (o *Operations) GetPaymentStatus(
	ctx context.Context, r gen.GetPaymentStatusRequestObject,
) (gen.GetPaymentStatusResponseObject, error) {
	began := time.Now()
	wait := time.Duration(valueOf(r.Params.Wait)) * time.Second

	var told <-chan struct{}

	if wait > 0 {
		leave, err := o.ownPolls.Acquire(actor(ctx))
		if err != nil {
			return nil, err
		}
		defer leave()

		// Before the first look: a decision after it is announced to this request.
		var forget func()

		told, forget = o.updates.Waiters.Add(r.ID)
		defer forget()
	}

	for {
		s, err := o.paymentStatus(ctx, r.ID)
		if err != nil {
			return nil, err
		}

		if s.Unheard {
			o.askGateways(ctx, []uuid.UUID{*s.TransactionID})
		}

		left := wait - time.Since(began)
		if s.PaymentStatus != models.TransactionPending || left <= 0 {
			return gen.GetPaymentStatus200JSONResponse{Data: statusOf(ctx, s)}, nil
		}

		over := time.NewTimer(left)

		select {
		case <-ctx.Done():
			over.Stop()

			return nil, ctx.Err()
		case <-told:
			over.Stop()
		case <-o.updates.Waiters.Over():
			over.Stop()

			wait = 0
		case <-over.C:
		}
	}
}

// paymentStatus reads the caller's account and the payment at once, and judges the account first: nothing is said of the payment to a
// caller whose account was removed, or whose tokens were revoked, while they wait included. Errors: UNAUTHENTICATED, NOT_FOUND.
func (o *Operations) paymentStatus(ctx context.Context, booking uuid.UUID) (*payments.PaymentStatus, error) {
	caller := middleware.Principal(ctx)

	s, err := o.Store.Payments.PaymentStatusFor(ctx, caller.UserID, caller.SessionID, booking, o.Now())
	if err != nil {
		return nil, err
	}

	if err := judgeAccount(ctx, s.Account); err != nil {
		return nil, err
	}

	if s.Payment == nil || !readsBooking(ctx, s.Payment.UserID) {
		return nil, models.NotFound()
	}

	return s.Payment, nil
}

// judgeAccount judges the caller's account as a statement has read it, nil for one that does not exist any more.
func judgeAccount(ctx context.Context, now *db.AccountStatus) error {
	if now == nil {
		return middleware.JudgeAccount(ctx, auth.AccountStatus{}, models.NotFound())
	}

	return middleware.JudgeAccount(ctx, auth.AccountStatus{
		Role: now.Role, ProviderID: now.ProviderID, Generation: now.TokenGeneration,
		SessionOver: now.SessionOver, SecondFactor: now.SecondFactor,
	}, nil)
}

// askGateways has the gateways asked about attempts whose customers wait. What they answer comes as a webhook would, and is announced
// as that is. When the orchestrator is away the sweep has them asked later.
func (o *Operations) askGateways(ctx context.Context, attempts []uuid.UUID) {
	channels, err := o.Store.Payments.WaitForAnswers(ctx, attempts, o.Now())

	for _, channel := range channels {
		limited, cancel := context.WithTimeout(ctx, askAtMost)
		err = errors.Join(err, o.Workflows.PollStatus(limited, channel))

		cancel()
	}

	if err != nil {
		o.Log.DebugContext(ctx, "status poll of waiting payments not started; the sweep retries", "attempts", len(attempts), "error", err)
	}
}

func statusOf(ctx context.Context, s *payments.PaymentStatus) gen.PaymentStatus {
	label := s.PaymentStatus.UILabel()
	out := gen.PaymentStatus{
		BookingID: s.BookingID, BookingStatus: s.BookingStatus, PaymentStatus: s.PaymentStatus,
		TransactionID: models.BookingAttemptID(s.BookingID, 1), PaymentMethod: s.Method,
		Amount: s.Amount, Currency: s.Currency, ExpiresAt: utcOrNil(s.ExpiresAt), FailureCode: s.FailureCode,
		UILabel: label.In(middleware.Locale(ctx)), UILabelAr: label.AR, UILabelEn: label.EN, UpdatedAt: utc(s.UpdatedAt),
	}

	if s.TransactionID != nil {
		out.TransactionID = *s.TransactionID
	}

	if s.PaymentStatus == models.TransactionPending {
		out.CheckoutURL = s.CheckoutURL
	}

	if d := s.LastDecline; d != nil {
		out.LastDecline = &gen.LastDecline{
			At: utc(d.At), ResultCode: d.ResultCode, Reason: d.Reason, MessageAr: models.DeclinedNotice.AR, MessageEn: models.DeclinedNotice.EN,
		}
	}

	return labelled(out)
}

// announceDecided has every process wake the requests that wait for the booking's payment. One that is not woken looks by itself.
func (o *Operations) announceDecided(ctx context.Context, booking uuid.UUID) {
	ctx, cancel := detached(ctx)
	defer cancel()

	if err := o.Store.Payments.AnnounceDecided(ctx, []uuid.UUID{booking}); err != nil {
		o.Log.WarnContext(ctx, "decided payment not announced; waiting requests look by themselves", "booking_id", booking, "error", err)
	}
}
