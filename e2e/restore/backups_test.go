//go:build drill

package restore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/testkit"
)

// stanza is what pgBackRest calls the cluster.
const stanza = "rihla"

// backups are those of pgBackRest.
type backups struct {
	program string
	config  string
	made    time.Time // when the last one was complete, by the database's clock
}

func newBackups(tb testing.TB) *backups {
	tb.Helper()
	testkit.SkipShort(tb)

	return &backups{program: program(tb, "pgbackrest")}
}

// start is a service whose cluster archives its log.
func (b *backups) start(t *testing.T) *world {
	t.Helper()

	conf, err := os.CreateTemp("/var/tmp", "rihla-pgbackrest-*.conf")
	require.NoError(t, err)
	require.NoError(t, conf.Close())
	t.Cleanup(func() { _ = os.Remove(conf.Name()) })

	b.config = conf.Name()

	return start(t, map[string]string{
		"archive_mode": "on", "archive_timeout": "1s",
		"archive_command": b.program + " --config=" + b.config + " --stanza=" + stanza + " archive-push %p",
	})
}

// backup makes the first one.
func (b *backups) backup(w *world) {
	w.Helper()

	lines := []string{
		"[global]", "repo1-path=" + filepath.Join(w.base, "repository"), "repo1-retention-full=1", "log-level-file=off",
		"lock-path=" + filepath.Join(w.base, "lock"), "spool-path=" + filepath.Join(w.base, "spool"), "compress-type=none", "start-fast=y",
		"[" + stanza + "]", "pg1-path=" + w.primary.dir, fmt.Sprintf("pg1-port=%d", w.primary.port), "pg1-socket-path=" + w.primary.sockets,
		"pg1-user=" + owner, "pg1-database=postgres",
	}
	require.NoError(w, os.WriteFile(b.config, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	require.NoError(w, os.Chmod(b.config, 0o644))

	b.run(w, "stanza-create")
	b.run(w, "--type=full", "backup")
	b.made = clock(w)
}

func (b *backups) run(w *world, args ...string) {
	w.Helper()
	as(w, w.primary.account, b.program, append([]string{"--config=" + b.config, "--stanza=" + stanza, "--log-level-console=warn"}, args...)...)
}

// moment is one to which the books can go back: by the database's clock, between two transactions. pgBackRest counts in seconds, and takes
// none of the second in which the backup was complete.
func (b *backups) moment(w *world) time.Time {
	w.Helper()
	eventually(w, 10*time.Second, "the backup is seconds old", func() bool {
		return w.primary.says("true", "postgres", "SELECT (clock_timestamp() > timestamptz '"+b.made.Format(time.RFC3339Nano)+
			"' + interval '2 seconds')::text")
	})

	return clock(w)
}

// awaitArchived waits until what was committed until now is in the archive: PostgreSQL recovers to no moment that is later.
func (b *backups) awaitArchived(w *world) {
	w.Helper()

	segment := w.primary.value("postgres", "SELECT pg_walfile_name(pg_current_wal_lsn())")
	eventually(w, time.Minute, "the last commits are archived", func() bool {
		return w.primary.says("true", "postgres", "SELECT (last_archived_wal >= '"+segment+"')::text FROM pg_stat_archiver")
	})
}

// clock is the database's.
func clock(w *world) time.Time {
	w.Helper()

	at, err := time.Parse("2006-01-02 15:04:05.999999-07", w.primary.value("postgres", "SELECT clock_timestamp()::text"))
	require.NoError(w, err)

	return at
}

// restore brings the cluster back as it was at a moment, and starts it.
func (b *backups) restore(w *world, moment time.Time) {
	w.Helper()
	b.run(w, "--type=time", "--target="+moment.UTC().Format("2006-01-02 15:04:05.000000+00"), "--target-action=promote", "restore")
	w.primary.start()
	eventually(w, time.Minute, "recovery has ended", func() bool {
		return w.primary.says("false", "postgres", "SELECT pg_is_in_recovery()::text")
	})
}
