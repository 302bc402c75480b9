package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// The gateway says the opposite of what it had decided about a refund: a person has to look, and nothing else changes.
func TestRefundThatTheGatewayContradicts(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name            string
		decided         models.RefundStatus
		agrees, differs models.EventType
	}{
		{"failed after all", models.RefundSucceeded, models.EventRefundSucceeded, models.EventRefundFailed},
		{"succeeded after all", models.RefundFailed, models.EventRefundFailed, models.EventRefundSucceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setupBooks(t)
			tx := b.paid(t, 1)
			r := b.ask(tx, "10.00")
			b.reserve(t, r)
			require.Equal(t, tt.decided, b.settleRefund(t, r, models.RefundResult{Status: tt.decided}).Status)

			event := func(kind models.EventType) models.WebhookEvent {
				return word(tx, kind, func(e *models.WebhookEvent) { e.MerchantReference, e.Amount = r.ID.String(), r.Amount })
			}

			before, agreeing := b.fingerprint(t), event(tt.agrees)
			require.True(t, b.deliver(t, agreeing).Duplicate)
			require.Equal(t, "DUPLICATE", b.outcome(t, agreeing))
			require.Equal(t, before, b.fingerprint(t))

			// What was wrong before is done with: nobody looks at it again.
			for _, i := range b.incidents(t) {
				_, err := b.s.ResolveIncident(t.Context(), i.ID, "paid by hand", b.finance)
				require.NoError(t, err)
			}

			contrary := event(tt.differs)
			stored := b.deliver(t, contrary)
			require.True(t, stored.Known)
			require.False(t, stored.Duplicate || stored.Deliver, "it is news, and no workflow can do anything about it")
			require.Equal(t, "INCIDENT", b.outcome(t, contrary))

			open := func() []models.Incident {
				return slices.DeleteFunc(b.incidents(t), func(i models.Incident) bool { return i.Status != models.IncidentOpen })
			}
			require.Len(t, open(), 1)
			require.Equal(t, models.IncidentRefundFailed, open()[0].Kind)
			require.Equal(t, r.ID, *open()[0].RefundID)

			require.True(t, b.deliver(t, contrary).Duplicate, "the same webhook again")
			require.Len(t, eventsOf(open()[0]), 1)
			require.Equal(t, tt.decided, b.refundOf(t, r).Status)
			b.requireIdentities(t)
		})
	}
}
