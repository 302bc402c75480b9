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
	done := make(chan error, 1)
	go func() {
		_, err := busy.Exec(t.Context(), "INSERT INTO kept SELECT count(*) FROM generate_series(1, 10000000)")
		done <- err
	}()
	time.Sleep(200 * time.Millisecond)
	p.Kill()
	require.Error(t, <-done)
	require.NoError(t, p.Start(t.Context()))
	require.Zero(t, count(t, connect(t, p.URL())))
}
