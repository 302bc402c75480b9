package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// Audit notes what an actor did to an entity, for actions that are no unit of work of the store, such as an
// export (contract §6). details becomes a JSON object; nil is an empty one. Keep personal data out of it.
func (s *Store) Audit(
	ctx context.Context, actor Actor, action, entity string, entityID *uuid.UUID, details any,
) error {
	return audit(ctx, s.db, actor, action, entity, entityID, details)
}

// audit is Audit within the caller's transaction, so that the note exists exactly when its deed does.
func audit(
	ctx context.Context, tx bun.IDB, actor Actor, action, entity string, entityID *uuid.UUID, details any,
) error {
	e, err := newEntry(actor, action, entity, entityID, details)
	if err != nil {
		return err
	}

	return insertEntries(ctx, tx, []models.AuditEntry{e})
}

// newEntry makes a note that is not written yet. What a deed has changed is in its details as `before` and `after`.
func newEntry(actor Actor, action, entity string, entityID *uuid.UUID, details any) (models.AuditEntry, error) {
	body := []byte("{}")

	if details != nil {
		var err error
		if body, err = json.Marshal(details); err != nil {
			return models.AuditEntry{}, fmt.Errorf("encode audit entry: %w", err)
		}
	}

	return models.AuditEntry{
		ID: models.NewID(), ActorID: optional(actor.UserID), ActorRole: actor.Role, Action: action,
		Entity: entity, EntityID: entityID, Details: body, RequestID: actor.RequestID, Operator: actor.Operator,
	}, nil
}

// insertEntries writes notes; there must be one at least.
func insertEntries(ctx context.Context, tx bun.IDB, entries []models.AuditEntry) error {
	if _, err := tx.NewInsert().Model(&entries).ExcludeColumn("created_at", "actor_kind").Exec(ctx); err != nil {
		return fmt.Errorf("insert audit entries: %w", err)
	}

	return nil
}

// accountDetails are those of an account that is added or removed: nothing personal but what it may do, and for whom.
func accountDetails(u *models.User, before, after map[string]any) map[string]any {
	return map[string]any{"role": u.Role, "provider_id": u.ProviderID, "before": before, "after": after}
}

func accountState(u *models.User) map[string]any {
	return map[string]any{"role": u.Role, "provider_id": u.ProviderID}
}

// optional is NULL for no id.
func optional(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}

	return &id
}

// AuditFilter narrows the audit log; zero fields do not.
type AuditFilter struct {
	Action   string
	Entity   string
	EntityID uuid.UUID
	ActorID  uuid.UUID
	Days     models.Days
	Page     Page
}

var auditOrder = order{
	columns:  map[string]string{"created_at": "al.created_at"},
	id:       "al.id",
	fallback: Sort{Field: "created_at", Desc: true},
}

// ListAudit lists audit entries, newest first. Error: VALIDATION_ERROR on sort.
func (s *Store) ListAudit(ctx context.Context, f AuditFilter) (Listed[models.AuditEntry], error) {
	q := s.db.NewSelect()
	q = matching(q, "al.action", f.Action)
	q = matching(q, "al.entity", f.Entity)
	q = matching(q, "al.entity_id", f.EntityID)
	q = matching(q, "al.actor_id", f.ActorID)
	q = during(q, "al.created_at", f.Days)

	return listed[models.AuditEntry](ctx, q, f.Page, auditOrder)
}
