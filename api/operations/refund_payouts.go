package operations

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/models"
	"rihla/workflows"
)

// ConfirmRefundPayout notes that finance staff have paid a refund out manually.
func (o *Operations) ConfirmRefundPayout(
	ctx context.Context, r gen.ConfirmRefundPayoutRequestObject,
) (gen.ConfirmRefundPayoutResponseObject, error) {
	refund, err := o.decidePayout(ctx, models.RefundPayout{
		RefundID: r.ID, Decision: models.PayoutPaid, Reference: &r.Body.PayoutReference,
		PaidOutOn: optional(dateOf(r.Body.PaidOutOn)), Note: valueOf(r.Body.Note), NewReference: valueOf(r.Body.ReferenceMustBeNew),
	})

	switch {
	case err != nil:
		return nil, err
	case refund.Status == models.RefundPending:
		return gen.ConfirmRefundPayout202JSONResponse{Data: refundOf(&refund)}, nil
	default:
		return gen.ConfirmRefundPayout200JSONResponse{Data: refundOf(&refund)}, nil
	}
}

// RejectRefundPayout notes that a refund is not paid out.
func (o *Operations) RejectRefundPayout(
	ctx context.Context, r gen.RejectRefundPayoutRequestObject,
) (gen.RejectRefundPayoutResponseObject, error) {
	refund, err := o.decidePayout(ctx, models.RefundPayout{RefundID: r.ID, Decision: models.PayoutRejected, Note: r.Body.Reason})

	switch {
	case err != nil:
		return nil, err
	case refund.Status == models.RefundPending:
		return gen.RejectRefundPayout202JSONResponse{Data: refundOf(&refund)}, nil
	default:
		return gen.RejectRefundPayout200JSONResponse{Data: refundOf(&refund)}, nil
	}
}

// decidePayout keeps the decision, and waits for its effect as long as a caller may wait. Once it is kept it is true,
// whatever becomes of the wait.
func (o *Operations) decidePayout(ctx context.Context, d models.RefundPayout) (models.Refund, error) {
	if d.Decision == models.PayoutPaid {
		atMost, err := o.atMost(ctx)
		if err != nil {
			return models.Refund{}, err
		}

		d.AtMost = atMost

		// A gateway may have made what it had refused: then it is not paid a second time.
		if failed, err := o.Store.Refunds.RefundByID(ctx, d.RefundID); err == nil && failed.FailedAtGateway() {
			o.compare(ctx, models.RefundRequest{TransactionID: failed.PaymentTransactionID})
		}
	}

	refund, err := o.Store.Refunds.DecidePayout(ctx, actor(ctx), d, o.Now())
	if refund.ID == uuid.Nil {
		return refund, err
	}

	if refund.Status == models.RefundPending {
		o.applyPayout(ctx, refund)
	}

	if err != nil { // what was decided is a rejection, and takes effect
		return refund, err
	}

	return o.refundNow(ctx, refund.ID)
}

// refundNow reads a refund after its workflow was waited for, in time of its own: an orchestrator that does not answer uses up all of the
// wait.
func (o *Operations) refundNow(ctx context.Context, id uuid.UUID) (models.Refund, error) {
	ctx, done := detached(ctx)
	defer done()

	return o.Store.Refunds.RefundByID(ctx, id)
}

// applyPayout signals the refund's workflow, and waits until it has settled. A lost signal is repeated by the sweep.
func (o *Operations) applyPayout(ctx context.Context, refund models.Refund) {
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.RefundWait)
	defer cancel()

	settled, err := o.Workflows.PayoutDecided(wait, refund)
	if err == nil {
		err = settled(wait)
	}

	if err != nil && !errors.Is(err, workflows.ErrStillRunning) {
		o.Log.WarnContext(ctx, "payout decision not delivered to its refund; the sweep retries",
			"refund_id", refund.ID, "request_id", middleware.RequestID(ctx), "error", err)
	}
}
