package bookings

import (
	"context"

	"rihla/internal/store/db"
	"rihla/models"
)

// NoteDocumentsRead writes into the audit log that the document numbers of bookings were read; of none nothing.
func (s *Store) NoteDocumentsRead(ctx context.Context, by db.Actor, bookings []models.Booking) error {
	entries := make([]models.AuditEntry, len(bookings))

	for i := range bookings {
		b := &bookings[i]

		var err error

		entries[i], err = db.NewAuditEntry(by, models.AuditBookingDocumentsRead, models.EntityBooking, &b.ID, map[string]any{
			"booking_number": b.Number,
		})
		if err != nil {
			return err
		}
	}

	if len(entries) == 0 {
		return nil
	}

	return db.InsertAuditEntries(ctx, s.db, entries)
}
