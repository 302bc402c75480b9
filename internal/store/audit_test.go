package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	b := setup(t)

	details := map[string]any{"rows": 3, "amount": models.MustMoney("1.50"), "note": `it's "quoted" ? \ مرحبا`}
	require.NoError(t, b.s.Audit(t.Context(), b.finance, "financial_records.exported", "financial_record", nil, details))
	require.NoError(t, b.s.Audit(t.Context(), store.Actor{}, "provider.activated", "provider", &b.Provider.ID, nil))

	all, err := b.s.ListAudit(t.Context(), store.AuditFilter{})
	require.NoError(t, err)
	require.EqualValues(t, 2, all.Total)

	newest, oldest := all.Items[0], all.Items[1]
	require.Equal(t, "provider.activated", newest.Action)
	require.Equal(t, b.Provider.ID, *newest.EntityID)
	require.Nil(t, newest.ActorID)
	require.JSONEq(t, "{}", string(newest.Details))

	require.Equal(t, b.finance.UserID, *oldest.ActorID)
	require.Equal(t, models.RoleFinanceAdmin, oldest.ActorRole)
	require.Equal(t, "req-1", oldest.RequestID)
	require.Nil(t, oldest.EntityID)
	require.JSONEq(t, `{"rows": 3, "amount": 1.50, "note": "it's \"quoted\" ? \\ مرحبا"}`, string(oldest.Details))

	today := models.DateIn(time.Now())
	for _, c := range []struct {
		filter store.AuditFilter
		want   int64
	}{
		{store.AuditFilter{Action: "provider.activated"}, 1},
		{store.AuditFilter{Entity: "financial_record"}, 1},
		{store.AuditFilter{Entity: "refund"}, 0},
		{store.AuditFilter{Days: models.Days{From: today.AddDays(-1), To: today.AddDays(1)}}, 2},
		{store.AuditFilter{Days: models.Days{To: today.AddDays(-2)}}, 0},
	} {
		got, err := b.s.ListAudit(t.Context(), c.filter)
		require.NoError(t, err)
		require.Equal(t, c.want, got.Total, "%+v", c.filter)
	}
}
