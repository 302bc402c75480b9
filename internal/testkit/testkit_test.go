package testkit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/peterldowns/pgtestdb"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/internal/devstack"
)

// envJoin makes the test binary a second test process: it prints the addresses of the shared servers and ends.
const envJoin = "TESTKIT_TEST_JOIN"

// TestAddressesForAnotherProcess is run by TestProcessesShareServers in a process of its own.
func TestAddressesForAnotherProcess(t *testing.T) {
	if os.Getenv(envJoin) != "" {
		_, _ = fmt.Fprintf(os.Stdout, "addresses %s %s\n", shared(t, kindPostgres), Temporal(t))
	}
}

func TestProcessesShareServers(t *testing.T) {
	t.Parallel()
	mine := fmt.Sprintf("addresses %s %s\n", shared(t, kindPostgres), Temporal(t))
	for range 2 {
		other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAddressesForAnotherProcess$")
		other.Env = append(os.Environ(), envJoin+"=yes")
		out, err := other.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), mine)
	}
	c, err := client.DialContext(t.Context(), client.Options{HostPort: Temporal(t)})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CheckHealth(t.Context(), nil)
	require.NoError(t, err)
}

// counting migrates once per hash, however many databases are made.
type counting struct{ runs *int }

func (m counting) Hash() (string, error) {
	sum := sha256.Sum256(fmt.Append(nil, "counting", os.Getpid()))
	return hex.EncodeToString(sum[:]), nil
}

func (m counting) Migrate(ctx context.Context, db *sql.DB, _ pgtestdb.Config) error {
	*m.runs++
	_, err := db.ExecContext(ctx, "CREATE EXTENSION pg_trgm; CREATE TABLE things (name text)")
	return err
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	var runs int
	first, second := DB(t, counting{&runs}), DB(t, counting{&runs})
	require.Equal(t, 1, runs)
	for _, config := range []*pgtestdb.Config{first, second} {
		conn, err := pgx.Connect(t.Context(), config.URL())
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "INSERT INTO things VALUES ('one')")
		require.NoError(t, err)
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM things").Scan(&n))
		require.Equal(t, 1, n)
		require.NoError(t, conn.Close(t.Context()))
	}

	conn, err := pgx.Connect(t.Context(), Postgres(t))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SELECT name FROM things")
	require.ErrorContains(t, err, "does not exist")
	require.NoError(t, conn.Close(t.Context()))
}

// TestSupervisorEndsAndIsReplaced goes through a supervisor's life in a place of its own.
func TestSupervisorEndsAndIsReplaced(t *testing.T) {
	SkipShort(t)

	root, err := devstack.ModuleRoot()
	require.NoError(t, err)
	// For root this must be passable by the user that PostgreSQL runs as, which t.TempDir is not.
	dir, err := os.MkdirTemp("", "rihla-testkit-") //nolint:usetesting // see above
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Mkdir(dir+"/postgres", 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	p := place{root: root, dir: dir + "/postgres", kind: kindPostgres}
	t.Setenv(envIdle, "500ms")
	log := slog.New(slog.DiscardHandler)
	ended := func() bool { alive, err := p.supervised(); return err == nil && !alive }

	clients, first, err := p.join(t.Context(), log)
	require.NoError(t, err)
	supervisor, ok := p.read()
	require.True(t, ok)

	// Another client of the same place gets the same server.
	others, same, err := p.join(t.Context(), log)
	require.NoError(t, err)
	require.Equal(t, first, same)
	others.Close()

	// A supervisor that is killed takes its server with it and is replaced, though its state file says that all is well.
	require.NoError(t, syscall.Kill(supervisor.PID, syscall.SIGKILL))
	require.Eventually(t, ended, 10*time.Second, 10*time.Millisecond)
	clients.Close()
	clients, second, err := p.join(t.Context(), log)
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), second.Address)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	// A while after the last client it ends and leaves nothing running and no data.
	require.False(t, ended())
	clients.Close()
	require.Eventually(t, ended, 20*time.Second, 50*time.Millisecond)
	require.NoDirExists(t, p.dataDir()+"/postgres")
	_, ok = p.read()
	require.False(t, ok)
	config, err := pgx.ParseConfig(second.Address)
	require.NoError(t, err)
	_, err = net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", config.Port), time.Second)
	require.Error(t, err)
}

// TestFailureIsReported: a server that cannot start is an error with its reason, not a wait.
func TestFailureIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/postgres"
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(dir+"/data", []byte("in the way"), 0o600))
	p := place{root: t.TempDir(), dir: dir, kind: kindPostgres}
	_, _, err := p.join(t.Context(), slog.New(slog.DiscardHandler))
	require.Error(t, err)
	require.ErrorContains(t, err, "not a directory")
}

func TestPrivateStack(t *testing.T) {
	t.Parallel()
	stack := Stack(t, devstack.Options{Headless: true, Throwaway: true})
	conn, err := pgx.Connect(t.Context(), stack.DatabaseURL)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.NotEqual(t, Temporal(t), stack.TemporalAddress)
}
