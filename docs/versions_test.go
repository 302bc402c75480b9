package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var versionRow = regexp.MustCompile("(?m)^\\| (\\S+)(?: \\(`go.mod`\\))? \\| `([^`]+)` \\|")

// TestVersionsAreThoseInUse: the table of versions that were checked for advisories names what is built and run today. A version that
// is raised has to be looked up, and its row written again.
func TestVersionsAreThoseInUse(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("security.md")
	require.NoError(t, err)

	_, section, ok := strings.Cut(string(text), `<a id="versions">`)
	require.True(t, ok)

	rows := versionRow.FindAllStringSubmatch(section, -1)
	require.GreaterOrEqual(t, len(rows), 10)

	var files strings.Builder

	for _, name := range []string{"go.mod", "docker-compose.yml"} {
		file, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		files.Write(file)
	}

	for _, row := range rows {
		name, version := row[1], row[2]

		in := regexp.MustCompile(`(?m)(^|[\s"])` + regexp.QuoteMeta(strings.ToLower(name)) + `[ :]` + regexp.QuoteMeta(version) + `($|[\s@"])`)
		require.Regexp(t, in, files.String(), "docs/security.md names another version of %s than is in use", name)
	}
}

var fromImage = regexp.MustCompile(`(?m)^FROM (\S+)`)

// TestImagesArePinned: what the service's image is made of is the same wherever it is built.
func TestImagesArePinned(t *testing.T) {
	t.Parallel()

	file, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)

	images := fromImage.FindAllStringSubmatch(string(file), -1)
	require.Len(t, images, 2)

	for _, image := range images {
		require.Regexp(t, `^\S+:\S+@sha256:[0-9a-f]{64}$`, image[1])
	}
}
