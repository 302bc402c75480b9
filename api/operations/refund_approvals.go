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

// ApproveRefund lets a refund go its way that another user has ordered.
func (o *Operations) ApproveRefund(ctx context.Context, r gen.ApproveRefundRequestObject) (gen.ApproveRefundResponseObject, error) {
	d := models.RefundApproval{RefundID: r.ID, Decision: models.ApprovalApproved}
	if r.Body != nil {
		d.Note = valueOf(r.Body.Note)
	}

	refund, err := o.decideApproval(ctx, d)

	switch {
	case err != nil:
		return nil, err
	case refund.Status == models.RefundPending:
		return gen.ApproveRefund202JSONResponse{Data: refundOf(&refund)}, nil
	default:
		return gen.ApproveRefund200JSONResponse{Data: refundOf(&refund)}, nil
	}
}

// RejectRefund ends a refund that waits for its approval.
func (o *Operations) RejectRefund(ctx context.Context, r gen.RejectRefundRequestObject) (gen.RejectRefundResponseObject, error) {
	refund, err := o.decideApproval(ctx, models.RefundApproval{RefundID: r.ID, Decision: models.ApprovalRejected, Note: r.Body.Note})

	switch {
	case err != nil:
		return nil, err
	case refund.Status == models.RefundPending:
		return gen.RejectRefund202JSONResponse{Data: refundOf(&refund)}, nil
	default:
		return gen.RejectRefund200JSONResponse{Data: refundOf(&refund)}, nil
	}
}

// decideApproval keeps the decision, and waits for its effect as long as a caller may wait. Once it is kept it is true, whatever becomes
// of the wait.
func (o *Operations) decideApproval(ctx context.Context, d models.RefundApproval) (models.Refund, error) {
	if d.Decision == models.ApprovalApproved { // which moves money; a rejection moves none
		atMost, err := o.atMost(ctx)
		if err != nil {
			return models.Refund{}, err
		}

		d.AtMost = atMost
	}

	refund, err := o.Store.Refunds.DecideApproval(ctx, actor(ctx), d, o.Now())
	if refund.ID == uuid.Nil {
		return refund, err
	}

	if refund.Status == models.RefundPending {
		o.applyApproval(ctx, refund)
	}

	if err != nil { // what was decided is a rejection, and takes effect
		return refund, err
	}

	return o.refundNow(ctx, refund.ID)
}

// applyApproval signals the refund's workflow. It waits until the refund has ended, but not for a manual payout, which takes people. A
// lost signal is repeated by the sweep.
func (o *Operations) applyApproval(ctx context.Context, refund models.Refund) {
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.RefundWait)
	defer cancel()

	ended, err := o.Workflows.ApprovalDecided(wait, refund)
	if err == nil && (!refund.IsApproved() || refund.Channel != models.RefundByHand) {
		err = ended(wait)
	}

	if err != nil && !errors.Is(err, workflows.ErrStillRunning) {
		o.Log.WarnContext(ctx, "approval not delivered to its refund; the sweep retries",
			"refund_id", refund.ID, "request_id", middleware.RequestID(ctx), "error", err)
	}
}

func approvalOf(d *models.RefundApproval) *gen.RefundApproval {
	if d == nil {
		return nil
	}

	out := labelled(gen.RefundApproval{
		Decision: d.Decision, DecidedBy: d.DecidedBy, DecidedByName: optional(d.DeciderName), DecidedAt: utc(d.DecidedAt),
		Note:   optional(d.Note),
		NoteAr: optional(models.NoteIn(models.LocaleArabic, d.Note, d.NoteText)),
		NoteEn: optional(models.NoteIn(models.LocaleEnglish, d.Note, d.NoteText)),
	})

	return &out
}
