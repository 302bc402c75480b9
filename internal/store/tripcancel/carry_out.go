package tripcancel

import (
	"context"
	"errors"
	"fmt"
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

// blocks reports the code of a refusal that keeps one booking, or campaign, from being cancelled and no other. Empty: it is none, or an
// error of the database, after which the step is tried again.
func blocks(err error) models.Code {
	refused, ok := errors.AsType[*models.Error](err)
	if !ok || refused.Code == models.CodeServiceUnavailable || refused.Code == models.CodeInternal {
		return ""
	}

	return refused.Code
}

// CancelBooking cancels what is left of one booking of a trip that is called off: a paid one with its refund in full, one that waits for
// its payment without. Doing it again reports the same. Error: INVALID_STATE while the cancellation is not under way.
func (s *Store) CancelBooking(ctx context.Context, id, booking uuid.UUID, now time.Time) (models.CancelledForTrip, error) {
	out := models.CancelledForTrip{Booking: booking}

	c, err := byID(ctx, s.db, id)
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

	if code := blocks(err); code != "" {
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

	out.Withdrawn = done.Cancellation.Withdrawn

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

// Finish ends the cancellation of a trip of which no booking and no campaign is live any more: the trip is CANCELLED. It reports false
// while one is. Running it again changes nothing.
func (s *Store) Finish(ctx context.Context, id uuid.UUID, now time.Time) (done bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := lockByID(ctx, tx, id)
		if err != nil {
			return err
		}

		if done = c.Status == models.TripCancellationDone; done || !c.IsUnderWay() {
			return nil
		}

		if live, err := anythingLive(ctx, tx, c.TripID); err != nil || live {
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

func anythingLive(ctx context.Context, tx bun.Tx, trip uuid.UUID) (live bool, err error) {
	err = tx.NewRaw(`SELECT EXISTS (SELECT FROM bookings WHERE trip_id = ?0 AND status IN (?1, ?2))
			OR EXISTS (SELECT FROM ad_campaigns WHERE trip_id = ?0 AND deleted_at IS NULL AND status IN (?3))`,
		trip, models.BookingPendingPayment, models.BookingConfirmed, bun.List(models.LiveCampaigns())).Scan(ctx, &live)
	if err != nil {
		return false, fmt.Errorf("look for what is live: %w", err)
	}

	return live, nil
}

// Progress is Counts by the id of the cancellation, for its workflow, which is noted to be at work.
func (s *Store) Progress(ctx context.Context, id uuid.UUID, now time.Time) (models.TripCancellationCounts, error) {
	c, err := byID(ctx, s.db, id)
	if err != nil {
		return models.TripCancellationCounts{}, err
	}

	if _, err := s.db.NewUpdate().Model(&c).Set("looked_at = ?", now).WherePK().Exec(ctx); err != nil {
		return models.TripCancellationCounts{}, fmt.Errorf("note that the workflow runs: %w", err)
	}

	counts, err := countsOf(ctx, s.db, []uuid.UUID{c.ID})

	return counts[c.ID], err
}

// ReportBlocked asks a person to look at a booking, or a campaign, that cannot be cancelled although its trip does not run; once.
func (s *Store) ReportBlocked(ctx context.Context, id uuid.UUID, what models.CancelledForTrip) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := byID(ctx, tx, id)
		if err != nil {
			return err
		}

		open := models.Incident{
			Kind: models.IncidentTripBlocked, IncidentText: models.IncidentSays("incident.trip_blocked"),
			BookingID: db.NullableID(what.Booking), AdCampaignID: db.NullableID(what.Campaign),
			WorkflowID: models.TripCancellationWorkflowID(c.TripID),
		}
		open.ID = models.IncidentID(open.Kind, what.Booking.String())

		if what.Campaign != uuid.Nil {
			open.ID = models.IncidentID(open.Kind, what.Campaign.String())
		}

		// It is tried again and again: each time an event would be added, and one that was resolved opened again.
		known, err := tx.NewSelect().Model((*models.Incident)(nil)).Where("ic.id = ?", open.ID).Exists(ctx)
		if err != nil || known {
			return err
		}

		return incidents.Open(ctx, tx, open, map[string]any{"code": what.Blocked})
	})
}
