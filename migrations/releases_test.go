package migrations_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/migrations"
)

func TestReleasesAreInOrder(t *testing.T) {
	t.Parallel()

	all, err := migrations.Releases()
	require.NoError(t, err)

	files, err := fs.Glob(migrations.FS, "*.up.sql")
	require.NoError(t, err)

	for i, r := range all {
		require.True(t, slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, r.Migration+"_") }), r)

		if i == 0 {
			continue
		}

		if r.Commit != "" {
			require.Greater(t, r.Migration, all[i-1].Migration, r)
		}

		require.True(t, slices.ContainsFunc(all[:i], func(o migrations.Release) bool { return o.Version == r.From }), r)
		require.Equal(t, r.NoReturn.When == "", r.NoReturn.Passed == "", r)
		require.NotEmpty(t, all[i-1].Commit, "%s is released, as there is one after it", all[i-1].Version)
	}

	changelog, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)

	for _, r := range all {
		require.Contains(t, string(changelog), "## ["+r.Version+"]")
	}
}

// firstObserved is the first migration that is held to what TestEffectsOfMigrations observes. Those before are as they are.
const firstObserved = "0076"

// A migration that keeps others from writing to a table while it reads, indexes or rewrites it says why that is right: `-- holds TABLE: …`.
func TestMigrationsKeepNothingWaiting(t *testing.T) {
	t.Parallel()

	text := func(number string) string {
		files, err := fs.Glob(migrations.FS, number+"_*.up.sql")
		require.NoError(t, err)

		text, err := fs.ReadFile(migrations.FS, files[0])
		require.NoError(t, err)

		return string(text)
	}

	require.Empty(t, unsaid(migrations.Effects(), text))

	slow := migrations.Effect{Migration: firstObserved, Table: "bookings", Lock: "ShareLock", Work: "index"}
	require.Equal(t, []migrations.Effect{slow}, unsaid([]migrations.Effect{slow}, text), "its text says nothing of bookings")
}

func unsaid(effects []migrations.Effect, text func(number string) string) []migrations.Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e migrations.Effect) bool {
		return e.Migration < firstObserved || e.Work == "catalogue" || e.KeepsWriting() ||
			strings.Contains(text(e.Migration), "-- holds "+e.Table+": ")
	})
}
