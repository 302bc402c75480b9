package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// orderedBy is what a person has ordered back over all payments, in SAR and not FAILED.
type orderedBy struct {
	hour      models.Money // within the last hour, but for trips that were cancelled
	day       models.Money // within 24 hours, of what counts towards the limit per person (models.Refund.AloneAbove) without an approval
	cancelled bool         // the trip of the order in question was cancelled: it counts in neither
}

// lockOrders is sumOrders with the acts of the requester locked, so that nothing is added meanwhile.
func lockOrders(ctx context.Context, tx bun.Tx, r *models.Refund) (orderedBy, error) {
	if r.RequestedBy == nil {
		return orderedBy{}, nil
	}

	if err := db.LockActs(ctx, tx, *r.RequestedBy); err != nil {
		return orderedBy{}, err
	}

	return sumOrders(ctx, tx, r)
}

// sumOrders sums up what the requester of r has ordered before.
func sumOrders(ctx context.Context, in bun.IDB, r *models.Refund) (sum orderedBy, err error) {
	err = in.NewRaw(`SELECT coalesce(sum(rf.amount) FILTER (WHERE rf.created_at > now() - interval '1 hour' AND tr.id IS NULL), 0),
			coalesce(sum(rf.amount) FILTER (WHERE rf.alone_above IS NOT NULL AND rf.approval_until IS NULL), 0),
			EXISTS (SELECT FROM bookings AS b JOIN trips AS t ON t.id = b.trip_id WHERE b.id = ?1 AND `+bookings.CalledOff("t")+`)
		FROM refunds AS rf LEFT JOIN bookings AS bk ON bk.id = rf.booking_id
		LEFT JOIN trips AS tr ON tr.id = bk.trip_id AND `+bookings.CalledOff("tr")+`
		WHERE rf.requested_by = ?0 AND rf.created_at > now() - interval '24 hours' AND rf.status <> ?2 AND rf.currency = ?3`,
		*r.RequestedBy, r.BookingID, models.RefundFailed, models.Currency).
		Scan(ctx, &sum.hour, &sum.day, &sum.cancelled)
	if err != nil {
		return sum, fmt.Errorf("sum refunds of the requester: %w", err)
	}

	return sum, nil
}

// withinBound makes sure that what the requester orders on the word of no code stays within r.AtMost: of the payment, in however many
// parts, and within an hour over all payments. Another currency than SAR is always over it: there is no rate. Payment and acts are locked.
// Error: STEP_UP_REQUIRED.
func withinBound(ctx context.Context, tx bun.Tx, r *models.RefundRequest, out *models.Refund, sum orderedBy) error {
	if r.AtMost == nil {
		return nil
	}

	var before models.Money

	err := tx.NewSelect().Model((*models.Refund)(nil)).ColumnExpr("coalesce(sum(amount), 0)").
		Where("payment_transaction_id = ?", out.PaymentTransactionID).Where("requested_by = ?", r.RequestedBy).
		Where("status <> ?", models.RefundFailed).Scan(ctx, &before)
	if err != nil {
		return fmt.Errorf("sum refunds of the payment: %w", err)
	}

	if sum.cancelled {
		sum.hour = models.Money{}
	}

	if models.NeedsCode(*r.AtMost, out.Amount, out.Currency, before) || models.NeedsCode(*r.AtMost, out.Amount, out.Currency, sum.hour) {
		return models.StepUpRequired()
	}

	return nil
}

// decisions are a table of what people decide about refunds, of which those that move money are counted.
type decisions struct {
	table    string
	decision string
}

var (
	approvals = decisions{table: "refund_approvals", decision: string(models.ApprovalApproved)}
	payouts   = decisions{table: "refund_payouts", decision: string(models.PayoutPaid)}
)

// decidedBy is what a person has decided so within 24 hours, in SAR.
type decidedBy struct {
	hour, day models.Money
}

// sumDecisions locks the acts of a person and sums up what they have decided before now.
func sumDecisions(ctx context.Context, tx bun.Tx, of decisions, person uuid.UUID, now time.Time) (sum decidedBy, err error) {
	if err := db.LockActs(ctx, tx, person); err != nil {
		return sum, err
	}

	err = tx.NewRaw(`SELECT coalesce(sum(rf.amount) FILTER (WHERE d.decided_at > ?3), 0), coalesce(sum(rf.amount), 0)
		FROM ?0 AS d JOIN refunds AS rf ON rf.id = d.refund_id
		WHERE d.decided_by = ?1 AND d.decision = ?2 AND d.decided_at > ?4 AND rf.currency = ?5`,
		bun.Ident(of.table), person, of.decision, now.Add(-time.Hour), now.Add(-24*time.Hour), models.Currency).
		Scan(ctx, &sum.hour, &sum.day)
	if err != nil {
		return sum, fmt.Errorf("sum decisions of a person: %w", err)
	}

	return sum, nil
}

// mayDecideSum refuses a decision that moves money when the sums of who makes it are over a limit: atMost within an hour without a code
// (nil: no bound), and of payouts policies.PayoutAbove within 24 hours. The first payout of 24 hours is never too large: two people stand
// behind it already, and no other person could pay it in parts. Errors: STEP_UP_REQUIRED, APPROVAL_REQUIRED.
func (s *Store) mayDecideSum(
	ctx context.Context, tx bun.Tx, of decisions, by uuid.UUID, r *models.Refund, atMost *models.Money, now time.Time,
) error {
	sum, err := sumDecisions(ctx, tx, of, by, now)
	if err != nil {
		return err
	}

	if atMost != nil && models.NeedsCode(*atMost, r.Amount, r.Currency, sum.hour) {
		return models.StepUpRequired()
	}

	above := s.policies.PayoutAbove
	if of == payouts && above.IsPositive() && sum.day.IsPositive() && r.Currency == models.Currency && sum.day.Add(r.Amount).Cmp(above) > 0 {
		return models.NewError(models.CodeApprovalRequired,
			"payout.limit", "amount", sum.day, "limit", above)
	}

	return nil
}
