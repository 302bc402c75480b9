package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	b := setup(t)

	details := map[string]any{"rows": 3, "amount": models.MustMoney("1.50"), "note": `it's "quoted" ? \ مرحبا`}
	require.NoError(t, b.Store.DB.Audit(t.Context(), b.Finance, "financial_records.exported", "financial_record", nil, details))
	require.NoError(t, b.Store.DB.Audit(t.Context(), db.Actor{}, "provider.activated", "provider", &b.Provider.ID, nil))

	all, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{})
	require.NoError(t, err)
	require.EqualValues(t, 2, all.Total)

	newest, oldest := all.Items[0], all.Items[1]
	require.EqualValues(t, "provider.activated", newest.Action)
	require.Equal(t, b.Provider.ID, *newest.EntityID)
	require.Nil(t, newest.ActorID)
	require.JSONEq(t, "{}", string(newest.Details))

	require.Equal(t, b.Finance.UserID, *oldest.ActorID)
	require.Equal(t, models.RoleFinanceAdmin, oldest.ActorRole)
	require.Equal(t, "req-1", oldest.RequestID)
	require.Nil(t, oldest.EntityID)
	require.JSONEq(t, `{"rows": 3, "amount": 1.50, "note": "it's \"quoted\" ? \\ مرحبا"}`, string(oldest.Details))

	// Who acted is named, also when the account was removed since.
	b.Exec(t, "UPDATE users SET name = 'Huda', deleted_at = now() WHERE id = $1", b.Finance.UserID)

	names := storetest.Counter{Of: `FROM "users"`}
	storetest.Watch(b.Store, &names)

	named, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{})
	require.NoError(t, err)
	require.Equal(t, []string{"", "Huda"}, []string{named.Items[0].ActorName, named.Items[1].ActorName})
	require.EqualValues(t, 1, names.N.Load())

	today := models.DateIn(time.Now())
	for _, c := range []struct {
		filter db.AuditFilter
		want   int64
	}{
		{db.AuditFilter{Action: "provider.activated"}, 1},
		{db.AuditFilter{Entity: "financial_record"}, 1},
		{db.AuditFilter{Entity: "refund"}, 0},
		{db.AuditFilter{Days: models.Days{From: today.AddDays(-1), To: today.AddDays(1)}}, 2},
		{db.AuditFilter{Days: models.Days{To: today.AddDays(-2)}}, 0},
	} {
		got, err := b.Store.DB.ListAudit(t.Context(), c.filter)
		require.NoError(t, err)
		require.Equal(t, c.want, got.Total, "%+v", c.filter)
	}
}
