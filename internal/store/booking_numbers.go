package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// numberRows fills in the booking numbers of rows about bookings, by one query. of tells the booking of a row, nil for none,
// and where its number goes.
func numberRows[T any](ctx context.Context, db bun.IDB, rows []T, of func(*T) (booking *uuid.UUID, number *string)) error {
	places := make(map[uuid.UUID][]*string, len(rows))

	for i := range rows {
		if booking, number := of(&rows[i]); booking != nil {
			places[*booking] = append(places[*booking], number)
		}
	}

	if len(places) == 0 {
		return nil
	}

	ids := make([]uuid.UUID, 0, len(places))
	for id := range places {
		ids = append(ids, id)
	}

	var found []models.Booking
	if err := db.NewSelect().Model(&found).Column("id", "booking_number").Where("bk.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return fmt.Errorf("read booking numbers: %w", err)
	}

	for i := range found {
		for _, place := range places[found[i].ID] {
			*place = found[i].Number
		}
	}

	return nil
}

func numberTransactions(ctx context.Context, db bun.IDB, rows ...*models.PaymentTransaction) error {
	return numberRows(ctx, db, rows, func(t **models.PaymentTransaction) (*uuid.UUID, *string) { return (*t).BookingID, &(*t).BookingNumber })
}

func numberRefunds(ctx context.Context, db bun.IDB, rows ...*models.Refund) error {
	return numberRows(ctx, db, rows, func(r **models.Refund) (*uuid.UUID, *string) { return (*r).BookingID, &(*r).BookingNumber })
}

func numberIncidents(ctx context.Context, db bun.IDB, rows ...*models.Incident) error {
	return numberRows(ctx, db, rows, func(i **models.Incident) (*uuid.UUID, *string) { return (*i).BookingID, &(*i).BookingNumber })
}

// pointers are those to the elements.
func pointers[T any](all []T) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}

	return out
}

// NoteDocumentsRead writes into the audit log that the document numbers of bookings were read; of none nothing.
func (s *Store) NoteDocumentsRead(ctx context.Context, by Actor, bookings []models.Booking) error {
	entries := make([]models.AuditEntry, len(bookings))

	for i := range bookings {
		b := &bookings[i]

		var err error

		entries[i], err = newEntry(by, "BOOKING_DOCUMENTS_READ", "booking", &b.ID, map[string]any{"booking_number": b.Number})
		if err != nil {
			return err
		}
	}

	if len(entries) == 0 {
		return nil
	}

	return insertEntries(ctx, s.db, entries)
}
