package migrations

import (
	_ "embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed releases.yml
var releases []byte

//go:embed effects.tsv
var effects string

// Release is a version of the service, and what upgrading to it and going back from it ask for.
type Release struct {
	Version   string
	Commit    string
	Migration string // its newest
	From      string // the oldest version that can be upgraded to it; "" for the first
	Beside    bool   // processes of the release before work on its schema
	NoReturn  struct {
		When   string // "" when one can always go back
		Passed string // a query for one boolean
	} `yaml:"no_return"`
}

// Releases are all of them, the oldest first. The last one is under way until it has a commit.
var Releases = sync.OnceValues(func() ([]Release, error) {
	var all []Release
	if err := yaml.Unmarshal(releases, &all); err != nil {
		return nil, fmt.Errorf("read releases.yml: %w", err)
	}

	if last := &all[len(all)-1]; last.Migration == "" {
		names, err := fs.Glob(FS, "*.up.sql")
		if err != nil {
			return nil, err
		}

		last.Migration, _, _ = strings.Cut(slices.Max(names), "_")
	}

	return all, nil
})

// Effect is what a migration does to a table that was there before it.
type Effect struct {
	Migration, Table string
	// Lock is the strongest lock that it holds until its end, as pg_locks names it.
	Lock string
	// Work is "catalogue", or what takes as long as the table is large: "read" of all rows, "index" or "rewrite".
	Work string
}

// Effects are those of all migrations, as they were observed (TestEffectsOfMigrations).
func Effects() []Effect {
	var all []Effect

	for line := range strings.Lines(effects) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		all = append(all, Effect{f[0], f[1], f[2], f[3]})
	}

	return all
}

// InTransaction reports whether the migration of that number is done whole or not at all.
func InTransaction(number string) bool {
	found, err := fs.Glob(FS, number+"_*.tx.up.sql")

	return err == nil && len(found) == 1
}

// KeepsWriting reports whether others can write to the table meanwhile.
func (e Effect) KeepsWriting() bool {
	return e.Lock == "RowExclusiveLock" || e.Lock == "ShareUpdateExclusiveLock"
}
