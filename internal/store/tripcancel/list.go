package tripcancel

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Filter narrows the list of cancellations; zero fields do not.
type Filter struct {
	Status        models.TripCancellationStatus
	NeedsApproval *bool // whether it waits for a second person
	ProviderID    uuid.UUID
	TripID        uuid.UUID
	Days          models.Days // on which it was asked for
	Page          db.Page
}

var order = db.Order{
	Columns:  map[string]string{"requested_at": "tc.requested_at", "refund_total": "tc.refund_total"},
	ID:       "tc.id",
	Fallback: db.Sort{Field: "requested_at", Desc: true},
}

// Counted is a cancellation, and how far it is.
type Counted struct {
	models.TripCancellation

	Counts models.TripCancellationCounts
}

// List lists the cancellations of all trips, newest first unless f.Page says otherwise. Sort fields: requested_at, refund_total. Errors:
// VALIDATION_ERROR on sort and cursor.
func (s *Store) List(ctx context.Context, f Filter) (db.Listed[Counted], error) {
	q := db.WhereEqual(s.db.NewSelect(), "tc.status", f.Status)
	q = db.WhereEqual(q, "tc.trip_id", f.TripID)
	q = db.WhereDuring(q, "tc.requested_at", f.Days)

	if f.NeedsApproval != nil {
		q = q.Where("tc.approval_pending = ?", *f.NeedsApproval)
	}

	if f.NeedsApproval != nil && *f.NeedsApproval {
		q = q.Where("tc.status = ?", models.TripCancellationRunning) // of the few that an index has
	}

	if f.ProviderID != uuid.Nil {
		q = q.Where("tc.trip_id IN (SELECT id FROM trips WHERE provider_id = ?)", f.ProviderID)
	}

	list, err := db.ListWith[models.TripCancellation](ctx, q, f.Page, order, db.ListOptions{
		Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
			return withTrip(s.db.NewSelect()).Where("tc.id IN (?)", ids)
		},
	})
	out := db.Listed[Counted]{Total: list.Total, Exact: list.Exact, Number: list.Number, Next: list.Next}

	if err != nil {
		return out, err
	}

	out.Items, err = s.counted(ctx, list.Items)

	return out, err
}

// Get is the newest cancellation of a trip that the actor sees. Error: NOT_FOUND.
func (s *Store) Get(ctx context.Context, by db.Actor, trip uuid.UUID) (Counted, error) {
	if by.Role.IsProvider() || by.Role.IsAdmin() { // staff of the platform without companies of their own see all
		if _, err := s.catalogue.GetProviderTrip(ctx, by, trip); err != nil {
			return Counted{}, err
		}
	}

	newest, err := ofTrip(ctx, s.db, trip)
	if err != nil {
		return Counted{}, err
	}

	var c models.TripCancellation
	if err := withTrip(s.db.NewSelect().Model(&c)).Where("tc.id = ?", newest.ID).Scan(ctx); err != nil {
		return Counted{}, db.NotFound(err)
	}

	all, err := s.counted(ctx, []models.TripCancellation{c})
	if err != nil {
		return Counted{}, err
	}

	return all[0], nil
}

// withTrip reads with a cancellation what its trip is known by.
func withTrip(q *bun.SelectQuery) *bun.SelectQuery {
	return q.ColumnExpr("?TableColumns").
		ColumnExpr("t.title AS trip_title, t.origin AS trip_origin, t.destination AS trip_destination, t.departure_at AS trip_departure_at").
		ColumnExpr("t.provider_id, p.name AS provider_name").
		Join("JOIN trips AS t ON t.id = tc.trip_id").Join("JOIN providers AS p ON p.id = t.provider_id")
}

// counted adds to cancellations how far they are, and the names of who asked and decided.
func (s *Store) counted(ctx context.Context, rows []models.TripCancellation) ([]Counted, error) {
	out := make([]Counted, len(rows))
	ids := make([]uuid.UUID, len(rows))

	for i := range rows {
		out[i].TripCancellation, ids[i] = rows[i], rows[i].ID
	}

	counts, err := countsOf(ctx, s.db, ids)
	if err != nil {
		return nil, err
	}

	people := db.People{}

	for i := range out {
		c := &out[i]
		c.Counts = counts[c.ID]
		people.Name(&c.RequestedBy, &c.RequesterName)
		people.Name(c.DecidedBy, &c.DeciderName)
	}

	return out, people.Read(ctx, s.db)
}

// countsOf says how far cancellations of trips are: of the bookings that are paid, and those that were when it was asked for. What is
// cancelled after one was rejected, or expired, is not by it.
func countsOf(ctx context.Context, in bun.IDB, ids []uuid.UUID) (map[uuid.UUID]models.TripCancellationCounts, error) {
	out := make(map[uuid.UUID]models.TripCancellationCounts, len(ids))
	if len(ids) == 0 {
		return out, nil
	}

	var rows []struct {
		ID uuid.UUID

		Bookings, Cancelled, Succeeded, Pending, Failed, ByHand, Undecided int
		Refunded                                                           models.Money
	}

	err := in.NewRaw(`SELECT c.id, (SELECT count(*) FROM bookings WHERE trip_id = c.trip_id AND status = ?2) AS bookings,
			n.cancelled, n.succeeded, n.refunded, n.pending, n.failed, n.by_hand, n.undecided
		FROM trip_cancellations AS c CROSS JOIN LATERAL (
			WITH gone AS (
				SELECT bk.id, bk.status, cn.refund_id FROM bookings AS bk JOIN cancellations AS cn ON cn.booking_id = bk.id
				WHERE bk.trip_id = c.trip_id AND cn.status = ?1 AND cn.done_at >= c.requested_at
					AND (c.status NOT IN (?8, ?9) OR cn.done_at <= c.decided_at)
			), back AS (
				SELECT rf.status, rf.amount, rf.channel, rf.turned_manual_at FROM refunds AS rf JOIN gone ON gone.refund_id = rf.id
			)
			SELECT (SELECT count(DISTINCT gone.id) FROM gone WHERE gone.status = ?3) AS cancelled,
				count(*) FILTER (WHERE status = ?4) AS succeeded, coalesce(sum(amount) FILTER (WHERE status = ?4), 0) AS refunded,
				count(*) FILTER (WHERE status = ?5 AND turned_manual_at IS NULL) AS pending,
				count(*) FILTER (WHERE status = ?6 OR status = ?5 AND turned_manual_at IS NOT NULL) AS failed,
				count(*) FILTER (WHERE status = ?5 AND channel = ?7) AS by_hand,
				count(*) FILTER (WHERE status = ?5 AND channel <> ?7) AS undecided
			FROM back
		) AS n WHERE c.id IN (?0)`,
		bun.List(ids), models.CancellationDone, models.BookingConfirmed, models.BookingCancelled, models.RefundSucceeded,
		models.RefundPending, models.RefundFailed, models.RefundByHand, models.TripCancellationRejected, models.TripCancellationExpired).
		Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count bookings and refunds: %w", err)
	}

	for _, r := range rows {
		out[r.ID] = models.TripCancellationCounts{
			Bookings: r.Bookings + r.Cancelled, Cancelled: r.Cancelled, RefundsSucceeded: r.Succeeded, RefundsPending: r.Pending,
			RefundsFailed: r.Failed, RefundsByHand: r.ByHand, RefundedTotal: r.Refunded, Undecided: r.Undecided,
		}
	}

	return out, nil
}
