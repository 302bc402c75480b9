package operations

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/refunds"
	"rihla/models"
	"rihla/workflows"
)

// RefundBooking gives money back (rules: refunds.order): 201 once the gateway has decided, 202 while it has not.
func (o *Operations) RefundBooking(ctx context.Context, r gen.RefundBookingRequestObject) (gen.RefundBookingResponseObject, error) {
	if err := checkRefund(r.Body.RefundType, r.Body.Amount, r.Body.PaymentTransactionID); err != nil {
		return nil, err
	}

	if cancels := r.Body.CancelBooking; cancels != nil && !*cancels && r.Body.RefundType == models.RefundFull {
		return nil, models.Invalid("cancel_booking", "refund.full_cancels")
	}

	refund, err := o.refund(ctx, refundRequest(ctx, &r))
	if err != nil {
		return nil, err
	}

	answer, location := gen.RefundAnswer{Data: refundOf(&refund)}, refundPath(&refund)
	if refund.Status == models.RefundPending {
		return gen.RefundBooking202JSONResponse{Body: answer, Headers: gen.RefundBooking202ResponseHeaders{Location: location}}, nil
	}

	return gen.RefundBooking201JSONResponse{Body: answer, Headers: gen.RefundBooking201ResponseHeaders{Location: location}}, nil
}

// RefundLatePayment asks for money in suspense, or once more for money that came too late and could not be given back: of a
// campaign there is no other way, and of a booking that was paid otherwise it is one that cannot take the other payment.
func (o *Operations) RefundLatePayment(
	ctx context.Context, r gen.RefundLatePaymentRequestObject,
) (gen.RefundLatePaymentResponseObject, error) {
	t, err := o.Store.Payments.TransactionByID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	if !t.CameTooLate() && t.SuspenseAt == nil {
		return nil, models.NewError(models.CodeInvalidState,
			"refund.not_late_or_suspense")
	}

	request := ownRequest(ctx, r.ID, r.Params.IdempotencyKey)
	request.BookingID, request.TransactionID, request.Type = valueOf(t.BookingID), t.ID, models.RefundFull
	request.Reason = valueOf(r.Body.Reason)

	refund, err := o.refund(ctx, request)
	if err != nil {
		return nil, err
	}

	answer, location := gen.RefundAnswer{Data: refundOf(&refund)}, refundPath(&refund)
	if refund.Status == models.RefundPending {
		return gen.RefundLatePayment202JSONResponse{Body: answer, Headers: gen.RefundLatePayment202ResponseHeaders{Location: location}}, nil
	}

	return gen.RefundLatePayment201JSONResponse{Body: answer, Headers: gen.RefundLatePayment201ResponseHeaders{Location: location}}, nil
}

// refund orders a refund, and waits for its decision as long as the caller may wait. From the order on the refund is certain,
// whatever becomes of the wait: while the orchestrator is away it stays PENDING, and is executed when that is back.
func (o *Operations) refund(ctx context.Context, request models.RefundRequest) (models.Refund, error) {
	atMost, err := o.atMost(ctx)
	if err != nil {
		return models.Refund{}, err
	}

	request.AtMost = atMost

	o.compare(ctx, request)

	ordered, err := o.Store.Refunds.OrderRefund(ctx, request, o.Now())
	if err != nil {
		return ordered, err
	}

	if ordered.JustOrdered && ordered.Currency == models.Currency {
		o.Metrics.RefundOrdered(request.Role, ordered.Amount)
	}

	o.lookAtRequest(ctx, ordered.Withdrawn)

	if ordered.Status == models.RefundPending {
		o.executeRefund(ctx, ordered)
	}

	now, err := o.refundNow(ctx, ordered.ID)
	if err != nil {
		o.Log.WarnContext(ctx, "ordered refund could not be read again; answering with the order",
			"refund_id", ordered.ID, "request_id", middleware.RequestID(ctx), "error", err)

		return ordered, nil
	}

	return now, nil
}

// compareWait is how long a preview or an order waits for the gateway to say what it has given back without us. Without an answer what is
// known here counts; the gateway is asked again before anything is sent.
const compareWait = time.Second

