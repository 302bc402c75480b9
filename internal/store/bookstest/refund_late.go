package bookstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// RefundOf is the attempt that a reserved refund takes its money from.
func (b *Books) RefundOf(t *testing.T, r models.RefundRequest) models.Refund {
	t.Helper()

	refund, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)

	return refund
}
