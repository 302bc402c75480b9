package incidents

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// handlers are the roles that may look after an incident: those that may read them.
var handlers = []models.Role{models.RoleSupportAgent, models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin}

// maxNotes bounds the notes about one incident: all of them are read at once.
const maxNotes = 200

// handlerIsThere is the condition on the row u of users of an account that can look after something: it is not locked, and has been used
// or has a password. An account that was invited has neither, until its owner logs in; with single sign-on that is by a session alone.
const handlerIsThere = db.AccountIsLive + " AND (u.password_hash <> '' OR EXISTS (SELECT FROM sessions AS s WHERE s.user_id = u.id))"

// IncidentByID reads one incident. Error: NOT_FOUND.
func (s *Store) IncidentByID(ctx context.Context, id uuid.UUID) (models.Incident, error) {
	var i models.Incident

	if err := s.db.NewSelect().Model(&i).Where("ic.id = ?", id).Scan(ctx); err != nil {
		return models.Incident{}, db.NotFound(err)
	}

	return i, describe(ctx, s.db, &i)
}

// Assignees are the accounts that an incident can be assigned to, by name.
func (s *Store) Assignees(ctx context.Context) ([]models.User, error) {
	var all []models.User

	err := s.db.NewSelect().Model(&all).Column("u.id", "u.name", "u.role").Where("u.role IN (?)", bun.List(handlers)).
		Where(handlerIsThere).OrderExpr("u.name, u.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list who may be assigned: %w", err)
	}

	return all, nil
}

// AssignIncident says who looks after an open incident from now on; with nil it is unassigned. The audit log has it, once for each
// change.
// Errors: NOT_FOUND, INVALID_STATE when it is resolved, VALIDATION_ERROR on assignee_id.
func (s *Store) AssignIncident(ctx context.Context, by db.Actor, id uuid.UUID, assignee *uuid.UUID) (models.Incident, error) {
	var i models.Incident

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		i = models.Incident{}

		if err := tx.NewSelect().Model(&i).Where("ic.id = ?", id).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		if i.Status != models.IncidentOpen {
			return models.NewError(models.CodeInvalidState, "incident.resolved")
		}

		if err := mayHandle(ctx, tx, assignee); err != nil {
			return err
		}

		was := i.AssignedTo
		i.AssignedTo = assignee

		if sameAssignee(was, assignee) {
			return describe(ctx, tx, &i)
		}

		if _, err := tx.NewUpdate().Model(&i).Column("assigned_to").WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("assign incident: %w", err)
		}

		if err := describe(ctx, tx, &i); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditIncidentAssigned, models.EntityIncident, &i.ID, map[string]any{
			"kind": i.Kind, "before": map[string]any{"assigned_to": was}, "after": map[string]any{"assigned_to": assignee},
		})
	})
	if err != nil {
		return models.Incident{}, err
	}

	return i, nil
}

func sameAssignee(a, b *uuid.UUID) bool { return a == b || a != nil && b != nil && *a == *b }

func mayHandle(ctx context.Context, tx bun.Tx, assignee *uuid.UUID) error {
	if assignee == nil {
		return nil
	}

	var role models.Role

	err := db.NotFound(tx.NewSelect().Model((*models.User)(nil)).Column("role").Where("u.id = ?", *assignee).Where(handlerIsThere).
		Scan(ctx, &role))
	if err != nil && models.CodeOf(err) != models.CodeNotFound {
		return err
	}

	if err != nil || !slices.Contains(handlers, role) {
		return models.Invalid("assignee_id", "incident.assignee")
	}

	return nil
}

// NewNote is what there is to note about an incident.
type NewNote struct {
	IncidentID uuid.UUID
	Words      string
	// Once keeps the answer to the request.
	Once db.Once[models.IncidentNote]
}

// AddNote keeps what the caller has found out about an incident, in whatever state it is. The audit log has that there is a note, and not
// its words. Errors: NOT_FOUND, INVALID_STATE when there are 200 notes.
func (s *Store) AddNote(ctx context.Context, by db.Actor, r NewNote) (models.IncidentNote, error) {
	n := models.IncidentNote{ID: models.NewID(), IncidentID: r.IncidentID, AuthorID: by.UserID, Note: r.Words}

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The lock has notes wait for each other: together they would be too many.
		var i models.Incident
		if err := tx.NewSelect().Model(&i).Column("id", "kind").Where("ic.id = ?", n.IncidentID).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		there, err := tx.NewSelect().Model((*models.IncidentNote)(nil)).Where("incident_id = ?", i.ID).Count(ctx)
		if err != nil {
			return fmt.Errorf("count notes: %w", err)
		}

		if there >= maxNotes {
			return models.NewError(models.CodeInvalidState, "incident.too_many_notes", "max", maxNotes)
		}

		if _, err := tx.NewInsert().Model(&n).Returning("created_at").Exec(ctx); err != nil {
			return fmt.Errorf("insert note: %w", err)
		}

		if err := tx.NewSelect().Model((*models.User)(nil)).Column("name").Where("id = ?", by.UserID).Scan(ctx, &n.AuthorName); err != nil {
			return fmt.Errorf("read author: %w", err)
		}

		err = db.Audit(ctx, tx, by, models.AuditIncidentNoted, models.EntityIncident, &i.ID, map[string]any{"kind": i.Kind, "note_id": n.ID})
		if err != nil {
			return err
		}

		return r.Once.Keep(ctx, tx, n)
	})
	if err != nil {
		return models.IncidentNote{}, err
	}

	return n, nil
}

// Notes are the notes about an incident, oldest first. Error: NOT_FOUND.
func (s *Store) Notes(ctx context.Context, incident uuid.UUID) ([]models.IncidentNote, error) {
	there, err := s.db.NewSelect().Model((*models.Incident)(nil)).Where("ic.id = ?", incident).Exists(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up incident: %w", err)
	}

	if !there {
		return nil, db.NotFound(sql.ErrNoRows)
	}

	var all []models.IncidentNote

	err = s.db.NewSelect().Model(&all).ColumnExpr("?", db.Columns[models.IncidentNote](s.db, "ino")).ColumnExpr("u.name AS author_name").
		Join("JOIN users AS u ON u.id = ino.author_id").Where("ino.incident_id = ?", incident).
		OrderExpr("ino.created_at, ino.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}

	return all, nil
}

// describe fills in what people read instead of ids: the numbers of bookings, and the names of who looks after incidents and resolved them.
func describe(ctx context.Context, from bun.IDB, all ...*models.Incident) error {
	if err := db.NumberIncidents(ctx, from, all...); err != nil {
		return err
	}

	people := db.People{}

	for _, i := range all {
		people.Name(i.AssignedTo, &i.AssigneeName)
		people.Name(i.ResolvedBy, &i.ResolverName)
	}

	return people.Read(ctx, from)
}
