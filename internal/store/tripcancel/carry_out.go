package tripcancel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/models"
)

// Next are bookings of a trip that is called off which are still booked, paid or not, by their ids after the given one.
func (s *Store) Next(ctx context.Context, trip, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID

	err := s.db.NewSelect().Model((*models.Booking)(nil)).Column("bk.id").Where("bk.trip_id = ?", trip).
		Where("bk.status IN (?, ?)", models.BookingPendingPayment, models.BookingConfirmed).Where("bk.id > ?", after).
		Order("bk.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read bookings of the trip: %w", err)
	}

	return ids, nil
}

const identity = "trip-cancellation:"

// notNow are what keeps a booking, or a campaign, from being cancelled at this moment.
var notNow = []models.Code{models.CodeInvalidState, models.CodePaymentDisputed, models.CodeBookingNotRefundable}

// CancelBooking cancels what is left of one booking of a trip that is called off: a paid one with its refund in full, one that waits for
// its payment without. Doing it again reports the same. Error: INVALID_STATE while the cancellation is not under way.
func (s *Store) CancelBooking(ctx context.Context, id, booking uuid.UUID, now time.Time) (models.CancelledForTrip, error) {
	out := models.CancelledForTrip{Booking: booking}

	c, err := byID(ctx, s.db, id, "")
	if err != nil {
		return out, err
	}

	if !c.IsUnderWay() {
		return out, models.NewError(models.CodeInvalidState, "trip_cancellation.decided", "status", c.Status)
	}

	paid, err := s.isPaid(ctx, booking)
	if err != nil {
		return out, err
	}

	if paid {
		err = s.cancelPaid(ctx, &c, booking, now, &out)
	} else {
		err = s.cancelUnpaid(ctx, booking, now, &out)
	}

	if code := models.CodeOf(err); err != nil && slices.Contains(notNow, code) {
		out.Blocked = code

		return out, nil
	}

	return out, err
}

func (s *Store) cancelPaid(
	ctx context.Context, c *models.TripCancellation, booking uuid.UUID, now time.Time, out *models.CancelledForTrip,
) error {
	done, err := s.refunds.Cancel(ctx, models.RefundRequest{
		ID: models.RefundID(booking, identity+c.ID.String()), BookingID: booking, Type: models.RefundFull,
		Cause: models.RefundTripCancelled,
	}, models.CancelOrder{
		ID: models.CancellationID(booking, identity+c.ID.String()), RefundBy: models.CancelInFull, Cause: models.RefundTripCancelled,
	}, now)
	if err != nil {
		return err
	}

	if done.Refund == nil || done.Refund.Status != models.RefundPending {
		return nil
	}

	return s.underWay(ctx, done.Refund, out)
}

// underWay tells the workflow which refund to start.
func (s *Store) underWay(ctx context.Context, r *models.Refund, out *models.CancelledForTrip) error {
	order := r.Order()
	out.Refund = &order

	err := s.db.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("gateway").Where("id = ?", r.PaymentTransactionID).
		Scan(ctx, &out.Gateway)
	if err != nil {
		return fmt.Errorf("read the refund's gateway: %w", err)
	}

	return nil
}

// isPaid reports whether a payment has bought the booking, be it that the booking was cancelled since.
func (s *Store) isPaid(ctx context.Context, booking uuid.UUID) (bool, error) {
	paid, err := s.db.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("booking_id = ?", booking).
		Where("kind = ?", models.KindPayment).Where("status = ?", models.TransactionPaid).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the payment: %w", err)
	}

	return paid, nil
}

