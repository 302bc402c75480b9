package operations

import (
	"cmp"
	"context"
	"strings"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/cancellations"
	"rihla/models"
)

// GetCancellationQuote says what cancelling passengers of a paid booking would come to.
func (o *Operations) GetCancellationQuote(
	ctx context.Context, r gen.GetCancellationQuoteRequestObject,
) (gen.GetCancellationQuoteResponseObject, error) {
	if err := o.mayRead(ctx, r.ID); err != nil {
		return nil, err
	}

	ids, err := idsOf(r.Params.PassengerIds)
	if err != nil {
		return nil, err
	}

	q, positions, err := o.Store.Refunds.QuoteCancellation(ctx, middleware.Principal(ctx).UserID, r.ID, ids, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.GetCancellationQuote200JSONResponse{Data: quoteOf(r.ID, positions, &q)}, nil
}

// mayRead refuses a booking that the caller may not see. Error: NOT_FOUND.
func (o *Operations) mayRead(ctx context.Context, booking uuid.UUID) error {
	b, err := o.Store.Bookings.BookingByID(ctx, booking)
	if err == nil && !readsBooking(ctx, b.UserID) {
		err = models.NotFound()
	}

	return err
}

// idsOf reads ids that commas separate. Error: VALIDATION_ERROR on passenger_ids.
func idsOf(list *string) ([]uuid.UUID, error) {
	if list == nil {
		return nil, nil
	}

	var ids []uuid.UUID

	for text := range strings.SplitSeq(*list, ",") {
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, models.Invalid("passenger_ids", "field.ids")
		}

		ids = append(ids, id)
	}

	return ids, nil
}

func quoteOf(booking uuid.UUID, positions []int, q *models.CancelQuote) gen.CancellationQuote {
	out := gen.CancellationQuote{
		BookingID: booking, PassengerIds: models.PassengerIDs(booking, positions), Seats: q.Part.Seats,
		PaidAmount: q.Part.Paid, RefundAmount: q.Part.Refund, FeeAmount: q.Part.Fee(), PolicyPercent: q.Terms.Percent,
		ReasonCode: q.Terms.Reason, HoursToDeparture: int64(q.Terms.Hours), Currency: models.Currency,
	}

	if q.Now != nil {
		out.FullAmount, out.UnpaidFeeAmount = &q.Now.Full, &q.Now.UnpaidFee
		out.NeedsApproval, out.ExpectedBy = &q.Now.NeedsApproval, toDateOrNil(q.Now.ExpectedBy)
	}

	return labelled(out)
}

// ListCancellationRequests are those of a booking.
func (o *Operations) ListCancellationRequests(
	ctx context.Context, r gen.ListCancellationRequestsRequestObject,
) (gen.ListCancellationRequestsResponseObject, error) {
	if err := o.mayRead(ctx, r.ID); err != nil {
		return nil, err
	}

	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Cancellations.List(ctx, cancellations.Filter{BookingID: r.ID, Page: p})
	if err != nil {
		return nil, err
	}

	all, err := requestsOf(ctx, list.Items)

	return gen.ListCancellationRequests200JSONResponse{Data: all, Meta: metaOf(p, list)}, err
}

func (o *Operations) cancellationRequestsOf(ctx context.Context, booking uuid.UUID) ([]gen.CancellationRequest, error) {
	rows, err := o.Store.Cancellations.OfBooking(ctx, booking)
	if err != nil {
		return nil, err
	}

	return requestsOf(ctx, rows)
}

func requestsOf(ctx context.Context, rows []models.CancellationRequest) ([]gen.CancellationRequest, error) {
	all := make([]gen.CancellationRequest, 0, len(rows))

	for i := range rows {
		one, err := requestOf(ctx, &rows[i])
		if err != nil {
			return nil, err
		}

		all = append(all, one)
	}

	return all, nil
}

