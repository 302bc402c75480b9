package incidents_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/models"
)

// mismatch makes one incident: a gateway that took another amount.
func (b *books) mismatch(t *testing.T) models.Incident {
	t.Helper()

	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	tx.Amount = models.MustMoney("1.00")
	b.Report(t, tx, models.EventPaymentSucceeded)

	got, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Status: models.IncidentOpen})
	require.NoError(t, err)
	require.NotEmpty(t, got.Items)

	return got.Items[0]
}

// TestIncidentWords: people read an incident in their language, and one of an earlier version in English.
func TestIncidentWords(t *testing.T) {
	t.Parallel()
	b := setup(t)

	i := b.mismatch(t)
	require.Contains(t, i.Message, "Expected 115.00 SAR, the gateway took 1.00 SAR.")
	require.Equal(t, models.Key("incident.mismatch_suspense"), i.Text.Key)
	require.Contains(t, i.In(models.LocaleEnglish), "Expected 115.00 SAR, the gateway took 1.00 SAR.")
	require.Contains(t, i.In(models.LocaleArabic), "المطلوب 115.00 ريال، وحصّلت بوابة الدفع 1.00 ريال.")

	b.Exec(t, "UPDATE incidents SET message_text = NULL WHERE id = $1", i.ID)

	before, err := b.Store.Incidents.IncidentByID(t.Context(), i.ID)
	require.NoError(t, err)
	require.True(t, before.Text.IsZero())
	require.Equal(t, i.Message, before.In(models.LocaleArabic))
}

func TestResolveIncident(t *testing.T) {
	t.Parallel()
	b := setup(t)
	i := b.mismatch(t)

	got, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "looked at")
	require.NoError(t, err)
	require.Equal(t, models.IncidentResolved, got.Status)
	require.Equal(t, b.Finance.UserID, *got.ResolvedBy)
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
		list, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Kind: c.kind, Status: c.status})
		require.NoError(t, err)
		require.Equal(t, c.want, list.Total)
	}

	entries, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Action: "INCIDENT_RESOLVED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.Equal(t, i.ID, *entries.Items[0].EntityID)
	require.JSONEq(t, `{"kind": "AMOUNT_MISMATCH", "note": "looked at"}`, string(entries.Items[0].Details))

	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "again")
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, models.NewID(), "")
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// TestResolvedIncidentThatIsNewsAgain: an event after an incident was resolved is not hidden in it.
func TestResolvedIncidentThatIsNewsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	open := func() db.Listed[models.Incident] {
		t.Helper()

		list, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Status: models.IncidentOpen})
		require.NoError(t, err)

		return list
	}
	elsewhere := func(e *models.WebhookEvent) { e.CheckoutID = "ref-elsewhere" }

	failed := bookstest.Event(tx, models.EventPaymentFailed, elsewhere)
	b.Deliver(t, failed)
	require.Len(t, open().Items, 1)

	_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, open().Items[0].ID, "nobody's")
	require.NoError(t, err)

	b.Deliver(t, failed)
	require.Empty(t, open().Items, "the same webhook again is no news")

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, elsewhere))
	require.Len(t, open().Items, 1, "money has come")

	i := open().Items[0]
	require.Nil(t, i.ResolvedAt)
	require.Nil(t, i.ResolvedBy)
	require.Len(t, i.Details["events"], 2)

	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "given back")
	require.NoError(t, err)
}

func TestResolveIncidentOnceInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	i := b.mismatch(t)

	var resolved atomic.Int32

	bookstest.Parallel(8, func(int) {
		if _, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, ""); err == nil {
			resolved.Add(1)
		}
	})

	require.EqualValues(t, 1, resolved.Load())
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log"))
}
