package bookings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// DiscardBooking takes back a booking whose payment could not even be started: it deletes it and frees its seats, unless
// they are free because its hold ended meanwhile. It reports false, and changes nothing, once the booking has a payment
// attempt, was cancelled, corrected or noted about, or is gone.
func (s *Store) DiscardBooking(ctx context.Context, id uuid.UUID) (discarded bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		discarded = false

		// FOR UPDATE keeps attempts from being inserted meanwhile: their foreign key needs the row.
		var b models.Booking

		err := tx.NewSelect().Model(&b).Where("bk.id = ?", id).
			Where("bk.status IN (?)", bun.List([]models.BookingStatus{models.BookingPendingPayment, models.BookingPaymentFailed})).
			Where("NOT EXISTS (SELECT FROM booking_notes WHERE booking_id = bk.id)").
			Where("NOT EXISTS (SELECT FROM passenger_renames WHERE booking_id = bk.id)").
			For("UPDATE").Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}

		if err != nil {
			return fmt.Errorf("lock booking: %w", err)
		}

		paid, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("pt.booking_id = ?", id).Exists(ctx)
		if err != nil || paid {
			return err
		}

		if _, err := tx.NewDelete().Model(&b).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("delete booking: %w", err)
		}

		discarded = true

		if !b.SeatsHeld {
			return nil
		}

		return FreeSeats(ctx, tx, &b)
	})

	return discarded && err == nil, err
}

// BookingByID finds a booking. Error: NOT_FOUND.
func (s *Store) BookingByID(ctx context.Context, id uuid.UUID) (models.Booking, error) {
	var b models.Booking

	err := s.db.NewSelect().Model(&b).Where("bk.id = ?", id).Scan(db.Prepared(ctx))

	return b, db.NotFound(err)
}

// ShownBooking is a booking with what people see beside it.
type ShownBooking struct {
	models.Booking `bun:",extend"`

	Departure time.Time `bun:"departure_at,scanonly"` // of its trip, as it is now

	// Of the payment attempt that counts; nil and zero while there is none.
	AttemptID   *uuid.UUID               `bun:"attempt_id,scanonly"`
	Reference   *string                  `bun:"attempt_reference,scanonly"`
	PaymentIs   models.TransactionStatus `bun:"attempt_status,scanonly"`
	FailureCode *models.FailureCode      `bun:"attempt_failure_code,scanonly"`
	CheckoutURL *string                  `bun:"attempt_checkout_url,scanonly"`
	ExpiresAt   time.Time                `bun:"attempt_expires_at,scanonly"`
}

// Attempt is the payment attempt that counts, as far as people see it; nil when there is none.
func (b *ShownBooking) Attempt() *models.PaymentTransaction {
	if b.AttemptID == nil {
		return nil
	}

	return &models.PaymentTransaction{
		ID: *b.AttemptID, BookingID: &b.ID, Reference: b.Reference, Status: b.PaymentIs, FailureCode: b.FailureCode,
		CheckoutURL: b.CheckoutURL, ExpiresAt: b.ExpiresAt,
	}
}

// ShowBooking reads a booking with its trip's departure and its LatestAttempt. Error: NOT_FOUND.
func (s *Store) ShowBooking(ctx context.Context, id uuid.UUID) (ShownBooking, error) {
	var b ShownBooking

	err := s.db.NewSelect().Model(&b).ColumnExpr("?", db.Columns[models.Booking](s.db, "bk")).ColumnExpr("t.departure_at").
		ColumnExpr(cancelledPositions).
		ColumnExpr("pt.id AS attempt_id, pt.reference AS attempt_reference, pt.status AS attempt_status").
		ColumnExpr("pt.failure_code AS attempt_failure_code, pt.checkout_url AS attempt_checkout_url, pt.expires_at AS attempt_expires_at").
		Join("JOIN trips AS t ON t.id = bk.trip_id").
		Join(`LEFT JOIN LATERAL (
			SELECT id, reference, status, failure_code, checkout_url, expires_at FROM payment_transactions
			WHERE booking_id = bk.id AND kind = 'PAYMENT'
			ORDER BY status = 'PAID' DESC, attempt DESC LIMIT 1) AS pt ON true`).
		Where("bk.id = ?", id).Scan(db.Prepared(ctx))

	return b, db.NotFound(err)
}

var bookingOrder = db.Order{
	Columns:  map[string]string{"created_at": "bk.created_at"},
	ID:       "bk.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// MyBookings lists a user's bookings, newest first; an empty status is any. Error: VALIDATION_ERROR on sort.
func (s *Store) MyBookings(
	ctx context.Context, user uuid.UUID, status models.BookingStatus, p db.Page,
) (db.Listed[models.Booking], error) {
	q := s.db.NewSelect().Where("bk.user_id = ?", user)

	list, err := db.List[models.Booking](ctx, db.WhereEqual(q, "bk.status", status), p, bookingOrder)
	if err != nil {
		return list, err
	}

	return list, WithCancelled(ctx, s.db, list.Items)
}

// LatestAttempt is the payment attempt of a booking that counts: the paid one, else the newest; nil when it has none.
func (s *Store) LatestAttempt(ctx context.Context, booking uuid.UUID) (*models.PaymentTransaction, error) {
	latest, err := s.LatestAttempts(ctx, booking)

	return latest[booking], err
}

// LatestAttempts are the LatestAttempt of several bookings, by booking; those without an attempt are not in it.
func (s *Store) LatestAttempts(ctx context.Context, bookings ...uuid.UUID) (map[uuid.UUID]*models.PaymentTransaction, error) {
	latest := make(map[uuid.UUID]*models.PaymentTransaction, len(bookings))
	if len(bookings) == 0 {
		return latest, nil
	}

	var attempts []models.PaymentTransaction

	err := s.db.NewSelect().Model(&attempts).DistinctOn("pt.booking_id").
		Where("pt.booking_id IN (?)", bun.List(bookings)).Where("pt.kind = ?", models.KindPayment).
		OrderExpr("pt.booking_id, pt.status = ? DESC, pt.attempt DESC", models.TransactionPaid).Scan(db.Prepared(ctx))
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}

	for i := range attempts {
		latest[*attempts[i].BookingID] = &attempts[i]
	}

	return latest, nil
}
