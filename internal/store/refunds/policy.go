package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/models"
)

// findAmount writes what the refund r of t comes to into it: what was asked for, or what the cancellation policy says at
// now, with how it says so. t is locked. Errors: VALIDATION_ERROR, REFUND_EXCEEDS_REMAINING, BOOKING_NOT_REFUNDABLE.
func (s *Store) findAmount(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, asked *models.Money, r *models.Refund, now time.Time,
) (err error) {
	if r.RefundType != models.RefundPolicy {
		r.Amount, err = models.RefundableAmount(t, r.RefundType, asked)

		return err
	}

	terms, err := s.terms(ctx, tx, t, now)
	if err != nil {
		return err
	}

	if !terms.Amount.IsPositive() {
		return models.NewError(models.CodeBookingNotRefundable,
			"refund.policy_used_up", "percent", terms.Percent)
	}

	schedule := terms.Schedule.String()
	r.PolicyReason = &terms.Reason
	r.PolicyPercent, r.PolicyHours, r.PolicySchedule, r.PolicyGiven = &terms.Percent, &terms.Hours, &schedule, &terms.Given
	r.Amount, err = models.RefundableAmount(t, r.RefundType, &terms.Amount)

	return err
}

// terms are what the cancellation policy makes of a booking's payment at now: the one of now or that of the booking, whichever is
// better for the customer, and all of it after the trip was moved (models.BookingTerms). Error: BOOKING_NOT_REFUNDABLE for the
// payment of a campaign, which departs nowhere.
func (s *Store) terms(ctx context.Context, db bun.IDB, t *models.PaymentTransaction, now time.Time) (models.PolicyTerms, error) {
	if t.BookingID == nil {
		return models.PolicyTerms{}, models.NewError(models.CodeBookingNotRefundable, "refund.policy_bookings_only")
	}

	booked := models.BookingTerms{Policy: s.policies.Cancellation}

	var schedule *string

	err := db.NewSelect().Model((*models.Booking)(nil)).
		ColumnExpr("tr.departure_at, bk.booked_departure_at, bk.booked_schedule, bk.rescheduled_by IS NOT NULL").
		ColumnExpr(bookings.CalledOff("tr")).
		Join("JOIN trips AS tr ON tr.id = bk.trip_id").Where("bk.id = ?", *t.BookingID).
		Scan(ctx, &booked.Departure, &booked.BookedDeparture, &schedule, &booked.Rescheduled, &booked.TripCancelled)
	if err != nil {
		return models.PolicyTerms{}, fmt.Errorf("read what was booked: %w", err)
	}

	if schedule != nil {
		if err := booked.BookedPolicy.UnmarshalText([]byte(*schedule)); err != nil {
			return models.PolicyTerms{}, fmt.Errorf("the booking's cancellation schedule %w", err)
		}
	}

	return booked.Of(t, now), nil
}

// RefundQuote says what a refund of the booking by the cancellation policy would come to at now; 0.00 when nothing would
// (rules: refunds.quote), and whether it would need an approval when by orders it. Errors: NOT_FOUND, BOOKING_NOT_REFUNDABLE when the
// booking has not been paid.
func (s *Store) RefundQuote(ctx context.Context, by, booking uuid.UUID, now time.Time) (models.RefundQuote, error) {
	b, err := s.bookings.BookingByID(ctx, booking)
	if err != nil {
		return models.RefundQuote{}, err
	}

	rows := []models.Booking{b}
	if err := bookings.WithCancelled(ctx, s.db, rows); err != nil {
		return models.RefundQuote{}, err
	}

	t, err := refundable(ctx, s.db.NewSelect(), booking)
	if err != nil {
		return models.RefundQuote{}, err
	}

	terms, err := s.terms(ctx, s.db, t, now)
	if err != nil {
		return models.RefundQuote{}, err
	}

	cancels := false

	if rows[0].Status == models.BookingConfirmed && t.Status == models.TransactionPaid {
		q, _, err := s.QuoteIn(ctx, s.db, &rows[0], nil, now)
		if err != nil && models.CodeOf(err) != models.CodeInvalidState {
			return models.RefundQuote{}, err
		}

		terms.Amount, cancels = q.Part.Refund, true // nothing while another cancellation waits for an approval
	}

	waits, day, err := s.outlook(ctx, s.db, t, by, terms.Amount, now)
	if err != nil {
		return models.RefundQuote{}, err
	}

	return models.RefundQuote{
		BookingID: booking, Paid: t.Amount, Refunded: t.RefundedAmount, Remaining: t.Remaining(), Currency: t.Currency,
		PolicyTerms: terms, NeedsApproval: waits, ExpectedBy: day, Cancels: cancels,
	}, nil
}

// outlook says whether a refund of t would wait for the approval of a second person when by orders it at now, and by when the customer's
// bank would show it; nil when it waits, or is none.
func (s *Store) outlook(
	ctx context.Context, in bun.IDB, t *models.PaymentTransaction, by uuid.UUID, amount models.Money, now time.Time,
) (waits bool, day *models.Date, err error) {
	if !amount.IsPositive() {
		return false, nil, nil
	}

	asked := models.Refund{BookingID: t.BookingID, Amount: amount, Currency: t.TakenCurrency(), RequestedBy: &by, CreatedAt: now}

	sum, err := sumOrders(ctx, in, &asked)
	if err != nil {
		return false, nil, err
	}

	err = s.applyApproval(ctx, in, t, &asked, sum, now)

	return asked.NeedsApproval(), asked.ExpectedBy(), err
}

// applyApproval writes into a refund of t that is ordered, or quoted, what approval it needs; sum is what its requester has ordered before.
func (s *Store) applyApproval(
	ctx context.Context, in bun.IDB, t *models.PaymentTransaction, r *models.Refund, sum orderedBy, now time.Time,
) error {
	alone, err := orderedAlone(ctx, in, t)
	if err != nil {
		return err
	}

	s.policies.Approval.Apply(r, models.OrderedAlone{OfPayment: alone, OfPerson: sum.day, TripCancelled: sum.cancelled},
		now.Truncate(time.Microsecond))

	return nil
}
