package incidents

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// IncidentFilter narrows the list of incidents; zero fields do not.
type IncidentFilter struct {
	Kind       models.IncidentKind
	Status     string // models.IncidentOpen or models.IncidentResolved
	AssigneeID uuid.UUID
	Assigned   *bool // to any account
	Page       db.Page
}

var incidentOrder = db.Order{
	Columns:  map[string]string{"created_at": "ic.created_at"},
	ID:       "ic.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// ListIncidents lists what people have to look at, newest first. Error: VALIDATION_ERROR on sort.
func (s *Store) ListIncidents(ctx context.Context, f IncidentFilter) (db.Listed[models.Incident], error) {
	q := s.db.NewSelect()
	q = db.WhereEqual(q, "ic.kind", f.Kind)
	q = db.WhereEqual(q, "ic.status", f.Status)
	q = db.WhereEqual(q, "ic.assigned_to", f.AssigneeID)

	switch {
	case f.Assigned == nil:
	case *f.Assigned:
		q = q.Where("ic.assigned_to IS NOT NULL")
	default:
		q = q.Where("ic.assigned_to IS NULL")
	}

	list, err := db.ListWith[models.Incident](ctx, q, f.Page, incidentOrder, db.ListOptions{Counts: &s.db.Counts})
	if err != nil {
		return list, err
	}

	return list, describe(ctx, s.db, db.Pointers(list.Items)...)
}

// ResolveIncident closes an incident with a note and leaves an audit entry. Errors: NOT_FOUND, INVALID_STATE when
// it is resolved already.
func (s *Store) ResolveIncident(ctx context.Context, by db.Actor, id uuid.UUID, note string) (models.Incident, error) {
	var i models.Incident

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		i = models.Incident{}

		if err := tx.NewSelect().Model(&i).Where("ic.id = ?", id).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		if i.Status != models.IncidentOpen {
			return models.NewError(models.CodeInvalidState, "incident.resolved")
		}

		i.Status, i.Note, i.ResolvedBy = models.IncidentResolved, note, db.NullableID(by.UserID)

		_, err := tx.NewUpdate().Model(&i).Column("status", "note", "resolved_by").Set("resolved_at = now()").
			WherePK().Returning("resolved_at").Exec(ctx)
		if err != nil {
			return fmt.Errorf("resolve incident: %w", err)
		}

		if err := describe(ctx, tx, &i); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditIncidentResolved, models.EntityIncident, &i.ID, map[string]any{"kind": i.Kind, "note": note})
	})
	if err != nil {
		return models.Incident{}, err
	}

	return i, nil
}
