package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// errAttemptAppeared rolls back a cancellation that an attempt was opened beside.
var errAttemptAppeared = errors.New("an attempt was opened meanwhile")

// CancelBooking gives a booking up that has not been paid: its PENDING attempt fails as CANCELLED, the booking becomes
// CANCELLED and its seats are free, all in one SQL transaction. It returns the attempt that was pending, nil when there
// was none: its checkout is still open at the gateway, and what the gateway takes all the same is refunded
// (rules: bookings.cancel). Errors: NOT_FOUND (no such booking, or another account's), FORBIDDEN (a role that may only read it),
// INVALID_STATE unless it is PENDING_PAYMENT, and when the gateway has reported its payment.
func (s *Store) CancelBooking(
	ctx context.Context, by db.Actor, id uuid.UUID, now time.Time,
) (models.Booking, *models.PaymentTransaction, error) {
	b, pending, err := s.cancelUnpaid(ctx, unpaidCancel{by: by, id: id}, now)

	return b, pending, err
}

// CancelForTrip is CancelBooking in the service's own name, for a trip that is called off. The customer is notified.
func (s *Store) CancelForTrip(ctx context.Context, id uuid.UUID, now time.Time) (*models.PaymentTransaction, error) {
	_, pending, err := s.cancelUnpaid(ctx, unpaidCancel{id: id, tripOff: true}, now)

	return pending, err
}

// unpaidCancel is the cancellation of a booking that was not paid.
type unpaidCancel struct {
	by      db.Actor
	id      uuid.UUID
	tripOff bool // by the service: the trip does not run
}

func (s *Store) cancelUnpaid(
	ctx context.Context, c unpaidCancel, now time.Time,
) (b models.Booking, pendingAttempt *models.PaymentTransaction, err error) {
	// The attempt is locked before the booking, as everywhere. Only once the booking is locked no further attempt can be
	// opened; one that was in between has to be locked first in its turn.
	for range db.MaxTxTries {
		err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
			b, pendingAttempt, err = s.cancelBooking(ctx, tx, c, now)

			return err
		})
		if !errors.Is(err, errAttemptAppeared) {
			break
		}
	}

	if err != nil {
		return models.Booking{}, nil, err
	}

	return b, pendingAttempt, nil
}

func (s *Store) cancelBooking(
	ctx context.Context, tx bun.Tx, c unpaidCancel, now time.Time,
) (b models.Booking, pending *models.PaymentTransaction, err error) {
	if pending, err = lockPending(ctx, tx, c.id); err != nil {
		return b, nil, err
	}

	if err := tx.NewSelect().Model(&b).Where("id = ?", c.id).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return b, nil, db.NotFound(err)
	}

	if !c.tripOff {
		if err := mayCancel(c.by, &b); err != nil {
			return b, nil, err
		}
	}

	if b.Status != models.BookingPendingPayment {
		return b, nil, models.NewError(models.CodeInvalidState, "booking.cancelled_state", "status", b.Status)
	}

	if err := othersPaying(ctx, tx, c.id, pending); err != nil {
		return b, nil, err
	}

	if pending != nil {
		if err := s.failCancelled(ctx, tx, pending, now); err != nil {
			return b, nil, err
		}
	}

	if err := bookings.TransitionBooking(ctx, tx, &b, models.BookingCancelled, now); err != nil {
		return b, nil, err
	}

	b.UpdatedAt = now

	if err := bookings.FreeSeats(ctx, tx, &b); err != nil {
		return b, nil, err
	}

	if c.tripOff {
		if err := tellTripOff(ctx, tx, &b); err != nil {
			return b, nil, err
		}
	}

	return b, pending, db.Audit(ctx, tx, c.by, models.AuditBookingCancelled, models.EntityBooking, &c.id, map[string]any{"seats": b.Seats})
}

// tellTripOff tells the customer of a booking that was not paid that its trip does not run. Without an attempt there is nothing that the
// message would belong to: the customer never came as far as the checkout.
func tellTripOff(ctx context.Context, tx bun.Tx, b *models.Booking) error {
	var last uuid.UUID

	err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("id").Where("booking_id = ?", b.ID).
		Where("kind = ?", models.KindPayment).Order("attempt DESC").Limit(1).Scan(ctx, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}

	var trip models.Trip
	if err := tx.NewSelect().Model(&trip).Column("title", "departure_at").Where("id = ?", b.TripID).Scan(ctx); err != nil {
		return fmt.Errorf("read trip: %w", err)
	}

	facts := outbox.BookingFacts(b, &trip, models.Money{})
	facts["trip_cancelled"], facts["unpaid"] = "true", "true"

	_, err = outbox.InsertMessages(ctx, tx, outbox.NewMessages(models.NotifyBookingCancelled, last, b.ID.String(), b.Locale,
		b.ContactEmail, b.ContactPhone, facts))

	return err
}

// mayCancel lets the owner, support agents and admins through.
func mayCancel(by db.Actor, b *models.Booking) error {
	switch {
	case b.UserID == by.UserID || by.Role.IsAdmin() || by.Role == models.RoleSupportAgent:
		return nil
	case by.Role.ReadsAnyBooking():
		return models.NewError(models.CodeForbidden, "booking.cancel_others")
	default:
		return models.NotFound()
	}
}

// lockPending locks the attempt of a booking that is PENDING; nil when there is none.
func lockPending(ctx context.Context, tx bun.Tx, booking uuid.UUID) (*models.PaymentTransaction, error) {
	var t models.PaymentTransaction

	err := tx.NewSelect().Model(&t).Where("booking_id = ?", booking).
		Where(db.Still, bun.Ident("status"), models.TransactionPending).For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // a booking without an open attempt is no error
	}

	if err != nil {
		return nil, fmt.Errorf("lock attempt: %w", err)
	}

	return &t, nil
}

// othersPaying looks again once the booking is locked: for an attempt that is not the locked one, and for a payment
// that the gateway has reported and that is not settled yet.
func othersPaying(ctx context.Context, tx bun.Tx, booking uuid.UUID, locked *models.PaymentTransaction) error {
	q := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).
		Where("booking_id = ?", booking).Where(db.Still, bun.Ident("status"), models.TransactionPending)
	if locked != nil {
		q = q.Where("id <> ?", locked.ID)
	}

	appeared, err := q.Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for attempts: %w", err)
	}

	if appeared {
		return errAttemptAppeared
	}

	reported, err := tx.NewSelect().Model((*models.WebhookEvent)(nil)).
		Join("JOIN payment_transactions AS pt ON pt.id = we.transaction_id").Where("pt.booking_id = ?", booking).
		Where("we.type = ?", models.EventPaymentSucceeded).Where("we.outcome = ''").Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for payments: %w", err)
	}

	if reported {
		return models.NewError(models.CodeInvalidState, "booking.just_paid")
	}

	return nil
}

// failCancelled ends a locked attempt that is PENDING.
func (s *Store) failCancelled(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, now time.Time) error {
	st := &settlement{attempt: attempt{t: *t}, store: s, tx: tx, now: now}
	st.transition(models.TransactionFailed, models.FailureCancelled, "", nil)

	if err := st.flush(ctx); err != nil {
		return err
	}

	*t = st.t
	t.UpdatedAt = now

	return nil
}
