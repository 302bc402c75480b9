package refunds

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
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

// OfBooking are the refunds of a booking, oldest first, with what was decided about their approval.
func (s *Store) OfBooking(ctx context.Context, booking uuid.UUID) ([]models.Refund, error) {
	var rows []models.Refund
	if err := s.db.NewSelect().Model(&rows).Where("booking_id = ?", booking).Order("created_at", "id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read refunds of a booking: %w", err)
	}

	return rows, payments.WithApprovals(ctx, s.db, rows)
}

// FeeOf is what is kept of what was paid for the cancelled passengers of a booking: the fees of its cancellations, as far as they did not
// go back since. A cancellation that waits for an approval, or was not approved, keeps nothing.
func (s *Store) FeeOf(ctx context.Context, booking uuid.UUID) (models.Money, error) {
	all, err := cancellationsOf(ctx, s.db, booking)
	if err != nil || len(all) == 0 {
		return models.Money{}, err
	}

	var t models.PaymentTransaction
	if err := s.db.NewSelect().Model(&t).Where("id = ?", all[0].PaymentTransactionID).Scan(ctx); err != nil {
		return models.Money{}, fmt.Errorf("read payment of a cancellation: %w", err)
	}

	return models.FeesOf(doneParts(all)).AtMost(t.Remaining()), nil
}

// RefundFilter narrows the list of refunds; zero fields do not.
type RefundFilter struct {
	BookingID     uuid.UUID
	TransactionID uuid.UUID // the payment
	ProviderID    uuid.UUID // whose booking or campaign it is
	Search        string    // what ListTransactions finds their payments by, and part of a payout reference
	Status        models.RefundStatus
	Channel       models.RefundChannel
	NeedsPayout   *bool // whether finance staff have to pay it out or to reject it
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
	q = db.WhereEqual(q, "rf.payment_transaction_id", f.TransactionID)
	q = db.WhereDuring(q, "rf.created_at", f.Days)

	if f.ProviderID != uuid.Nil {
		q = q.Where("EXISTS (SELECT FROM payment_transactions AS pt WHERE pt.id = rf.payment_transaction_id AND pt.provider_id = ?)",
			f.ProviderID)
	}

	if f.Search != "" {
		found, err := bookings.ParseSearch(f.Search)
		if err != nil {
			return db.Listed[models.Refund]{}, err
		}

		paidOut := s.db.NewSelect().TableExpr("refund_payouts AS rp").ColumnExpr("rp.refund_id").Where("rp.payout_reference IS NOT NULL").
			Where("search_fold(rp.payout_reference) LIKE '%' || search_fold(?) || '%'", db.LikeEscaper.Replace(strings.TrimSpace(f.Search)))
		q = q.Where("(rf.payment_transaction_id IN (?) OR rf.id IN (?))", found.Transactions(s.db.DB), paidOut)
	}

	if f.NeedsPayout != nil {
		q = q.Where("((rf.channel = ? AND rf.status = ? OR rf.returned_at IS NOT NULL OR "+owedWhere+") "+
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

// nameSubjects reads whose bookings and campaigns the refunds are of: one query for all of them.
func nameSubjects(ctx context.Context, in bun.IDB, rows []models.Refund) error {
	if len(rows) == 0 {
		return nil
	}

	ids := make([]uuid.UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].PaymentTransactionID
	}

	var found []struct {
		ID                       uuid.UUID
		ProviderID               uuid.UUID
		Provider, Customer, Trip string
	}

	err := in.NewSelect().TableExpr("payment_transactions AS pt").Join("JOIN providers AS p ON p.id = pt.provider_id").
		Join("LEFT JOIN bookings AS bk ON bk.id = pt.booking_id").Join("LEFT JOIN trips AS tr ON tr.id = bk.trip_id").
		ColumnExpr("pt.id, pt.provider_id, p.name AS provider, coalesce(bk.contact_name, '') AS customer, coalesce(tr.title, '') AS trip").
		Where("pt.id IN (?)", bun.List(ids)).Scan(ctx, &found)
	if err != nil {
		return fmt.Errorf("read what refunds are of: %w", err)
	}

	of := make(map[uuid.UUID]int, len(found))
	for i := range found {
		of[found[i].ID] = i
	}

	for i := range rows {
		if at, ok := of[rows[i].PaymentTransactionID]; ok {
			f := &found[at]
			rows[i].ProviderID, rows[i].ProviderName, rows[i].CustomerName, rows[i].TripTitle = &f.ProviderID, f.Provider, f.Customer, f.Trip
		}
	}

	return nil
}
