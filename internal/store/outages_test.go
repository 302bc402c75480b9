package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestGatewayOutage(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	open := func() int {
		return b.count(t, "SELECT count(*) FROM incidents WHERE kind = 'GATEWAY_OUTAGE' AND status = 'OPEN'")
	}

	require.NoError(t, b.s.ReportGatewayUp(t.Context(), models.ProviderWalletB), "as every worker says at its start")

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			require.NoError(t, b.s.ReportGatewayDown(t.Context(), models.ProviderWalletB, time.Now()))
			require.NoError(t, b.s.ReportGatewayDown(t.Context(), models.ProviderGatewayA, time.Now()))
		})
	}

	all.Wait()
	require.Equal(t, 2, open(), "one per gateway")

	// That of an attempt is a matter of its own.
	attempt := b.open(t, b.book(t, b.Trip, 1), 1)
	require.NoError(t, b.s.ReportOutage(t.Context(), attempt.ID))

	require.NoError(t, b.s.ReportGatewayUp(t.Context(), models.ProviderGatewayA))
	require.Equal(t, 2, open())
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM incidents
		WHERE status = 'RESOLVED' AND resolved_by IS NULL AND note <> '' AND details ->> 'gateway' = 'gateway_a'`))

	require.NoError(t, b.s.ReportGatewayDown(t.Context(), models.ProviderGatewayA, time.Now()))
	require.Equal(t, 3, open(), "the next outage is another incident")
}