// cancelUnpaid reports the attempt whose checkout is still open also when an earlier try has cancelled the booking.
func (s *Store) cancelUnpaid(ctx context.Context, booking uuid.UUID, now time.Time, out *models.CancelledForTrip) error {
	_, err := s.payments.CancelForTrip(ctx, booking, now)

	switch code := models.CodeOf(err); {
	case err == nil, code == models.CodeInvalidState:
	case code == models.CodeNotFound: // it was taken back meanwhile
		return nil
	default:
		return err
	}

	var open []models.PaymentTransaction

	find := s.db.NewSelect().Model(&open).Column("id", "gateway").Where("booking_id = ?", booking).
		Where("kind = ?", models.KindPayment).Where("status = ?", models.TransactionFailed).
		Where("failure_code = ?", models.FailureCancelled).Order("attempt DESC").Limit(1)
	if err := find.Scan(ctx); err != nil {
		return fmt.Errorf("look for the attempt: %w", err)
	}

	if len(open) > 0 {
		out.Attempt, out.Gateway = open[0].ID, open[0].Gateway
	}

	cancelled, readErr := s.db.NewSelect().Model((*models.Booking)(nil)).Where("bk.id = ?", booking).
		Where("bk.status = ?", models.BookingCancelled).Exists(ctx)
	if readErr == nil && cancelled {
		return nil
	}

	return errors.Join(err, readErr)
}

// Campaigns are those of a trip that have not ended.
func (s *Store) Campaigns(ctx context.Context, trip uuid.UUID) ([]uuid.UUID, error) {
	var ids []uuid.UUID

	err := s.db.NewSelect().Model((*models.AdCampaign)(nil)).Column("ac.id").Where("ac.trip_id = ?", trip).
		Where("ac.deleted_at IS NULL").Where("ac.status IN (?)", bun.List(models.LiveCampaigns())).Order("ac.id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read campaigns of the trip: %w", err)
	}

	return ids, nil
}

// EndCampaign ends a campaign of a trip that is called off: it is CANCELLED, and the days that it has not run go back (rules:
// trips.cancel-campaigns). Doing it again reports the same.
func (s *Store) EndCampaign(ctx context.Context, id, campaign uuid.UUID, now time.Time) (models.CancelledForTrip, error) {
	var out models.CancelledForTrip

	c, err := byID(ctx, s.db, id, "")
	if err != nil {
		return out, err
	}

	var refund *models.Refund

	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		refund, out = nil, models.CancelledForTrip{}
		refund, err = s.endCampaign(ctx, tx, &c, campaign, now, &out)

		return err
	})

	if code := models.CodeOf(err); err != nil && slices.Contains(notNow, code) {
		out = models.CancelledForTrip{Blocked: code}

		return out, nil
	}

	if err != nil || refund == nil || refund.Status != models.RefundPending {
		return out, err
	}

	return out, s.underWay(ctx, refund, &out)
}

func (s *Store) endCampaign(
	ctx context.Context, tx bun.Tx, c *models.TripCancellation, campaign uuid.UUID, now time.Time, out *models.CancelledForTrip,
) (*models.Refund, error) {
	var attempts []models.PaymentTransaction

	// Attempts are locked before their campaign, as everywhere.
	err := tx.NewSelect().Model(&attempts).Where("ad_campaign_id = ?", campaign).Where("kind = ?", models.KindPayment).
		Where("status IN (?, ?)", models.TransactionPending, models.TransactionPaid).Order("id").For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock attempts: %w", err)
	}

	var ad models.AdCampaign
	if err := tx.NewSelect().Model(&ad).Where("ac.id = ?", campaign).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return nil, db.NotFound(err)
	}

	live := slices.Contains(models.LiveCampaigns(), ad.Status)
	if !live && ad.Status != models.CampaignCancelled {
		return nil, nil //nolint:nilnil // it has ended: nothing goes back
	}

	var refund *models.Refund

	for i := range attempts {
		t := &attempts[i]
		if t.Status == models.TransactionPending {
			out.Attempt, out.Gateway = t.ID, t.Gateway

			continue
		}

		if refund, err = s.refundUnrun(ctx, tx, c, &ad, t, now); err != nil {
			return nil, err
		}
	}

	if !live { // an earlier try has ended it
		return refund, nil
	}

	was := ad.Status
	ad.Status = models.CampaignCancelled

	res, err := tx.NewUpdate().Model(&ad).Column("status").Set("updated_at = ?", now).WherePK().
		Where(db.Still, bun.Ident("status"), was).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("cancel campaign: %w", err)
	}

	if err := db.AffectedOne(res, "campaign"); err != nil {
		return nil, err
	}

	return refund, db.Audit(ctx, tx, db.Actor{}, models.AuditAdCampaignCancelled, models.EntityAdCampaign, &campaign, map[string]any{
		"trip_cancellation_id": c.ID, "before": map[string]any{"status": was}, "after": map[string]any{"status": ad.Status},
	})
}

