package db

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// Audit notes what an actor did to an entity, for actions that are no unit of work of the store, such as an
// export (rules: audit.log). details becomes a JSON object; nil is an empty one. Keep personal data out of it.
func (s *DB) Audit(
	ctx context.Context, actor Actor, action models.AuditAction, entity models.AuditEntity, entityID *uuid.UUID, details any,
) error {
	return Audit(ctx, s, actor, action, entity, entityID, details)
}

// Audit is Audit within the caller's transaction, so that the note exists exactly when its deed does.
func Audit(
	ctx context.Context, tx bun.IDB, actor Actor, action models.AuditAction, entity models.AuditEntity, entityID *uuid.UUID,
	details any,
) error {
	e, err := NewAuditEntry(actor, action, entity, entityID, details)
	if err != nil {
		return err
	}

	return InsertAuditEntries(ctx, tx, []models.AuditEntry{e})
}

// NewAuditEntry makes a note that is not written yet. What a deed has changed is in its details as `before` and `after`.
func NewAuditEntry(
	actor Actor, action models.AuditAction, entity models.AuditEntity, entityID *uuid.UUID, details any,
) (models.AuditEntry, error) {
	body := []byte("{}")

	if details != nil {
		var err error
		if body, err = json.Marshal(details); err != nil {
			return models.AuditEntry{}, fmt.Errorf("encode audit entry: %w", err)
		}
	}

	return models.AuditEntry{
		ID: models.NewID(), ActorID: NullableID(actor.UserID), ActorRole: actor.Role, Action: action,
		Entity: entity, EntityID: entityID, Details: body, RequestID: actor.RequestID, Operator: actor.Operator,
		Address: CleanAddress(actor.Address), UserAgent: CleanAgent(actor.UserAgent),
	}, nil
}

// InsertAuditEntries writes notes; there must be one at least.
func InsertAuditEntries(ctx context.Context, tx bun.IDB, entries []models.AuditEntry) error {
	if _, err := tx.NewInsert().Model(&entries).ExcludeColumn("created_at", "actor_kind").Exec(ctx); err != nil {
		return fmt.Errorf("insert audit entries: %w", err)
	}

	return nil
}

// NullableID is NULL for no id.
func NullableID(id uuid.UUID) *uuid.UUID {
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

var auditOrder = Order{
	Columns:  map[string]string{"created_at": "al.created_at"},
	ID:       "al.id",
	Fallback: Sort{Field: "created_at", Desc: true},
}

// ListAudit lists audit entries with the names of who acted, newest first. Error: VALIDATION_ERROR on sort.
func (s *DB) ListAudit(ctx context.Context, f AuditFilter) (Listed[models.AuditEntry], error) {
	list, err := ListWith[models.AuditEntry](ctx, f.narrow(s.NewSelect()), f.Page, auditOrder, ListOptions{Counts: &s.Counts})
	if err != nil {
		return list, err
	}

	people := People{}

	for i := range list.Items {
		list.Items[i].TakeOriginFromDetails()
		people.Name(list.Items[i].ActorID, &list.Items[i].ActorName)
	}

	return list, people.Read(ctx, s)
}

func (f AuditFilter) narrow(q *bun.SelectQuery) *bun.SelectQuery {
	q = WhereEqual(q, "al.action", f.Action)
	q = WhereEqual(q, "al.entity", f.Entity)
	q = WhereEqual(q, "al.entity_id", f.EntityID)
	q = WhereEqual(q, "al.actor_id", f.ActorID)

	return WhereDuring(q, "al.created_at", f.Days)
}
