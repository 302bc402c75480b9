package cancellations

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// OfBooking are the requests of a booking, newest first.
func (s *Store) OfBooking(ctx context.Context, booking uuid.UUID) ([]models.CancellationRequest, error) {
	var all []models.CancellationRequest

	err := withSubjects(s.db.NewSelect().Model(&all)).Where("cr.booking_id = ?", booking).OrderExpr("cr.requested_at DESC, cr.id DESC").
		Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read cancellation requests: %w", err)
	}

	return all, nil
}

// ByID is one request. Error: NOT_FOUND.
func (s *Store) ByID(ctx context.Context, id uuid.UUID) (models.CancellationRequest, error) {
	return requestByID(ctx, s.db, id)
}

// Filter narrows the list of requests; zero fields do not.
type Filter struct {
	Status     models.CancellationRequestStatus
	ProviderID uuid.UUID
	BookingID  uuid.UUID
	Search     string // what ListBookings finds their bookings by
	Page       db.Page
}

var requestOrder = db.Order{
	Columns:  map[string]string{"requested_at": "cr.requested_at"},
	ID:       "cr.id",
	Fallback: db.Sort{Field: "requested_at"},
}

// List lists requests of all bookings, those that wait longest first. Errors: VALIDATION_ERROR on sort, cursor and search.
func (s *Store) List(ctx context.Context, f Filter) (db.Listed[models.CancellationRequest], error) {
	q := db.WhereEqual(s.db.NewSelect().Join("JOIN bookings AS bk ON bk.id = cr.booking_id"), "cr.status", f.Status)
	q = db.WhereEqual(q, "bk.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "cr.booking_id", f.BookingID)

	if f.Search != "" {
		found, err := bookings.ParseSearch(f.Search)
		if err != nil {
			return db.Listed[models.CancellationRequest]{}, err
		}

		q = q.Where("cr.booking_id IN (SELECT paid.booking_id FROM payment_transactions AS paid WHERE paid.id IN (?))",
			found.Transactions(s.db.DB))
	}

	return db.ListWith[models.CancellationRequest](ctx, q, f.Page, requestOrder, db.ListOptions{
		Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
			return withSubjects(s.db.NewSelect()).Where("cr.id IN (?)", ids)
		},
	})
}

// LeftBehind are requests whose workflow was not started within grace, or does not know so long after it that they were decided or that the
// trip has departed. They come in no order, so that some which cannot be handed over never keep the others back for good.
func (s *Store) LeftBehind(ctx context.Context, grace time.Duration, limit int, now time.Time) ([]uuid.UUID, error) {
	var ids []uuid.UUID

	err := s.db.NewSelect().Model((*models.CancellationRequest)(nil)).Column("cr.id").
		Join("JOIN bookings AS bk ON bk.id = cr.booking_id").Join("JOIN trips AS t ON t.id = bk.trip_id").
		Where("cr.closed_at IS NULL").
		Where("(cr.looked_at IS NULL AND cr.requested_at <= ?0 OR cr.decided_at <= ?0 OR t.departure_at <= ?0)", now.Add(-grace)).
		OrderExpr("random()").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read cancellation requests that were left behind: %w", err)
	}

	return ids, nil
}

// Undecided are the requests that are not closed: each has a workflow.
func (s *Store) Undecided(ctx context.Context) (ids []uuid.UUID, err error) {
	err = s.db.NewSelect().Model((*models.CancellationRequest)(nil)).Column("id").Where("closed_at IS NULL").OrderExpr("id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read open cancellation requests: %w", err)
	}

	return ids, nil
}
