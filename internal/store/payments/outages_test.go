package payments_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestGatewayOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := func() int {
		return b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'GATEWAY_OUTAGE' AND status = 'OPEN'")
	}

	require.NoError(t, b.Store.Incidents.ReportGatewayUp(t.Context(), models.AccountWalletB, 0), "as every worker says at its start")

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			require.NoError(t, b.Store.Incidents.ReportGatewayDown(t.Context(), models.AccountWalletB, time.Now()))
			require.NoError(t, b.Store.Incidents.ReportGatewayDown(t.Context(), models.AccountGatewayA, time.Now()))
		})
	}

	all.Wait()
	require.Equal(t, 2, open(), "one per gateway")

	// That of an attempt is a matter of its own.
	attempt := b.Open(t, b.Book(t, b.Trip, 1), 1)
	require.NoError(t, b.Store.Payments.ReportOutage(t.Context(), attempt.ID))

	require.NoError(t, b.Store.Incidents.ReportGatewayUp(t.Context(), models.AccountGatewayA, 0))
	require.Equal(t, 2, open())
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents
		WHERE status = 'RESOLVED' AND resolved_by IS NULL AND note = 'The gateway answers again.'
			AND note_text = '{"key": "incident.gateway_up"}' AND details ->> 'gateway' = 'gateway_a'`))

	require.NoError(t, b.Store.Incidents.ReportGatewayDown(t.Context(), models.AccountGatewayA, time.Now()))
	require.Equal(t, 3, open(), "the next outage is another incident")
}

// TestGatewayOutageLeftBehind: the worker that has seen a gateway down is gone; another one, which never did, resolves the
// incident once no worker has reported it for a while.
func TestGatewayOutageLeftBehind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	older := func(by string) {
		t.Helper()

		_, err := b.Store.DB.Raw.ExecContext(t.Context(), `UPDATE incidents SET created_at = created_at - $1::interval, details = details ||
			CASE WHEN details ? 'last_seen' THEN jsonb_build_object('last_seen', (details ->> 'last_seen')::timestamptz - $1::interval) ELSE '{}' END`, by)
		require.NoError(t, err)
	}
	answers := func(stillOpen int, why string) {
		t.Helper()
		require.NoError(t, b.Store.Incidents.ReportGatewayUp(t.Context(), models.AccountWalletB, 10*time.Minute))
		require.Equal(t, stillOpen, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'GATEWAY_OUTAGE' AND status = 'OPEN'"), why)
	}

	since := time.Now().Add(-5 * time.Minute).UTC().Truncate(time.Second)
	require.NoError(t, b.Store.Incidents.ReportGatewayDown(t.Context(), models.AccountWalletB, since))
	answers(1, "somebody has just seen it down")
	older("9 minutes")
	require.NoError(t, b.Store.Incidents.ReportGatewayDown(t.Context(), models.AccountWalletB, time.Now()))
	older("9 minutes")
	answers(1, "it was opened 18 minutes ago, and seen again 9 minutes ago")
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE (details ->> 'since')::timestamptz = $1", since), "when it began stays")
	older("2 minutes")
	answers(0, "nobody says so any more")
}
