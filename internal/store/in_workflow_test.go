package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// The incident about late money names the workflow that has found it; of the attempt's own nothing can be seen.
func TestAnIncidentNamesTheWorkflowThatOpenedIt(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	trip := b.trip(t, 1, nil)
	tx := b.lapsed(t, trip, 1)
	b.book(t, trip, 1)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))

	_, err := b.s.SettlePayment(store.InWorkflow(t.Context(), "late-payment/gateway_a/event"), tx.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "late-payment/gateway_a/event", b.incidents(t)[0].WorkflowID)
}
