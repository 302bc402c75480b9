package db_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

// exported are the exports that a filter finds, newest first.
func exported(t *testing.T, b *books, f db.ExportFilter) []models.Export {
	t.Helper()

	if f.Kinds == nil {
		f.Kinds = []models.ExportKind{models.ExportFinancialRecords, models.ExportAuditLog}
	}

	f.AtMost = time.Hour

	list, err := b.Store.DB.ListExports(t.Context(), f)
	require.NoError(t, err)
	require.Len(t, list.Items, int(list.Total))

	return list.Items
}

func TestListExports(t *testing.T) {
	t.Parallel()
	b := setup(t)

	note := func(by db.Actor, action models.AuditAction, id string, more map[string]any) {
		details := map[string]any{"format": "csv", "filters": map[string]any{"format": "csv", "search": "RH-1"}}
		if id != "" {
			details["export_id"] = id
		}

		maps.Copy(details, more)
		require.NoError(t, b.Store.DB.Audit(t.Context(), by, action, "financial_record", nil, details))
	}

	records, audits := models.ExportFinancialRecords, models.ExportAuditLog
	boss := db.Actor{UserID: b.Users[models.RoleSuperAdmin].ID, Role: models.RoleSuperAdmin, RequestID: "req-1"}

	// Two at once of one client that names all its requests alike, one that was interrupted, one under way, one of the version before.
	note(b.Finance, records.Started(), "a", nil)
	note(b.Finance, records.Started(), "b", nil)
	note(b.Finance, records.Completed(), "b", map[string]any{"rows": 7, "bytes": 700})
	note(b.Finance, records.Stopped(), "a", map[string]any{"rows": 3, "bytes": 300})
	note(boss, audits.Started(), "c", nil)
	note(boss, records.Started(), "", nil)
	note(boss, records.Completed(), "", map[string]any{"rows": 9})
	note(boss, "AUDIT_LOG_READ", "c", nil)

	all := exported(t, b, db.ExportFilter{})
	require.Len(t, all, 4)

	old, running, ended, broken := all[0], all[1], all[2], all[3]
	now := time.Now()

	require.Equal(t, []models.ExportStatus{"COMPLETED", "RUNNING", "COMPLETED", "STOPPED"}, []models.ExportStatus{
		old.Status(now, time.Hour), running.Status(now, time.Hour), ended.Status(now, time.Hour), broken.Status(now, time.Hour),
	})
	require.Equal(t, models.ExportUnknown, running.Status(now.Add(2*time.Hour), time.Hour))
	require.Equal(t, models.ExportStopped, broken.Status(now.Add(2*time.Hour), time.Hour))

	require.EqualValues(t, 7, *ended.Rows)
	require.EqualValues(t, 700, *ended.Bytes)
	require.False(t, ended.EndedAt.Before(ended.CreatedAt))
	require.EqualValues(t, 3, *broken.Rows)
	require.EqualValues(t, 9, *old.Rows)
	require.Nil(t, old.Bytes)
	require.Equal(t, []any{(*int64)(nil), (*time.Time)(nil), audits}, []any{running.Rows, running.EndedAt, running.Kind()})

	require.Equal(t, b.Users[models.RoleFinanceAdmin].Name, ended.ActorName)
	require.Equal(t, boss.UserID, *running.ActorID)

	require.Len(t, exported(t, b, db.ExportFilter{Kinds: []models.ExportKind{records}}), 3)
	require.Len(t, exported(t, b, db.ExportFilter{RequestedBy: boss.UserID}), 2)
	require.Empty(t, exported(t, b, db.ExportFilter{RequestedBy: uuid.New()}))
	require.Empty(t, exported(t, b, db.ExportFilter{Kinds: []models.ExportKind{}}))
	require.Empty(t, exported(t, b, db.ExportFilter{Days: models.Days{To: models.DateIn(now).AddDays(-1)}}))
	require.Equal(t, broken.ID, exported(t, b, db.ExportFilter{Page: db.Page{Sort: []db.Sort{{Field: "started_at"}}}})[0].ID)
}
