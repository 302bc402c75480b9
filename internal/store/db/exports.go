package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// ExportFilter narrows the history of exports; zero fields do not, but for Kinds.
type ExportFilter struct {
	Kinds       []models.ExportKind // of them alone; none: nothing
	RequestedBy uuid.UUID
	Days        models.Days
	// AtMost is how long an export can take: its end is not looked for later.
	AtMost time.Duration
	Page   Page
}

var exportOrder = Order{
	Columns:  map[string]string{"started_at": "al.created_at"},
	ID:       "al.id",
	Fallback: Sort{Field: "started_at", Desc: true},
}

// endOfExport is the entry that says how an export ended. Those of the version before have no id: their request
// has both.
const endOfExport = `LEFT JOIN LATERAL (
	SELECT e.action, e.created_at, e.details FROM audit_log AS e
	WHERE e.action IN (replace(al.action, '_EXPORT_STARTED', '_EXPORTED'), replace(al.action, '_EXPORT_STARTED', '_EXPORT_STOPPED'))
		AND e.created_at BETWEEN al.created_at AND al.created_at + make_interval(secs => ?)
		AND CASE WHEN al.details ->> 'export_id' IS NOT NULL THEN e.details ->> 'export_id' = al.details ->> 'export_id'
			ELSE e.details ->> 'export_id' IS NULL AND e.request_id = al.request_id AND e.actor_id = al.actor_id END
	ORDER BY e.created_at LIMIT 1) AS ended ON true`

// ListExports lists exports by their entries in the audit log, newest first. Errors: VALIDATION_ERROR on sort and cursor.
func (s *DB) ListExports(ctx context.Context, f ExportFilter) (Listed[models.Export], error) {
	started := make([]models.AuditAction, len(f.Kinds))
	for i, kind := range f.Kinds {
		started[i] = kind.Started()
	}

	q := s.NewSelect().Where("al.action IN (?)", bun.List(started))
	q = WhereDuring(WhereEqual(q, "al.actor_id", f.RequestedBy), "al.created_at", f.Days)

	return ListWith[models.Export](ctx, q, f.Page, exportOrder, ListOptions{Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
		return s.NewSelect().ColumnExpr("?TableColumns").
			ColumnExpr("coalesce(u.name, '') AS actor_name, coalesce(ended.action, '') AS end_action, ended.created_at AS ended_at").
			ColumnExpr("(ended.details ->> 'rows')::bigint AS rows, (ended.details ->> 'bytes')::bigint AS bytes").
			Join("LEFT JOIN users AS u ON u.id = al.actor_id").Join(endOfExport, f.AtMost.Seconds()).Where("al.id IN (?)", ids)
	}})
}
