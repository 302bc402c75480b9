package refunds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// boughtBy is the payment by which a booking was bought, whatever else was paid for it. Error: INVALID_STATE when nothing was.
func boughtBy(ctx context.Context, q *bun.SelectQuery, b *models.Booking) (*models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	err := q.Model(&t).Where("booking_id = ?", b.ID).Where("kind = ?", models.KindPayment).
		Where("status = ?", models.TransactionPaid).Scan(ctx)

	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, models.NewError(models.CodeInvalidState, "cancellation.not_confirmed", "status", b.Status)
	case err != nil:
		return nil, fmt.Errorf("read payment: %w", err)
	default:
		return &t, nil
	}
}

// cancellationsOf are all of a booking, first to last.
func cancellationsOf(ctx context.Context, in bun.IDB, booking uuid.UUID) ([]models.Cancellation, error) {
	var all []models.Cancellation
	if err := in.NewSelect().Model(&all).Where("cn.booking_id = ?", booking).Order("cn.n").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read cancellations: %w", err)
	}

	return all, nil
}

// earlierParts are what the cancellations of a booking have taken out of it. Error: INVALID_STATE while one of them waits for an
// approval: what the next one comes to depends on it.
func earlierParts(all []models.Cancellation) ([]models.CancelledPart, error) {
	for i := range all {
		if all[i].Status == models.CancellationPending {
			return nil, models.NewError(models.CodeInvalidState, "cancellation.waits")
		}
	}

	return doneParts(all), nil
}

// doneParts are what was taken out of a booking by those of its cancellations that took effect.
func doneParts(all []models.Cancellation) (parts []models.CancelledPart) {
	for i := range all {
		if all[i].Status == models.CancellationDone {
			parts = append(parts, all[i].Part())
		}
	}

	return parts
}

// readKept fills in what the cancellations before c have kept.
func readKept(ctx context.Context, in bun.IDB, c *models.Cancellation) error {
	all, err := cancellationsOf(ctx, in, c.BookingID)
	if err != nil {
		return err
	}

	c.KeptAmount = models.FeesOf(doneParts(all[:c.N-1])).AtMost(c.LeftAmount)

	return nil
}

// takenOut says which passengers a cancellation takes out of a booking.
type takenOut struct {
	earlier       []models.CancelledPart // what the cancellations before have taken
	booked, seats int
}

func takenOutOf(b *models.Booking, earlier []models.CancelledPart, positions []int) takenOut {
	return takenOut{earlier: earlier, booked: len(b.Passengers), seats: len(positions)}
}

// price finds what goes back for the cancellation of a plan, and by which terms.
func (s *Store) price(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, earlier []models.CancelledPart, o models.CancelOrder, plan *orderPlan,
	now time.Time,
) error {
	c, refund := plan.cancellation, &plan.refund

	part, terms, err := s.priceOf(ctx, tx, t, takenOutOf(plan.booking, earlier, c.Positions), o, now)
	if err != nil {
		return err
	}

	c.Take(part)

	refund.RefundType = models.RefundPartial

	var reason *models.PolicyReason

	if terms != nil {
		schedule := terms.Schedule.String()
		reason = &terms.Reason
		refund.RefundType, refund.PolicyReason = models.RefundPolicy, reason
		refund.PolicyPercent, refund.PolicyHours = &terms.Percent, &terms.Hours
		refund.PolicySchedule, refund.PolicyGiven = &schedule, &terms.Given
	}

	if c.Cause == "" {
		c.Cause = models.CauseOf(t, reason)
	}

	if refund.RefundType == models.RefundPartial && c.RefundAmount.Equal(t.Remaining()) {
		refund.RefundType = models.RefundFull
	}

	refund.Amount = c.RefundAmount

	return nil
}

// priceOf is what an order takes out of a booking at now, and the terms when it goes by the policy. Quotes come from it, too, so that they
// say what an order would do. Errors: VALIDATION_ERROR, REFUND_EXCEEDS_REMAINING.
func (s *Store) priceOf(
	ctx context.Context, in bun.IDB, t *models.PaymentTransaction, of takenOut, o models.CancelOrder, now time.Time,
) (part models.CancelledPart, terms *models.PolicyTerms, err error) {
	switch o.RefundBy {
	case models.CancelUnpaid:
		part = t.CancelPartFor(of.earlier, of.booked, of.seats, models.Money{})
	case models.CancelByAmount:
		if err = amountLeft(t, o.Amount); err == nil {
			part = t.CancelPartFor(of.earlier, of.booked, of.seats, *o.Amount)
		}
	case models.CancelInFull:
		part = t.CancelPart(of.earlier, of.booked, of.seats, models.WholePercent)
	case models.CancelByPolicy:
		var today models.PolicyTerms
		if today, err = s.terms(ctx, in, t, now); err != nil {
			return part, nil, err
		}

		today = o.Quote.Better(today)
		terms = &today

		part = t.CancelPart(of.earlier, of.booked, of.seats, terms.Percent)
		if o.Quote != nil {
			part = part.AsQuoted(o.Quote.Part)
		}
	}

	return part, terms, err
}

// amountLeft refuses an amount that is none, or more than is left of the payment. Errors: VALIDATION_ERROR, REFUND_EXCEEDS_REMAINING.
func amountLeft(t *models.PaymentTransaction, amount *models.Money) error {
	_, err := models.RefundableAmount(t, models.RefundPartial, amount)

	return err
}
