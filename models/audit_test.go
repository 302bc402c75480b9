package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestAuditActions(t *testing.T) {
	t.Parallel()

	all := constants(t)

	require.ElementsMatch(t, all["AuditAction"], texts(models.AuditActions()), "each once")
	require.ElementsMatch(t, all["AuditEntity"], texts(models.AuditEntities()), "each once")

	for _, kind := range []models.ExportKind{models.ExportFinancialRecords, models.ExportAuditLog} {
		require.Subset(t, models.AuditActions(), []models.AuditAction{kind.Started(), kind.Completed(), kind.Stopped()})
	}
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}

	return out
}
