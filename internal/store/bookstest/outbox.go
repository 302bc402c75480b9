package bookstest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/outbox"
	"rihla/models"
)

// Claim takes due messages of the outbox.
func (b *Books) Claim(t *testing.T, limit int, now time.Time) []models.Notification {
	t.Helper()

	rows, err := b.Store.Outbox.ClaimNotifications(t.Context(), outbox.Claim{}, limit, now)
	require.NoError(t, err)

	return rows
}

// Sent marks a claimed message delivered.
func (b *Books) Sent(t *testing.T, n *models.Notification, now time.Time) {
	t.Helper()
	require.NoError(t, b.Store.Outbox.NotificationsSent(t.Context(), []uuid.UUID{n.ID}, now))
}

// Failed puts a claimed message back, or gives it up.
func (b *Books) Failed(t *testing.T, n *models.Notification, permanent bool, reason string, now time.Time) {
	t.Helper()
	require.NoError(t, b.Store.Outbox.NotificationsFailed(t.Context(), []outbox.Failure{
		{ID: n.ID, Attempts: n.Attempts, Permanent: permanent, Reason: reason},
	}, now))
}
