package incidents_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/incidents"
	"rihla/models"
)

// The incident about late money names the workflow that has found it; of the attempt's own nothing can be seen.
func TestAnIncidentNamesTheWorkflowThatOpenedIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 1, nil)
	tx := b.Lapsed(t, trip, 1)
	b.Book(t, trip, 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

	_, err := b.Store.Payments.SettlePayment(incidents.InWorkflow(t.Context(), "late-payment/gateway_a/event"), tx.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "late-payment/gateway_a/event", b.Incidents(t)[0].WorkflowID)
}
