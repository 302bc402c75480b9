package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// PreviewRefund says what the refund would do that OrderRefund would order at now and SettleRefund book, by the same steps but for those
// that write (rules: refunds.preview). It reserves nothing. Errors: those of OrderRefund.
func (s *Store) PreviewRefund(ctx context.Context, r models.RefundRequest, now time.Time) (models.RefundPreview, error) {
	var out models.RefundPreview

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := lockRefundable(ctx, tx, r)
		if err != nil {
			return err
		}

		plan, err := s.planRefund(ctx, tx, &r, t, now)
		if err != nil {
			return err
		}

		plan.refund.CreatedAt = now
		out, err = (&refundSettlement{tx: tx, t: t, r: &plan.refund, now: now}).preview(ctx, r.BookingID)
		out.Remaining = t.Remaining().Sub(plan.refund.Amount)

		if plan.cancellation != nil { // all passengers that are left
			part := plan.cancellation.Part()
			out.BookingAfter, out.SeatsFreed, out.Fee = models.BookingCancelled, plan.cancellation.Seats, new(part.Fee())
		}

		out.Outside = t.OutsideRefundedAmount

		return err
	})

	return out, err
}

// PreviewOrdered says what a PENDING refund of a booking will do, for the person who decides about it (rules: refunds.preview). Errors:
// NOT_FOUND; INVALID_STATE when it has ended, or is of a campaign.
func (s *Store) PreviewOrdered(ctx context.Context, id uuid.UUID, now time.Time) (models.RefundPreview, error) {
	var out models.RefundPreview

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, t, err := lockRefund(ctx, tx, id)

		switch {
		case err != nil:
			return err
		case r.Status != models.RefundPending:
			return models.NewError(models.CodeInvalidState, "refund.preview_done", "status", r.Status)
		case r.BookingID == nil:
			return models.NewError(models.CodeInvalidState, "refund.preview_campaign")
		}

		out, err = (&refundSettlement{tx: tx, t: &t, r: &r, now: now}).preview(ctx, *r.BookingID)
		out.Remaining, out.NeedsApproval = t.Remaining(), r.NeedsApproval()

		return err
	})

	return out, err
}

// preview is what the settlement of a refund of the booking would do, up to the first write. What is left of the payment is the caller's
// to say: an ordered refund is reserved already.
func (st *refundSettlement) preview(ctx context.Context, booking uuid.UUID) (models.RefundPreview, error) {
	var b models.Booking
	if err := st.tx.NewSelect().Model(&b).Where("id = ?", booking).Scan(ctx); err != nil {
		return models.RefundPreview{}, fmt.Errorf("read booking: %w", db.NotFound(err))
	}

	split, err := st.split(ctx)
	if err != nil {
		return models.RefundPreview{}, err
	}

	out := models.RefundPreview{
		BookingID: b.ID, TransactionID: st.t.ID, Type: st.r.RefundType, Channel: st.r.Channel, Amount: st.r.Amount, Currency: st.r.Currency,
		NeedsApproval: st.r.ApprovalPending, ExpectedBy: st.r.ExpectedBy(), PolicyPercent: st.r.PolicyPercent, Reason: st.r.PolicyReason,
		Line: st.done.line, Split: split, Booking: b.Status, BookingAfter: b.Status,
	}

	after := *st.t
	after.RefundedAmount = after.RefundedAmount.Add(st.r.Amount)

	if (&refundSettlement{tx: st.tx, t: &after, r: st.r, now: st.now}).cancels(&b) {
		out.BookingAfter, out.SeatsFreed = models.BookingCancelled, b.Seats
	}

	return out, nil
}