// compare has the gateway asked about the payment whose money is to go back. Whatever keeps it from answering keeps no refund back.
func (o *Operations) compare(ctx context.Context, request models.RefundRequest) {
	t, err := o.Store.Refunds.PaymentOf(ctx, request)
	if err != nil || !t.NeedsComparison(o.Now()) {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, compareWait)
	defer cancel()

	if err := o.Workflows.Compare(ctx, t); err != nil {
		o.Log.InfoContext(ctx, "the gateway did not say in time what it has given back; it is asked again before the refund is sent",
			"payment_id", t.ID, "request_id", middleware.RequestID(ctx), "error", err)
	}
}

func refundPath(r *models.Refund) string { return "/api/v1/admin/refunds/" + r.ID.String() }

// executeRefund starts the refund's workflow. Where it cannot, the sweep does.
func (o *Operations) executeRefund(ctx context.Context, ordered models.Refund) {
	wait, cancel := context.WithTimeout(ctx, o.RefundWait)
	defer cancel()

	_, err := o.Workflows.StartRefund(wait, ordered)
	if err != nil && !errors.Is(err, workflows.ErrStillRunning) {
		o.Log.WarnContext(ctx, "workflow of an ordered refund not started; the sweep retries",
			"refund_id", ordered.ID, "request_id", middleware.RequestID(ctx), "error", err)
	}
}

func refundRequest(ctx context.Context, r *gen.RefundBookingRequestObject) models.RefundRequest {
	request := ownRequest(ctx, r.ID, r.Params.IdempotencyKey)
	request.BookingID, request.TransactionID = r.ID, valueOf(r.Body.PaymentTransactionID)
	request.Type, request.Amount, request.Reason = r.Body.RefundType, r.Body.Amount, valueOf(r.Body.Reason)
	request.Expected = r.Body.ExpectedAmount
	request.CancelBooking, request.Bearer, request.Cause = r.Body.CancelBooking, valueOf(r.Body.Bearer), valueOf(r.Body.Cause)

	return request
}

// ownRequest gives a request for a refund of a booking or transaction its identity: the caller's key, or one of its own. A
// client's X-Request-Id is not used for that, since nothing keeps two requests from carrying the same one.
func ownRequest(ctx context.Context, of uuid.UUID, key *uuid.UUID) models.RefundRequest {
	who := middleware.Principal(ctx)

	request := models.RefundRequest{
		RequestedBy: &who.UserID, Role: who.Role, RequestID: ownRequestID(ctx),
		Address: middleware.Address(ctx), UserAgent: middleware.UserAgent(ctx),
	}

	identity, ordered := uuid.NewString(), uuid.Nil

	if key != nil {
		claim := middleware.Claim(ctx)
		identity = who.UserID.String() + ":" + key.String()
		request.Claim, request.BodyHash = claim.ID, middleware.KeyScope(ctx).BodyHash
		// What an earlier request with the key has ordered and not lived to answer for, by whatever rule its id was found.
		ordered = claim.ResourceID
	}

	request.ID = cmp.Or(ordered, models.RefundID(of, identity))

	return request
}

// ownRequestID is the request id if it is one of ours: a client's may hold anything, and goes into no history.
func ownRequestID(ctx context.Context) string {
	id := middleware.RequestID(ctx)
	if _, err := uuid.Parse(id); err != nil {
		return ""
	}

	return id
}

