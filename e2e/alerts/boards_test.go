//go:build drill

package alerts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// boardsHaveData asks for every query of every panel of docs/dashboards: each had numbers during the drill.
func boardsHaveData(t *testing.T, m *monitor) {
	t.Helper()

	boards, err := filepath.Glob("../../docs/dashboards/*.json")
	require.NoError(t, err)
	require.Len(t, boards, 2)

	for _, name := range boards {
		text, err := os.ReadFile(name)
		require.NoError(t, err)

		var board struct {
			Panels []struct {
				Title   string `json:"title"`
				Targets []struct {
					Expr string `json:"expr"`
				} `json:"targets"`
			} `json:"panels"`
		}

		require.NoError(t, json.Unmarshal(text, &board))

		queries := 0

		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				queries++

				if m.sees(t, target.Expr) == 0 {
					t.Errorf("%s, %s: no data for %s", filepath.Base(name), panel.Title, target.Expr)
				}
			}
		}

		require.Greater(t, queries, 10, name)
		t.Logf("%s: %d queries of %d panels and rows have data", filepath.Base(name), queries, len(board.Panels))
	}
}
