package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// PreviewTripCancellation says what calling a trip off would come to.
func (o *Operations) PreviewTripCancellation(
	ctx context.Context, r gen.PreviewTripCancellationRequestObject,
) (gen.PreviewTripCancellationResponseObject, error) {
	sums, err := o.Store.TripCancellations.Preview(ctx, actor(ctx), r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PreviewTripCancellation200JSONResponse{Data: gen.TripCancellationPreview{
		TripID: r.ID, Bookings: int64(sums.Bookings), Seats: int64(sums.Seats), RefundTotal: sums.RefundTotal,
		ClawbackTotal: sums.ClawbackTotal, OpenCheckouts: int64(sums.OpenCheckouts), Campaigns: int64(sums.Campaigns),
		CampaignRefundTotal: sums.CampaignRefundTotal, NeedsApproval: sums.NeedsApproval, Currency: models.Currency,
	}}, nil
}

// CancelTrip calls a trip off (rules: trips.cancel). From the order on it is certain; where its workflow cannot be started, the sweep does.
func (o *Operations) CancelTrip(ctx context.Context, r gen.CancelTripRequestObject) (gen.CancelTripResponseObject, error) {
	order := tripcancel.Order{TripID: r.ID, Reason: r.Body.Reason, Expected: r.Body.ExpectedRefundTotal}

	var err error
	if order.AtMost, err = o.atMost(ctx); err != nil {
		return nil, err
	}

	ordered, err := o.Store.TripCancellations.Order(ctx, actor(ctx), order, o.Now())
	if err != nil {
		return nil, err
	}

	if !ordered.Repeated {
		o.followTrip(ctx, &ordered.TripCancellation)
	}

	read, done := detached(ctx)
	defer done()

	body, err := o.tripCancellation(read, r.ID)

	switch {
	case err != nil:
		return nil, err
	case ordered.Repeated:
		return gen.CancelTrip200JSONResponse{Data: body}, nil
	default:
		return gen.CancelTrip202JSONResponse{Data: body}, nil
	}
}

// followTrip has the workflow look at the cancellation of a trip. What cannot be told now the sweep tells.
func (o *Operations) followTrip(ctx context.Context, c *models.TripCancellation) {
	ctx, done := detached(ctx)
	defer done()

	err := o.Workflows.LookAtTripCancellation(ctx, models.TripCancellationOrder{ID: c.ID, TripID: c.TripID, ProviderID: c.ProviderID})
	if err != nil {
		o.Log.WarnContext(ctx, "workflow of a trip's cancellation not told; the sweep retries",
			"trip_id", c.TripID, "request_id", middleware.RequestID(ctx), "error", err)
	}
}

// GetTripCancellation says how far the cancellation of a trip is.
func (o *Operations) GetTripCancellation(
	ctx context.Context, r gen.GetTripCancellationRequestObject,
) (gen.GetTripCancellationResponseObject, error) {
	body, err := o.tripCancellation(ctx, r.ID)

	return gen.GetTripCancellation200JSONResponse{Data: body}, err
}

// ApproveTripCancellation lets it go on.
func (o *Operations) ApproveTripCancellation(
	ctx context.Context, r gen.ApproveTripCancellationRequestObject,
) (gen.ApproveTripCancellationResponseObject, error) {
	d := tripcancel.Decision{TripID: r.ID, Approve: true}
	if r.Body != nil {
		d.Note = valueOf(r.Body.Note)
	}

	var err error
	if d.AtMost, err = o.atMost(ctx); err != nil {
		return nil, err
	}

	body, err := o.decideTrip(ctx, d)

	return gen.ApproveTripCancellation200JSONResponse{Data: body}, err
}

// RejectTripCancellation has the trip run after all.
func (o *Operations) RejectTripCancellation(
	ctx context.Context, r gen.RejectTripCancellationRequestObject,
) (gen.RejectTripCancellationResponseObject, error) {
	body, err := o.decideTrip(ctx, tripcancel.Decision{TripID: r.ID, Note: r.Body.Note})

	return gen.RejectTripCancellation200JSONResponse{Data: body}, err
}

func (o *Operations) decideTrip(ctx context.Context, d tripcancel.Decision) (gen.TripCancellation, error) {
	c, err := o.Store.TripCancellations.Decide(ctx, actor(ctx), d, o.Now())
	if c.ID != uuid.Nil {
		o.followTrip(ctx, &c)
	}

	if err != nil {
		return gen.TripCancellation{}, err
	}

	read, done := detached(ctx)
	defer done()

	return o.tripCancellation(read, d.TripID)
}

// ListTripCancellations lists the cancellations of all trips.
func (o *Operations) ListTripCancellations(
	ctx context.Context, r gen.ListTripCancellationsRequestObject,
) (gen.ListTripCancellationsResponseObject, error) {
	q := r.Params

	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.TripCancellations.List(ctx, tripcancel.Filter{
		Status: valueOf(q.Status), NeedsApproval: q.NeedsApproval, ProviderID: valueOf(q.ProviderID), TripID: valueOf(q.TripID),
		Days: span, Page: p,
	})
	if err != nil {
		return nil, err
	}

	all := mapEach(list.Items, func(c *tripcancel.Counted) gen.TripCancellation { return o.tripCancellationOf(ctx, c) })

	return gen.ListTripCancellations200JSONResponse{Data: all, Meta: metaOf(p, list)}, nil
}

func (o *Operations) tripCancellation(ctx context.Context, trip uuid.UUID) (gen.TripCancellation, error) {
	c, err := o.Store.TripCancellations.Get(ctx, actor(ctx), trip)
	if err != nil {
		return gen.TripCancellation{}, err
	}

	return o.tripCancellationOf(ctx, &c), nil
}

func (o *Operations) tripCancellationOf(ctx context.Context, c *tripcancel.Counted) gen.TripCancellation {
	n := &c.Counts

	out := gen.TripCancellation{
		ID: c.ID, TripID: c.TripID, TripTitle: c.Title, TripOrigin: c.Origin, TripDestination: c.Destination,
		TripDepartureAt: utc(c.DepartureAt), ProviderID: c.ProviderID, ProviderName: c.ProviderName,
		Status: c.Status, Reason: c.Reason, Seats: int64(c.Seats), RefundTotal: c.RefundTotal,
		ClawbackTotal: c.ClawbackTotal, OpenCheckouts: int64(c.OpenCheckouts), Campaigns: int64(c.Campaigns), Currency: models.Currency,
		NeedsApproval: c.ApprovalPending, ApprovalAbove: c.ApprovalAbove, ApprovalUntil: utcOrNil(c.ApprovalUntil),
		RequestedBy: c.RequestedBy, RequestedByName: optional(c.RequesterName), RequestedAt: utc(c.RequestedAt),
		DecidedBy: c.DecidedBy, DecidedByName: optional(c.DeciderName), DecidedAt: utcOrNil(c.DecidedAt), Note: optional(c.Note),
		DoneAt:   utcOrNil(c.DoneAt),
		Bookings: int64(n.Bookings), Cancelled: int64(n.Cancelled), RefundsSucceeded: int64(n.RefundsSucceeded),
		RefundsPending: int64(n.RefundsPending), RefundsFailed: int64(n.RefundsFailed), RefundsByHand: int64(n.RefundsByHand),
		RefundedTotal: n.RefundedTotal,
	}

	if !middleware.Principal(ctx).Role.IsProvider() {
		out.WorkflowURL = o.workflowURL(models.TripCancellationWorkflowID(c.TripID))
	}

	return labelled(out)
}
