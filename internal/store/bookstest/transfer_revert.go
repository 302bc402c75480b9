package bookstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// RequireInvalid fails the test unless err says that about the field.
func RequireInvalid(t *testing.T, err error, field, says string) {
	t.Helper()
	RequireCode(t, models.CodeValidation, err)

	var e *models.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, map[string][]string{field: {says}}, e.EnglishDetails())
}
