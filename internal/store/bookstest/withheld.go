package bookstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// Deliverable claims what is due, and takes out what is not to be sent.
func (b *Books) Deliverable(t *testing.T) []models.Notification {
	t.Helper()

	left, err := b.Store.Outbox.WithholdNotifications(t.Context(), b.Claim(t, 100, time.Now()), nil, time.Now())
	require.NoError(t, err)

	return left
}
