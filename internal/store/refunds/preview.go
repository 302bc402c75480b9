package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// PreviewRefund says what the refund would do that OrderRefund would order at now and SettleRefund book, by the same steps but for those
// that write (rules: refunds.preview). It promises nothing. Errors: those of OrderRefund.
func (s *Store) PreviewRefund(ctx context.Context, r models.RefundRequest, now time.Time) (models.RefundPreview, error) {
	var out models.RefundPreview

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := lockRefundable(ctx, tx, r)
		if err != nil {
			return err
		}

		refund, err := s.planRefund(ctx, tx, &r, t, now)
		if err != nil {
			return err
		}

		var b models.Booking
		if err := tx.NewSelect().Model(&b).Where("id = ?", r.BookingID).Scan(ctx); err != nil {
			return fmt.Errorf("read booking: %w", db.NotFound(err))
		}

		st := &refundSettlement{tx: tx, t: t, r: &refund, now: now}

		split, err := st.split(ctx)
		if err != nil {
			return err
		}

		out = models.RefundPreview{
			BookingID: b.ID, TransactionID: t.ID, Type: refund.RefundType, Channel: refund.Channel, Amount: refund.Amount,
			Remaining: t.Remaining().Sub(refund.Amount), Currency: refund.Currency,
			Outside:       t.OutsideRefundedAmount,
			NeedsApproval: refund.ApprovalPending, PolicyPercent: refund.PolicyPercent, Reason: refund.PolicyReason,
			Line: st.done.line, Split: split, Booking: b.Status, BookingAfter: b.Status,
		}

		t.RefundedAmount = t.RefundedAmount.Add(refund.Amount)
		if st.cancels(&b) {
			out.BookingAfter, out.SeatsFreed = models.BookingCancelled, b.Seats
		}

		return nil
	})

	return out, err
}
