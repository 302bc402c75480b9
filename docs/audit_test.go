package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/audit"
)

// TestAuditRulesAreListed: audit.md names each rule of the audit, once.
func TestAuditRulesAreListed(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("audit.md")
	require.NoError(t, err)

	_, table, ok := strings.Cut(string(text), "\n## Rules\n")
	require.True(t, ok)

	var listed []string

	for row := range strings.SplitSeq(table, "\n") {
		if !strings.HasPrefix(row, "|") {
			continue
		}

		for _, name := range quoted.FindAllStringSubmatch(row, -1) {
			listed = append(listed, name[1])
		}
	}

	all := audit.Rules()
	rules := make([]string, 0, len(all))

	for _, r := range all {
		rules = append(rules, r.Name)
	}

	require.ElementsMatch(t, rules, listed)
}
