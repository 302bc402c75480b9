package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// IncidentFilter narrows the list of incidents; zero fields do not.
type IncidentFilter struct {
	Kind   models.IncidentKind
	Status string // models.IncidentOpen or models.IncidentResolved
	Page   Page
}

var incidentOrder = order{
	columns:  map[string]string{"created_at": "ic.created_at"},
	id:       "ic.id",
	fallback: Sort{Field: "created_at", Desc: true},
}

// ListIncidents lists what people have to look at, newest first (contract §5). Error: VALIDATION_ERROR on sort.
func (s *Store) ListIncidents(ctx context.Context, f IncidentFilter) (Listed[models.Incident], error) {
	q := s.db.NewSelect()
	q = matching(q, "ic.kind", f.Kind)
	q = matching(q, "ic.status", f.Status)

	list, err := listed[models.Incident](ctx, q, f.Page, incidentOrder)
	if err != nil {
		return list, err
	}

	return list, numberIncidents(ctx, s.db, pointers(list.Items)...)
}

// ResolveIncident closes an incident with a note and leaves an audit entry. Errors: NOT_FOUND, INVALID_STATE when
// it is resolved already.
func (s *Store) ResolveIncident(ctx context.Context, id uuid.UUID, note string, by Actor) (models.Incident, error) {
	var i models.Incident

	err := s.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		i = models.Incident{}

		if err := tx.NewSelect().Model(&i).Where("ic.id = ?", id).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return found(err)
		}

		if err := numberIncidents(ctx, tx, &i); err != nil {
			return err
		}

		if i.Status != models.IncidentOpen {
			return models.Errorf(models.CodeInvalidState, "The incident is resolved already.")
		}

		i.Status, i.Note, i.ResolvedBy = models.IncidentResolved, note, optional(by.UserID)

		_, err := tx.NewUpdate().Model(&i).Column("status", "note", "resolved_by").Set("resolved_at = now()").
			WherePK().Returning("resolved_at").Exec(ctx)
		if err != nil {
			return fmt.Errorf("resolve incident: %w", err)
		}

		return audit(ctx, tx, by, "INCIDENT_RESOLVED", "incident", &i.ID, map[string]any{"kind": i.Kind, "note": note})
	})
	if err != nil {
		return models.Incident{}, err
	}

	return i, nil
}
