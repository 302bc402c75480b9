package invariants_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/chaos/invariants"
)

func TestEveryInvariantIsDescribed(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/reliability.md")
	require.NoError(t, err)

	seen := map[string]bool{}

	for _, i := range invariants.All() {
		require.False(t, seen[i.Name], i.Name)
		require.Contains(t, string(text), "| `"+i.Name+"` | "+i.Says)

		seen[i.Name] = true
	}
}
