package console_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// What the audit log calls by codes has words in both languages, and there are no words for codes that no entry has.
func TestWordsOfTheAuditLog(t *testing.T) {
	t.Parallel()

	for _, language := range []string{"ar", "en"} {
		text, err := os.ReadFile("src/i18n/" + language + ".json")
		require.NoError(t, err)

		var words struct {
			Actions  map[models.AuditAction]string `json:"auditAction"`
			Entities map[models.AuditEntity]string `json:"auditEntity"`
		}

		require.NoError(t, json.Unmarshal(text, &words))
		require.ElementsMatch(t, models.AuditActions(), slices.Collect(maps.Keys(words.Actions)), language)
		require.ElementsMatch(t, models.AuditEntities(), slices.Collect(maps.Keys(words.Entities)), language)
	}
}
