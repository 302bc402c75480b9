package refunds

import (
	"context"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// RefundByID reads one refund, with what was decided about its approval and its payout. Error: NOT_FOUND.
func (s *Store) RefundByID(ctx context.Context, id uuid.UUID) (models.Refund, error) {
	var r models.Refund
	if err := s.db.NewSelect().Model(&r).Where("id = ?", id).Scan(ctx); err != nil {
		return r, db.NotFound(err)
	}

	if err := db.NumberRefunds(ctx, s.db, &r); err != nil {
		return r, err
	}

	rows := []models.Refund{r}
	err := describe(ctx, s.db, rows)

	return rows[0], err
}

// RefundFilter narrows the list of refunds; zero fields do not.
type RefundFilter struct {
	BookingID   uuid.UUID
	Status      models.RefundStatus
	Channel     models.RefundChannel
	NeedsPayout *bool // whether finance staff have to pay it out or to reject it
	// NeedsApproval is whether it waits for the word of a second person.
	NeedsApproval *bool
	Days          models.Days
	Page          db.Page
}

var refundOrder = db.Order{
	Columns:  map[string]string{"created_at": "rf.created_at", "amount": "rf.amount"},
	ID:       "rf.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// ListRefunds lists refunds, newest first unless f.Page says otherwise. Sort fields: created_at, amount.
func (s *Store) ListRefunds(ctx context.Context, f RefundFilter) (db.Listed[models.Refund], error) {
	q := s.db.NewSelect().Model((*models.Refund)(nil))
	q = db.WhereEqual(q, "rf.booking_id", f.BookingID)
	q = db.WhereEqual(q, "rf.status", f.Status)
	q = db.WhereEqual(q, "rf.channel", f.Channel)
	q = db.WhereDuring(q, "rf.created_at", f.Days)

	if f.NeedsPayout != nil {
		q = q.Where("((rf.channel = ? AND rf.status = ? OR rf.returned_at IS NOT NULL) "+
			"AND (rf.approval_until IS NULL OR EXISTS (SELECT FROM refund_approvals AS ra WHERE ra.refund_id = rf.id AND ra.decision = ?)) "+
			"AND NOT EXISTS (SELECT FROM refund_payouts AS rp WHERE rp.refund_id = rf.id)) = ?",
			models.RefundByHand, models.RefundPending, models.ApprovalApproved, *f.NeedsPayout)
	}

	if f.NeedsApproval != nil {
		// Few refunds wait: as it stands here each of their index is looked up among the decisions, and not all decisions are read.
		const waits = "rf.approval_pending AND NOT EXISTS (SELECT FROM refund_approvals AS ra WHERE ra.refund_id = rf.id)"

		if *f.NeedsApproval {
			q = q.Where(waits)
		} else {
			q = q.Where("NOT (" + waits + ")")
		}
	}

	list, err := db.ListWith[models.Refund](ctx, q, f.Page, refundOrder, db.ListOptions{Counts: &s.db.Counts})
	if err != nil {
		return list, err
	}

	if err := db.NumberRefunds(ctx, s.db, db.Pointers(list.Items)...); err != nil {
		return list, err
	}

	return list, describe(ctx, s.db, list.Items)
}
