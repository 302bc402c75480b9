package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBoardsAreCommitted: docs/dashboards has what this code makes. After a change: go -C tools/dashboards run . ../../docs/dashboards.
func TestBoardsAreCommitted(t *testing.T) {
	t.Parallel()

	all, err := files()
	require.NoError(t, err)

	const folder = "../../docs/dashboards"

	there, err := filepath.Glob(folder + "/*.json")
	require.NoError(t, err)
	require.Len(t, there, len(all))

	for name, text := range all {
		committed, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, string(text), string(committed), name)
	}
}
