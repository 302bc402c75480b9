package devstack_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/devstack"
)

// A session that is at work when the server is killed must not bring it to its end.
func TestKilledPostgresTakesItsSessionsAlong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := devstack.StartPostgres(t.Context(), devstack.PostgresOptions{
		DataDir: dir, BinDir: filepath.Join(dir, "bin"), Database: "killed", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	_, err = connect(t, p.URL()).Exec(t.Context(), "CREATE TABLE kept (x bigint)")
	require.NoError(t, err)

	busy := connect(t, p.URL())
	pid := busy.PgConn().PID()
	done := make(chan error, 1)
	go func() {
		_, err := busy.Exec(t.Context(), "INSERT INTO kept SELECT count(*) FROM generate_series(1, 20000000)")
		done <- err
	}()
	looker := connect(t, p.URL())
	require.Eventually(t, func() bool {
		var atWork bool
		err := looker.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE pid = $1 AND state = 'active' AND query LIKE 'INSERT%')`, pid).Scan(&atWork)
		return err == nil && atWork
	}, 10*time.Second, 5*time.Millisecond)
	p.Kill()
	require.Error(t, <-done)
	require.NoError(t, p.Start(t.Context()))
	require.Zero(t, count(t, connect(t, p.URL())))
}
