package incidents_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestIncidentsToShow(t *testing.T) {
	t.Parallel()
	b := setup(t)

	due := func() []models.ShownIncident {
		t.Helper()

		found, err := b.Store.Incidents.IncidentsToShow(t.Context(), 10)
		require.NoError(t, err)

		return found
	}
	require.Empty(t, due())

	i := b.mismatch(t)

	opened := due()
	require.Len(t, opened, 1)
	require.Equal(t, models.ShownIncident{
		ID: i.ID, Kind: models.IncidentAmountMismatch, Status: models.IncidentOpen, BookingID: *i.BookingID,
		TransactionID: *i.PaymentTransactionID, Gateway: models.GatewayA,
	}, opened[0])
	require.Contains(t, opened[0].About(), "payment "+i.PaymentTransactionID.String()+"\nbooking "+i.BookingID.String())

	_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "looked at")
	require.NoError(t, err)

	// It was resolved before the orchestrator was told that it is open.
	require.NoError(t, b.Store.Incidents.IncidentShown(t.Context(), opened[0]))

	resolved := due()
	require.Len(t, resolved, 1)
	require.Equal(t, models.IncidentResolved, resolved[0].Status)
	require.NoError(t, b.Store.Incidents.IncidentShown(t.Context(), resolved[0]))
	require.Empty(t, due())
}
