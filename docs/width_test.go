package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// maxWidth is how many characters a line of prose has at most.
const maxWidth = 120

// TestProseWraps finds lines of the documents that are longer than maxWidth. Tables, headings and code may be longer.
func TestProseWraps(t *testing.T) {
	t.Parallel()

	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)

		for _, n := range tooLong(string(text)) {
			t.Errorf("%s:%d is longer than %d characters", name, n, maxWidth)
		}
	}
}

// documents are the files that people read.
func documents(t *testing.T) []string {
	t.Helper()

	files := []string{"../README.md", "../CHANGELOG.md", "../CONTRIBUTING.md", "../SECURITY.md"}

	for _, pattern := range []string{"*.md", "decisions/*.md", "runbook/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found)

		files = append(files, found...)
	}

	for _, subject := range subjects {
		files = append(files, "../"+subject+"/README.md")
	}

	drivers, err := filepath.Glob("../gateways/*/README.md")
	require.NoError(t, err)
	require.NotEmpty(t, drivers)

	return append(files, drivers...)
}

// tooLong returns the numbers of the lines, from 1, that should have been wrapped.
func tooLong(text string) []int {
	var (
		lines []int
		code  bool
	)

	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)

		switch {
		case strings.HasPrefix(trimmed, "```"):
			code = !code
		case code, strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "#"):
		case utf8.RuneCountInString(line) > maxWidth && strings.Contains(trimmed[2:], " "):
			lines = append(lines, i+1)
		}
	}

	return lines
}

func TestTooLong(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("word ", 30)

	require.Equal(t, []int{3}, tooLong("# "+long+"\n| "+long+" |\n"+long+"\n```\n"+long+"\n```\n- "+strings.Repeat("x", 200)))
}