// refundUnrun orders what a paid campaign has not run, once; nil when that is nothing.
func (s *Store) refundUnrun(
	ctx context.Context, tx bun.Tx, c *models.TripCancellation, ad *models.AdCampaign, t *models.PaymentTransaction, now time.Time,
) (*models.Refund, error) {
	id := models.RefundID(t.ID, identity+c.ID.String())

	var known []models.Refund
	if err := tx.NewSelect().Model(&known).Where("rf.id = ?", id).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read refund: %w", err)
	}

	if len(known) > 0 {
		return &known[0], nil
	}

	if ad.Status == models.CampaignCancelled {
		return nil, nil //nolint:nilnil // nothing went back
	}

	back := ad.Unrun(t.Amount, now)
	if left := t.Remaining(); back.Cmp(left) > 0 {
		back = left
	}

	if !back.IsPositive() {
		return nil, nil //nolint:nilnil // nothing goes back
	}

	kind := models.RefundPartial
	if back.Equal(t.Amount) {
		kind = models.RefundFull
	}

	r, err := s.refunds.OrderIn(ctx, tx, models.RefundRequest{
		ID: id, TransactionID: t.ID, Type: kind, Amount: &back,
		Cause: models.RefundTripCancelled,
	}, now)

	return &r, err
}

// Finish ends the cancellation of a trip of which no booking is live any more: the trip is CANCELLED. It reports false while one is.
// Running it again changes nothing.
func (s *Store) Finish(ctx context.Context, id uuid.UUID, now time.Time) (done bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		seen, err := byID(ctx, tx, id, "")
		if err != nil {
			return err
		}

		c, err := lockNewest(ctx, tx, seen.TripID)
		if err != nil {
			return err
		}

		if done = c.Status == models.TripCancellationDone; done || !c.IsUnderWay() {
			return nil
		}

		booked, err := tx.NewSelect().Model((*models.Booking)(nil)).Where("bk.trip_id = ?", c.TripID).
			Where("bk.status IN (?, ?)", models.BookingPendingPayment, models.BookingConfirmed).Exists(ctx)
		if err != nil || booked {
			return err
		}

		at := now.Truncate(time.Microsecond)
		c.Status, c.DoneAt, done = models.TripCancellationDone, &at, true

		res, err := tx.NewUpdate().Model(&c).Column("status", "done_at").WherePK().
			Where(db.Still, bun.Ident("status"), models.TripCancellationRunning).Exec(ctx)
		if err != nil {
			return fmt.Errorf("end trip cancellation: %w", err)
		}

		if err := db.AffectedOne(res, "trip cancellation"); err != nil {
			return err
		}

		if err := moveTrip(ctx, tx, c.TripID, models.TripCancelling, models.TripCancelled); err != nil {
			return err
		}

		return note(ctx, tx, db.Actor{}, models.AuditTripCancelled, &c)
	})

	return done, err
}

// Progress is Counts by the id of the cancellation, for its workflow, which is noted to be at work.
func (s *Store) Progress(ctx context.Context, id uuid.UUID, now time.Time) (models.TripCancellationCounts, error) {
	c, err := byID(ctx, s.db, id, "")
	if err != nil {
		return models.TripCancellationCounts{}, err
	}

	if _, err := s.db.NewUpdate().Model(&c).Set("looked_at = ?", now).WherePK().Exec(ctx); err != nil {
		return models.TripCancellationCounts{}, fmt.Errorf("note that the workflow runs: %w", err)
	}

	return countsOf(ctx, s.db, &c)
}

// ReportBlocked asks a person to look at a booking that cannot be cancelled although its trip does not run; once.
func (s *Store) ReportBlocked(ctx context.Context, id, booking uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := byID(ctx, tx, id, "")
		if err != nil {
			return err
		}

		return incidents.Open(ctx, tx, models.Incident{
			ID:   models.IncidentID(models.IncidentTripBlocked, booking.String()),
			Kind: models.IncidentTripBlocked, BookingID: &booking, IncidentText: models.IncidentSays("incident.trip_blocked"),
			WorkflowID: models.TripCancellationWorkflowID(c.TripID),
		}, nil)
	})
}