// GetRefundQuote says what a refund by the cancellation policy would come to.
func (o *Operations) GetRefundQuote(ctx context.Context, r gen.GetRefundQuoteRequestObject) (gen.GetRefundQuoteResponseObject, error) {
	q, err := o.Store.Refunds.RefundQuote(ctx, middleware.Principal(ctx).UserID, r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.GetRefundQuote200JSONResponse{Data: labelled(gen.RefundQuote{
		BookingID: q.BookingID, PaidAmount: q.Paid, RefundedAmount: q.Refunded, RemainingAmount: q.Remaining,
		PolicyPercent: q.Percent, QuoteAmount: q.Amount, HoursToDeparture: int64(q.Hours), Currency: q.Currency,
		ReasonCode: q.Reason, NeedsApproval: q.NeedsApproval, BookingStays: new(q.LeavesFee()), ExpectedBy: toDateOrNil(q.ExpectedBy),
	})}, nil
}

// ListRefunds lists refunds.
func (o *Operations) ListRefunds(ctx context.Context, r gen.ListRefundsRequestObject) (gen.ListRefundsResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	span, err := daysOf(r.Params.Period, r.Params.DateFrom, r.Params.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	list, err := o.Store.Refunds.ListRefunds(ctx, refunds.RefundFilter{
		TransactionID: valueOf(r.Params.PaymentTransactionID), ProviderID: valueOf(r.Params.ProviderID),
		Search: valueOf(r.Params.Search), Days: span, BookingID: valueOf(r.Params.BookingID),
		Status: valueOf(r.Params.Status), Channel: valueOf(r.Params.Channel),
		NeedsPayout: r.Params.NeedsPayout, NeedsApproval: r.Params.NeedsApproval, Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListRefunds200JSONResponse{Data: mapEach(list.Items, refundOf), Meta: metaOf(p, list)}, nil
}

// GetRefund is one refund.
func (o *Operations) GetRefund(ctx context.Context, r gen.GetRefundRequestObject) (gen.GetRefundResponseObject, error) {
	refund, err := o.Store.Refunds.RefundByID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetRefund200JSONResponse{Data: refundOf(&refund)}, nil
}

func refundOf(r *models.Refund) gen.Refund {
	label := r.Status.Label()

	out := labelled(gen.Refund{
		ID: r.ID, BookingID: r.BookingID, BookingNumber: optional(r.BookingNumber),
		ProviderID: r.ProviderID, ProviderName: optional(r.ProviderName), CustomerName: optional(r.CustomerName),
		TripTitle:            optional(r.TripTitle),
		PaymentTransactionID: r.PaymentTransactionID, RefundTransactionID: r.RefundTransactionID,
		RefundType: r.RefundType, PolicyPercent: r.PolicyPercent, ReasonCode: r.ReasonCode(),
		Channel: r.Channel, Amount: r.Amount, Currency: r.Currency,
		Bearer: &r.Bearer, Cause: &r.Cause, CancelsBooking: &r.Cancels,
		Status: r.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN, FailureCode: r.FailureCode,
		Reason: optional(r.Reason), RequestedBy: r.RequestedBy, RequestedByName: optional(r.RequesterName),
		NeedsPayout:   r.NeedsPayout() || r.Owed,
		NeedsApproval: r.NeedsApproval(), ApprovalUntil: utcOrNil(r.ApprovalUntil), Approval: approvalOf(r.Approval),
		InsteadOf: r.InsteadOf, ReturnedAt: utcOrNil(r.ReturnedAt), GatewayRefundID: r.GatewayRefundID,
		CreatedAt: utc(r.CreatedAt), CompletedAt: utcOrNil(r.CompletedAt),
	})

	if stays := r.LeavesFee(); stays {
		out.BookingStays, out.BookingNoticeAr, out.BookingNoticeEn = &stays, &models.BookingStaysNotice.AR, &models.BookingStaysNotice.EN
	}

	if d := r.Approval; d != nil && d.Decision == models.ApprovalApproved {
		out.ApprovedBy, out.ApprovedByName = d.DecidedBy, optional(d.DeciderName)
	}

	if d := r.Payout; d != nil {
		out.PayoutReference, out.PayoutNote, out.PayoutDecidedBy = d.Reference, optional(d.Note), &d.DecidedBy
		out.PayoutNoteAr = optional(models.NoteIn(models.LocaleArabic, d.Note, d.NoteText))
		out.PayoutNoteEn = optional(models.NoteIn(models.LocaleEnglish, d.Note, d.NoteText))
		out.PayoutDecidedByName, out.PayoutDecidedAt = optional(d.DeciderName), utcOrNil(&d.DecidedAt)

		if d.PaidOutOn != nil {
			day := toDate(*d.PaidOutOn)
			out.PaidOutOn = &day
		}
	}

	return out
}
