package bookstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// Claim takes due messages of the outbox.
func (b *Books) Claim(t *testing.T, limit int, now time.Time) []models.Notification {
	t.Helper()

	rows, err := b.Store.Outbox.ClaimNotifications(t.Context(), limit, now)
	require.NoError(t, err)

	return rows
}