func requestOf(ctx context.Context, r *models.CancellationRequest) (gen.CancellationRequest, error) {
	q, err := r.Quote()
	if err != nil {
		return gen.CancellationRequest{}, err
	}

	label := r.Status.Label()

	out := gen.CancellationRequest{
		ID: r.ID, BookingID: r.BookingID, BookingNumber: r.BookingNumber, CustomerName: optional(r.CustomerName),
		ProviderName: optional(r.ProviderName), TripTitle: optional(r.TripTitle), DepartureAt: utcOrNil(&r.DepartureAt),
		PassengerIds: r.PassengerIDs(), Status: r.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		Quote: quoteOf(r.BookingID, r.Positions, &q), Reason: optional(r.Reason), RequestedAt: utc(r.RequestedAt),
		DecidedAt: utcOrNil(r.DecidedAt), DecidedBy: r.DecidedBy, Note: optional(r.Note), RefundID: r.RefundID,
	}

	if middleware.Principal(ctx).Role.ReadsAnyBooking() {
		out.DecidedByName = optional(r.DeciderName)
	}

	return out, nil
}

// RequestCancellation keeps what a customer asks for; its workflow waits for the decision. Where that cannot be started, the sweep does.
func (o *Operations) RequestCancellation(
	ctx context.Context, r gen.RequestCancellationRequestObject,
) (gen.RequestCancellationResponseObject, error) {
	ask := cancellations.Ask{BookingID: r.ID, Reason: valueOf(r.Body.Reason), Passengers: r.Body.PassengerIds}
	claim := middleware.Claim(ctx)
	ask.ID, ask.Claim = cmp.Or(claim.ResourceID, models.NewID()), claim.ID

	if r.Params.IdempotencyKey != nil {
		ask.BodyHash = middleware.KeyScope(ctx).BodyHash
	}

	request, err := o.Store.Cancellations.Request(ctx, actor(ctx), ask, o.Now())
	if err != nil {
		return nil, err
	}

	o.followRequest(ctx, &request)

	body, err := o.requestNow(ctx, request.ID)
	if err != nil {
		return nil, err
	}

	return gen.RequestCancellation201JSONResponse{
		Body:    gen.CancellationRequestAnswer{Data: body},
		Headers: gen.RequestCancellation201ResponseHeaders{Location: "/api/v1/bookings/" + r.ID.String() + "/cancellation-requests"},
	}, nil
}

// followRequest has the workflow of a request look at it, and the refund executed that was ordered with its approval. What cannot be told
// now the sweep tells.
func (o *Operations) followRequest(ctx context.Context, r *models.CancellationRequest) {
	o.lookAtRequest(ctx, r.ID)

	if r.RefundID == nil {
		return
	}

	ctx = context.WithoutCancel(ctx)

	refund, err := o.refundNow(ctx, *r.RefundID)
	if err == nil && refund.Status == models.RefundPending {
		o.executeRefund(ctx, refund)
	}
}

// lookAtRequest has the workflow of a request look at it; uuid.Nil: there is none. What cannot be told now the sweep tells.
func (o *Operations) lookAtRequest(ctx context.Context, id uuid.UUID) {
	if id == uuid.Nil {
		return
	}

	ctx, done := detached(ctx)
	defer done()

	if err := o.Workflows.LookAtCancellation(ctx, id); err != nil {
		o.Log.WarnContext(ctx, "workflow of a cancellation request not told; the sweep retries",
			"cancellation_request_id", id, "request_id", middleware.RequestID(ctx), "error", err)
	}
}

// requestNow reads a request after its workflow was waited for, in time of its own.
func (o *Operations) requestNow(ctx context.Context, id uuid.UUID) (gen.CancellationRequest, error) {
	ctx, done := detached(ctx)
	defer done()

	r, err := o.Store.Cancellations.ByID(ctx, id)
	if err != nil {
		return gen.CancellationRequest{}, err
	}

	return requestOf(ctx, &r)
}

