package bookings

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// maxNotes bounds the notes about one booking: all of them are read at once.
const maxNotes = 200

// NewNote is what there is to note about a booking.
type NewNote struct {
	BookingID uuid.UUID
	Words     string
	// Once keeps the answer to the request.
	Once db.Once[models.BookingNote]
}

// AddNote keeps what staff know about a booking, for good. The audit log has that there is a note, and not its words. Errors: NOT_FOUND,
// INVALID_STATE when there are 200 notes.
func (s *Store) AddNote(ctx context.Context, by db.Actor, r NewNote) (models.BookingNote, error) {
	n := models.BookingNote{ID: models.NewID(), BookingID: r.BookingID, AuthorID: by.UserID, Note: r.Words}

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The lock has notes wait for each other: together they would be too many.
		var b models.Booking
		if err := tx.NewSelect().Model(&b).Column("id").Where("bk.id = ?", n.BookingID).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		there, err := tx.NewSelect().Model((*models.BookingNote)(nil)).Where("booking_id = ?", b.ID).Count(ctx)
		if err != nil {
			return fmt.Errorf("count notes: %w", err)
		}

		if there >= maxNotes {
			return models.NewError(models.CodeInvalidState, "booking.too_many_notes", "max", maxNotes)
		}

		if _, err := tx.NewInsert().Model(&n).Returning("created_at").Exec(ctx); err != nil {
			return fmt.Errorf("insert note: %w", err)
		}

		if err := tx.NewSelect().Model((*models.User)(nil)).Column("name").Where("id = ?", by.UserID).Scan(ctx, &n.AuthorName); err != nil {
			return fmt.Errorf("read author: %w", err)
		}

		err = db.Audit(ctx, tx, by, models.AuditBookingNoted, models.EntityBooking, &b.ID, map[string]any{"note_id": n.ID})
		if err != nil {
			return err
		}

		return r.Once.Keep(ctx, tx, n)
	})
	if err != nil {
		return models.BookingNote{}, err
	}

	return n, nil
}

// Notes are the notes about a booking, newest first. Error: NOT_FOUND.
func (s *Store) Notes(ctx context.Context, booking uuid.UUID) ([]models.BookingNote, error) {
	there, err := s.db.NewSelect().Model((*models.Booking)(nil)).Where("bk.id = ?", booking).Exists(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up booking: %w", err)
	}

	if !there {
		return nil, db.NotFound(sql.ErrNoRows)
	}

	var all []models.BookingNote

	err = s.db.NewSelect().Model(&all).ColumnExpr("?", db.Columns[models.BookingNote](s.db, "bno")).ColumnExpr("u.name AS author_name").
		Join("JOIN users AS u ON u.id = bno.author_id").Where("bno.booking_id = ?", booking).
		OrderExpr("bno.created_at DESC, bno.id DESC").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}

	return all, nil
}
