// Package tripcancel has the SQL of calling a trip off: what it comes to, asking, deciding, and cancelling booking after booking. What a
// cancellation does to a booking and to its money is in the packages refunds and bookings.
package tripcancel

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db        *db.DB
	policies  models.Policies
	catalogue *catalogue.Store
	payments  *payments.Store
	refunds   *refunds.Store
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies, trips *catalogue.Store, attempts *payments.Store, back *refunds.Store) *Store {
	return &Store{db: pool, policies: p, catalogue: trips, payments: attempts, refunds: back}
}

// byID reads one. Error: NOT_FOUND.
func byID(ctx context.Context, in bun.IDB, id uuid.UUID) (models.TripCancellation, error) {
	var c models.TripCancellation

	err := in.NewSelect().Model(&c).Where("tc.id = ?", id).Scan(ctx)

	return c, db.NotFound(err)
}

// lockByID reads one with its trip locked. Error: NOT_FOUND.
func lockByID(ctx context.Context, tx bun.Tx, id uuid.UUID) (models.TripCancellation, error) {
	c, err := byID(ctx, tx, id)
	if err != nil {
		return c, err
	}

	if _, err := lockTrip(ctx, tx, c.TripID); err != nil {
		return c, err
	}

	return byID(ctx, tx, id) // only now is its state certain
}

// ofTrip reads the newest of a trip. Error: NOT_FOUND.
func ofTrip(ctx context.Context, in bun.IDB, trip uuid.UUID) (models.TripCancellation, error) {
	var c models.TripCancellation

	err := in.NewSelect().Model(&c).Where("tc.trip_id = ?", trip).Order("tc.requested_at DESC", "tc.id DESC").Limit(1).Scan(ctx)

	return c, db.NotFound(err)
}

// moveTrip is the guarded UPDATE of a trip's status; the trip is locked.
func moveTrip(ctx context.Context, tx bun.Tx, trip uuid.UUID, from, to models.TripStatus) error {
	res, err := tx.NewUpdate().Model((*models.Trip)(nil)).Set("status = ?", to).Set("updated_at = now()").
		Where("id = ?", trip).Where(db.Still, bun.Ident("status"), from).Exec(ctx)
	if err != nil {
		return fmt.Errorf("move trip: %w", err)
	}

	return db.AffectedOne(res, "trip")
}

// note writes the audit entry of a step.
func note(ctx context.Context, tx bun.Tx, by db.Actor, action models.AuditAction, c *models.TripCancellation) error {
	return db.Audit(ctx, tx, by, action, models.EntityTrip, &c.TripID, map[string]any{
		"cancellation_id": c.ID, "status": c.Status, "needs_approval": c.ApprovalPending, "bookings": c.Bookings, "seats": c.Seats,
		"refund_total": c.RefundTotal, "clawback_total": c.ClawbackTotal,
	})
}