// WithdrawCancellation takes a request back.
func (o *Operations) WithdrawCancellation(
	ctx context.Context, r gen.WithdrawCancellationRequestObject,
) (gen.WithdrawCancellationResponseObject, error) {
	known, err := o.Store.Cancellations.ByID(ctx, r.RequestID)
	if err == nil && known.BookingID != r.ID {
		err = models.NotFound()
	}

	if err != nil {
		return nil, err
	}

	body, err := o.decideRequest(ctx, cancellations.Decision{RequestID: r.RequestID, To: models.CancellationWithdrawn})

	return gen.WithdrawCancellation200JSONResponse{Data: body}, err
}

// ApproveCancellation cancels what a customer has asked for.
func (o *Operations) ApproveCancellation(
	ctx context.Context, r gen.ApproveCancellationRequestObject,
) (gen.ApproveCancellationResponseObject, error) {
	d := cancellations.Decision{RequestID: r.ID, To: models.CancellationApproved, Claim: middleware.Claim(ctx).ID}
	if r.Body != nil {
		d.Note, d.Expected = valueOf(r.Body.Note), r.Body.ExpectedAmount
	}

	var err error
	if d.AtMost, err = o.atMost(ctx); err != nil {
		return nil, err
	}

	body, err := o.decideRequest(ctx, d)

	return gen.ApproveCancellation200JSONResponse{Data: body}, err
}

// RejectCancellation leaves the booking as it is, and tells the customer why.
func (o *Operations) RejectCancellation(
	ctx context.Context, r gen.RejectCancellationRequestObject,
) (gen.RejectCancellationResponseObject, error) {
	body, err := o.decideRequest(ctx, cancellations.Decision{RequestID: r.ID, To: models.CancellationRejected, Note: r.Body.Note})

	return gen.RejectCancellation200JSONResponse{Data: body}, err
}

func (o *Operations) decideRequest(ctx context.Context, d cancellations.Decision) (gen.CancellationRequest, error) {
	request, err := o.Store.Cancellations.Decide(ctx, actor(ctx), d, o.Now())
	if request.ID != uuid.Nil {
		o.followRequest(ctx, &request)
	}

	if err != nil {
		return gen.CancellationRequest{}, err
	}

	return o.requestNow(ctx, request.ID)
}

// ListAllCancellationRequests lists requests of all bookings.
func (o *Operations) ListAllCancellationRequests(
	ctx context.Context, r gen.ListAllCancellationRequestsRequestObject,
) (gen.ListAllCancellationRequestsResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Cancellations.List(ctx, cancellations.Filter{
		Status: valueOf(r.Params.Status), ProviderID: valueOf(r.Params.ProviderID), Search: valueOf(r.Params.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	all, err := requestsOf(ctx, list.Items)

	return gen.ListAllCancellationRequests200JSONResponse{Data: all, Meta: metaOf(p, list)}, err
}

// GetCancellationRequest is one request.
func (o *Operations) GetCancellationRequest(
	ctx context.Context, r gen.GetCancellationRequestRequestObject,
) (gen.GetCancellationRequestResponseObject, error) {
	row, err := o.Store.Cancellations.ByID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	body, err := requestOf(ctx, &row)
	if err != nil {
		return nil, err
	}

	body.ApprovalQuote, err = o.approvalQuote(ctx, &row)

	return gen.GetCancellationRequest200JSONResponse{Data: body}, err
}

// approvalQuote is what an approval of the request by the caller would do; nil where it cannot be approved now.
func (o *Operations) approvalQuote(ctx context.Context, r *models.CancellationRequest) (*gen.CancellationQuote, error) {
	if r.Status != models.CancellationRequested {
		return nil, nil //nolint:nilnil // there is nothing to approve
	}

	asked, err := r.Quote()
	if err != nil {
		return nil, err
	}

	q, positions, err := o.Store.Refunds.QuoteOrder(ctx, middleware.Principal(ctx).UserID, r.BookingID, r.Order(&asked), o.Now())

	switch {
	case models.CodeOf(err) == models.CodeInvalidState: // another cancellation waits for its approval
		return nil, nil //nolint:nilnil // as said
	case err != nil:
		return nil, err
	}

	out := quoteOf(r.BookingID, positions, &q)

	return &out, nil
}
