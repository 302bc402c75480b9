package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplaceSection(t *testing.T) {
	t.Parallel()

	const document = "# Benchmarks\n\n<!-- measured: trip -->\nold\n<!-- end of trip -->\n\nAfter it.\n"

	updated, err := replaceSection(document, "trip", "| new |\n")
	require.NoError(t, err)
	require.Equal(t, "# Benchmarks\n\n<!-- measured: trip -->\n\n| new |\n\n<!-- end of trip -->\n\nAfter it.\n", updated)

	again, err := replaceSection(updated, "trip", "| new |\n")
	require.NoError(t, err)
	require.Equal(t, updated, again, "writing the same results again changes nothing")

	_, err = replaceSection(document, "other", "")
	require.ErrorContains(t, err, `no section "other"`)

	_, err = replaceSection("<!-- measured: trip -->\n", "trip", "")
	require.ErrorContains(t, err, "has no end")
}

// TestMedians: the document has the median of several rounds, and all rows of a table without one.
func TestMedians(t *testing.T) {
	t.Parallel()

	const head = "| round | a second |\n|---|---|\n"

	require.Equal(t, head+"| median, reference | 2 |\n| median | 4 |\n",
		medians(head+"| 1, reference | 1 |\n| 1 | 3 |\n| 12 | 5 |\n| median, reference | 2 |\n| median | 4 |\n"))
	require.Equal(t, head+"| 1 | 3 |\n", medians(head+"| 1 | 3 |\n"))
}

// TestEveryMeasurementHasASection holds the list of measurements and the document together, and has each command run in CI.
func TestEveryMeasurementHasASection(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../docs/benchmarks.md")
	require.NoError(t, err)

	small := map[string]bool{}
	for _, m := range measurements {
		small[m.args[0]] = small[m.args[0]] || len(m.small) > 0

		_, err := replaceSection(string(text), m.section, "")
		require.NoError(t, err)
	}

	for command, runs := range small {
		require.True(t, runs, "bench %s has no small run", command)
	}

	require.Equal(t, len(measurements)+1, strings.Count(string(text), "<!-- measured: "), "and the machine's")
}
