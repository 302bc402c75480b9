package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// file is a path of the repository as the guides write it.
var file = regexp.MustCompile(`^(?:[a-z0-9_.-]+/)+[A-Za-z0-9_.-]*$|^[A-Za-z0-9_-]+\.(?:md|go|yml)$`)

// codeBlock is a fenced one, whose backticks are no quotes.
var codeBlock = regexp.MustCompile("(?s)```.*?```")

// What the guides name exists: files and directories by their path, functions, types and tests by their declaration, properties and
// schemas in the API's document.
func TestGuidesNameWhatExists(t *testing.T) {
	t.Parallel()

	there := readTree(t)
	document, err := os.ReadFile("../api/openapi.yaml")
	require.NoError(t, err)

	names := regexp.MustCompile(`^[A-Za-z]+(?:\.[A-Za-z]+)?$`)

	for _, guide := range []string{"../CONTRIBUTING.md", "../SECURITY.md"} {
		text, err := os.ReadFile(guide)
		require.NoError(t, err)

		var files, declared int

		for _, q := range quoted.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			switch name := strings.TrimSuffix(q[1], "/"); {
			case strings.Contains(name, "NNNN"): // is yet to be named
			case file.MatchString(name):
				files++

				require.FileExists(t, orDirectory(t, "../"+name), "%s names %s", guide, name)
			case testName.MatchString(name):
				declared++

				require.True(t, there.tests[name], "%s names %s", guide, name)
			case names.MatchString(name) && strings.ToLower(name) != name:
				declared++

				last := name[strings.LastIndex(name, ".")+1:]
				schema := strings.Contains(string(document), "\n    "+name+":\n") || strings.Contains(string(document), " "+name+":")
				require.True(t, there.declared[name] || there.declared[last] || schema, "%s names %s", guide, name)
			}
		}

		if guide == "../CONTRIBUTING.md" {
			require.Greater(t, files, 20)
			require.Greater(t, declared, 10)
		}
	}
}

// orDirectory is the path of a file; of a directory it is that of a file in it.
func orDirectory(t *testing.T, path string) string {
	t.Helper()

	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return path
	}

	for _, e := range entries {
		if !e.IsDir() {
			return path + "/" + e.Name()
		}
	}

	return orDirectory(t, path+"/"+entries[0].Name())
}

// subjects are the packages that have a README.
var subjects = []string{
	"models", "workflows", "activities", "worker", "gateways", "api", "api/operations", "api/middleware", "api/contract", "internal/store",
	"internal/store/accounts", "internal/store/bookings", "internal/store/catalogue", "internal/store/incidents", "internal/store/ledger",
	"internal/store/outbox", "internal/store/payments", "internal/store/refunds", "internal/store/db", "internal/audit", "internal/notify",
	"internal/codec", "internal/config", "internal/auth", "chaos", "e2e", "bench", "console",
}

// TestPackageReadmes: a package's README is short, and names files and directories of the package, or of the repository, tests and
// declarations that exist.
func TestPackageReadmes(t *testing.T) {
	t.Parallel()

	const maxLines = 60

	there := readTree(t)
	local := regexp.MustCompile(`^[A-Za-z0-9_./-]+\.(?:go|md|yaml|tsx|gohtml)$`)
	names := regexp.MustCompile(`^[A-Za-z]+(?:\.[A-Za-z]+)?$`)

	for _, subject := range subjects {
		text, err := os.ReadFile("../" + subject + "/README.md")
		require.NoError(t, err)
		require.LessOrEqual(t, strings.Count(string(text), "\n"), maxLines, subject)
		require.True(t, strings.HasPrefix(string(text), "# "), subject)

		found := 0

		for _, q := range quoted.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			last := q[1][strings.LastIndex(q[1], ".")+1:]

			switch name := strings.TrimSuffix(q[1], "/"); {
			case local.MatchString(name):
				found++

				require.True(t, exists("../"+subject+"/"+name) || exists("../"+name), "%s names %s", subject, name)
			case testName.MatchString(name):
				require.True(t, there.tests[name], "%s names %s", subject, name)
			case exists("../"+subject+"/"+name) || exists("../"+name): // a directory
			case names.MatchString(name) && strings.ToLower(name) != name:
				require.True(t, there.declared[name] || there.declared[last], "%s names %s", subject, name)
			}
		}

		require.NotZero(t, found, "%s names no files to read", subject)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)

	return err == nil
}
