package operations

import (
	"bytes"
	"context"
	"encoding/json"

	"rihla/api/gen"
	"rihla/internal/store/db"
	"rihla/models"
)

// ListAuditLogs lists who did what.
func (o *Operations) ListAuditLogs(ctx context.Context, r gen.ListAuditLogsRequestObject) (gen.ListAuditLogsResponseObject, error) {
	q := r.Params

	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.DB.ListAudit(ctx, db.AuditFilter{
		Action: valueOf(q.Action), ActorID: valueOf(q.ActorID), Entity: valueOf(q.Entity), EntityID: valueOf(q.EntityID),
		Days: span, Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListAuditLogs200JSONResponse{Data: mapEach(list.Items, auditOf), Meta: metaOf(p, list)}, nil
}

func auditOf(e *models.AuditEntry) gen.AuditLog {
	return labelled(gen.AuditLog{
		ID: e.ID, ActorID: e.ActorID, ActorName: optional(e.ActorName), ActorRole: optional(e.ActorRole), Action: string(e.Action),
		Entity: string(e.Entity), EntityID: e.EntityID, Details: jsonObject(e.Details), RequestID: optional(e.RequestID),
		CreatedAt: utc(e.CreatedAt), ActorKind: e.ActorKind, Operator: optional(e.Operator), Address: optional(e.Address),
		UserAgent: optional(e.UserAgent),
	})
}

// jsonObject reads the details of an entry.
func jsonObject(text json.RawMessage) map[string]any {
	object := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()         // amounts keep their two decimals
	_ = d.Decode(&object) // the column is jsonb: what is not an object has no details
	models.PutIntoWords(object)

	return object
}
