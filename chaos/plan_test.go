package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The kind of an environment follows from the number of its schedules: they meet the same kind wherever a run begins.
func TestPlan(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		options

		plan [][]int
	}{
		"from the beginning": {options{schedule: -1, schedules: 5, perEnvironment: 3}, [][]int{{0, 1, 2}, {3, 4}}},
		"from the middle":    {options{schedule: -1, from: 2, schedules: 5, perEnvironment: 3}, [][]int{{2}, {3, 4, 5}, {6}}},
		"one, repeated":      {options{schedule: 5, schedules: 4, perEnvironment: 3}, [][]int{{5, 5, 5}, {5}}},
		"none":               {options{schedule: -1, perEnvironment: 3}, nil},
	} {
		require.Equal(t, test.plan, test.options.plan(), name)
	}
}
