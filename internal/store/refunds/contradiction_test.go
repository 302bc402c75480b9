package refunds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
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
			b := setup(t)
			tx := b.Paid(t, 1)
			r := b.Ask(tx, "10.00")
			b.Reserve(t, r)
			require.Equal(t, tt.decided, b.SettleRefund(t, r, models.RefundResult{Status: tt.decided}).Status)

			event := func(kind models.EventType) models.WebhookEvent {
				return bookstest.Event(tx, kind, func(e *models.WebhookEvent) { e.MerchantReference, e.Amount = r.ID.String(), r.Amount })
			}

			before, agreeing := b.Fingerprint(t), event(tt.agrees)
			require.True(t, b.Deliver(t, agreeing).Duplicate)
			require.Equal(t, "DUPLICATE", b.Outcome(t, agreeing))
			require.Equal(t, before, b.Fingerprint(t))

			// Incidents from before are resolved: they are not looked at again.
			for _, i := range b.Incidents(t) {
				_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "paid manually")
				require.NoError(t, err)
			}

			contrary := event(tt.differs)
			stored := b.Deliver(t, contrary)
			require.True(t, stored.Known)
			require.False(t, stored.Duplicate || stored.Deliver, "it is news, and no workflow can do anything about it")
			require.Equal(t, "INCIDENT", b.Outcome(t, contrary))

			open := func() []models.Incident {
				return slices.DeleteFunc(b.Incidents(t), func(i models.Incident) bool { return i.Status != models.IncidentOpen })
			}
			require.Len(t, open(), 1)
			require.Equal(t, models.IncidentRefundFailed, open()[0].Kind)
			require.Equal(t, r.ID, *open()[0].RefundID)

			require.True(t, b.Deliver(t, contrary).Duplicate, "the same webhook again")
			require.Len(t, bookstest.EventsOf(open()[0]), 1)
			require.Equal(t, tt.decided, b.RefundOf(t, r).Status)
		})
	}
}

// The contrary word came first, while the gateway had not decided or while its decision was on the way to the database: that
// a missing event then is no reason to bury it.
func TestRefundThatWasContradictedBefore(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		decided models.RefundStatus
		agrees  models.EventType
		differs models.EventType
	}{
		{"it had failed", models.RefundSucceeded, models.EventRefundSucceeded, models.EventRefundFailed},
		{"it had succeeded", models.RefundFailed, models.EventRefundFailed, models.EventRefundSucceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.Paid(t, 1)
			r := b.Ask(tx, "10.00")
			b.Reserve(t, r)

			event := func(kind models.EventType) models.WebhookEvent {
				return bookstest.Event(tx, kind, func(e *models.WebhookEvent) { e.MerchantReference, e.Amount = r.ID.String(), r.Amount })
			}

			agreeing, contrary := event(tt.agrees), event(tt.differs)
			require.True(t, b.Deliver(t, contrary).Deliver)
			require.True(t, b.Deliver(t, agreeing).Deliver)
			require.Equal(t, tt.decided, b.SettleRefund(t, r, models.RefundResult{Status: tt.decided}).Status)
			require.Equal(t, "APPLIED", b.Outcome(t, agreeing))
			require.Equal(t, "INCIDENT", b.Outcome(t, contrary))

			// One that was stored as news while the decision was being written is found when it is delivered.
			late := event(tt.differs)
			b.Deliver(t, late)
			b.Exec(t, "UPDATE webhook_events SET processed_at = NULL, outcome = '' WHERE webhook_id = $1", late.WebhookID)
			require.Equal(t, tt.decided, b.SettleRefund(t, r, models.RefundResult{}).Status)
			require.Equal(t, "INCIDENT", b.Outcome(t, late))

			contradicted := slices.DeleteFunc(b.Incidents(t), func(i models.Incident) bool { return !strings.Contains(i.Message, "contradicts") })
			require.Len(t, contradicted, 1)
			require.Equal(t, r.ID, *contradicted[0].RefundID)
		})
	}
}
