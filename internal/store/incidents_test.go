package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// mismatch makes one incident: a gateway that took another amount.
func (b *testBundle) mismatch(t *testing.T) models.Incident {
	t.Helper()

	tx := b.open(t, b.book(t, b.Trip, 1), 1)
	tx.Amount = models.MustMoney("1.00")
	b.report(t, tx, models.EventPaymentSucceeded)

	got, err := b.s.ListIncidents(t.Context(), store.IncidentFilter{Status: models.IncidentOpen})
	require.NoError(t, err)
	require.NotEmpty(t, got.Items)

	return got.Items[0]
}

func TestResolveIncident(t *testing.T) {
	t.Parallel()
	b := setup(t)
	i := b.mismatch(t)

	got, err := b.s.ResolveIncident(t.Context(), i.ID, "looked at", b.finance)
	require.NoError(t, err)
	require.Equal(t, models.IncidentResolved, got.Status)
	require.Equal(t, b.finance.UserID, *got.ResolvedBy)
	require.NotNil(t, got.ResolvedAt)
	require.Equal(t, "looked at", got.Note)
	require.NotEmpty(t, got.Details)

	for _, c := range []struct {
		kind   models.IncidentKind
		status string
		want   int64
	}{
		{"", models.IncidentOpen, 0},
		{"", models.IncidentResolved, 1},
		{models.IncidentAmountMismatch, "", 1},
		{models.IncidentCurrencyMismatch, "", 0},
	} {
		list, err := b.s.ListIncidents(t.Context(), store.IncidentFilter{Kind: c.kind, Status: c.status})
		require.NoError(t, err)
		require.Equal(t, c.want, list.Total)
	}

	entries, err := b.s.ListAudit(t.Context(), store.AuditFilter{Action: "INCIDENT_RESOLVED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.Equal(t, i.ID, *entries.Items[0].EntityID)
	require.JSONEq(t, `{"kind": "AMOUNT_MISMATCH", "note": "looked at"}`, string(entries.Items[0].Details))

	_, err = b.s.ResolveIncident(t.Context(), i.ID, "again", b.finance)
	requireCode(t, models.CodeInvalidState, err)
	_, err = b.s.ResolveIncident(t.Context(), models.NewID(), "", b.finance)
	requireCode(t, models.CodeNotFound, err)
}

// TestResolvedIncidentThatIsNewsAgain: what comes after somebody has resolved an incident is not hidden in it.
func TestResolvedIncidentThatIsNewsAgain(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.open(t, b.book(t, b.Trip, 1), 1)
	open := func() store.Listed[models.Incident] {
		t.Helper()

		list, err := b.s.ListIncidents(t.Context(), store.IncidentFilter{Status: models.IncidentOpen})
		require.NoError(t, err)

		return list
	}
	elsewhere := func(e *models.WebhookEvent) { e.CheckoutID = "ref-elsewhere" }

	failed := word(tx, models.EventPaymentFailed, elsewhere)
	b.deliver(t, failed)
	require.Len(t, open().Items, 1)

	_, err := b.s.ResolveIncident(t.Context(), open().Items[0].ID, "nobody's", b.finance)
	require.NoError(t, err)

	b.deliver(t, failed)
	require.Empty(t, open().Items, "the same webhook again is no news")

	b.deliver(t, word(tx, models.EventPaymentSucceeded, elsewhere))
	require.Len(t, open().Items, 1, "money has come")

	i := open().Items[0]
	require.Nil(t, i.ResolvedAt)
	require.Nil(t, i.ResolvedBy)
	require.Len(t, i.Details["events"], 2)

	_, err = b.s.ResolveIncident(t.Context(), i.ID, "given back", b.finance)
	require.NoError(t, err)
}

func TestResolveIncidentOnceInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	i := b.mismatch(t)

	var resolved atomic.Int32

	parallel(8, func(int) {
		if _, err := b.s.ResolveIncident(t.Context(), i.ID, "", b.finance); err == nil {
			resolved.Add(1)
		}
	})

	require.EqualValues(t, 1, resolved.Load())
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log"))
}
