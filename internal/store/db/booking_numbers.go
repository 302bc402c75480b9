package db

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

// NumberTransactions fills in the booking numbers of payments.
func NumberTransactions(ctx context.Context, db bun.IDB, rows ...*models.PaymentTransaction) error {
	return numberRows(ctx, db, rows, func(t **models.PaymentTransaction) (*uuid.UUID, *string) { return (*t).BookingID, &(*t).BookingNumber })
}

// NumberRefunds fills in the booking numbers of refunds.
func NumberRefunds(ctx context.Context, db bun.IDB, rows ...*models.Refund) error {
	return numberRows(ctx, db, rows, func(r **models.Refund) (*uuid.UUID, *string) { return (*r).BookingID, &(*r).BookingNumber })
}

// NumberIncidents fills in the booking numbers of incidents.
func NumberIncidents(ctx context.Context, db bun.IDB, rows ...*models.Incident) error {
	return numberRows(ctx, db, rows, func(i **models.Incident) (*uuid.UUID, *string) { return (*i).BookingID, &(*i).BookingNumber })
}

// Pointers are those to the elements.
func Pointers[T any](all []T) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}

	return out
}
