package bookstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// RequireFields checks that err has the code and names exactly the fields.
func RequireFields(t *testing.T, code models.Code, err error, fields ...string) {
	t.Helper()
	RequireCode(t, code, err)

	var e *models.Error

	require.ErrorAs(t, err, &e)
	require.Len(t, e.Details, len(fields), "%v", e.Details)

	for _, f := range fields {
		require.NotEmpty(t, e.Details[f], f)
	}
}
