package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
	"github.com/stretchr/testify/require"
)

// readByOthers are variables in docs/configuration.md that no field of Config has: they are read before there is one.
var readByOthers = []string{"TEMPORAL_CLI_DOWNLOAD"}

// TestSettingsAreDocumented: docs/configuration.md has a row for every variable, with its default, and none for what nothing reads. A
// backup account has the variables of the first.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)

	_, settings, found := strings.Cut(string(text), "\n## Process\n")
	require.True(t, found)

	defaults := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| (`[A-Z][^|]*`) \\| ([^|]*) \\| [^|]+ \\|$")
	code := regexp.MustCompile("`([^`]+)`")

	for _, r := range row.FindAllStringSubmatch(settings, -1) {
		for _, name := range code.FindAllStringSubmatch(r[1], -1) {
			require.NotContains(t, defaults, name[1], "it has two rows")

			defaults[name[1]] = r[2]
		}
	}

	fields, err := env.GetFieldParams(&Config{})
	require.NoError(t, err)

	known := slices.Clone(readByOthers)

	for _, field := range fields {
		known = append(known, field.Key)

		shown, documented := defaults[field.Key]
		if !documented && strings.Contains(field.Key, "_BACKUP_") {
			shown, documented = defaults[strings.Replace(field.Key, "_BACKUP", "", 1)]
		}

		require.True(t, documented, "%s has no row in docs/configuration.md", field.Key)

		if field.DefaultValue != "" {
			require.Contains(t, shown, "`"+field.DefaultValue+"`", "the default of %s", field.Key)
		}
	}

	for name := range defaults {
		require.Contains(t, known, name, "nothing reads it")
	}
}
