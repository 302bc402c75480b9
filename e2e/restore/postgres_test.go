//go:build drill

package restore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"rihla/e2e/rig"
	"rihla/internal/process"
)

// owner is the superuser of the drills' clusters.
const owner = "rihla"

// postgres is a server of a drill: with a socket, which pgBackRest needs, and settings of the drill's own.
type postgres struct {
	tb      testing.TB
	name    string
	dir     string // of the cluster
	sockets string
	port    int
	account *syscall.Credential
	program *process.Program
}

// home is a directory that the account of PostgreSQL can reach, and that account.
func home(tb testing.TB) (string, *syscall.Credential) {
	tb.Helper()

	dir, err := os.MkdirTemp("/var/tmp", "rihla-restore-") //nolint:usetesting // the account of PostgreSQL reaches no directory of the test
	require.NoError(tb, err)
	tb.Cleanup(func() {
		if !tb.Failed() {
			_ = os.RemoveAll(dir)
		}
	})

	if os.Geteuid() != 0 {
		return dir, nil
	}

	u, err := user.Lookup("postgres")
	require.NoError(tb, err, "PostgreSQL does not run as root")

	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(tb, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	require.NoError(tb, err)
	require.NoError(tb, os.Chown(dir, int(uid), int(gid)))

	return dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// program is the path of one of PostgreSQL's programs.
func program(tb testing.TB, name string) string {
	tb.Helper()

	if path, err := exec.LookPath(name); err == nil {
		return path
	}

	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	require.NoError(tb, err)
	require.NotEmpty(tb, found, name+" is not installed")

	return found[len(found)-1]
}

// as runs a program as the account of PostgreSQL, and returns what it printed.
func as(tb testing.TB, account *syscall.Credential, name string, args ...string) string {
	tb.Helper()

	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()

	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: account}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/var/tmp", "TZ=UTC"}
	text, err := cmd.CombinedOutput()
	require.NoError(tb, err, "%s %s: %s", name, strings.Join(args, " "), text)

	return string(text)
}

// newCluster makes a cluster and does not start it.
func newCluster(tb testing.TB, base string, account *syscall.Credential) *postgres {
	tb.Helper()

	p := at(tb, "primary", filepath.Join(base, "primary"), account)
	as(tb, account, program(tb, "initdb"), "--pgdata="+p.dir, "--username="+owner, "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--lc-ctype=C.UTF-8", "--no-sync")

	return p
}

// at is the server of a cluster that is there, or will be.
func at(tb testing.TB, name, dir string, account *syscall.Credential) *postgres {
	tb.Helper()

	address, err := rig.FreeAddress(tb.Context())
	require.NoError(tb, err)

	_, port, _ := strings.Cut(address, ":")
	p := &postgres{tb: tb, name: name, dir: dir, sockets: filepath.Dir(dir), account: account}
	p.port, err = strconv.Atoi(port)
	require.NoError(tb, err)

	return p
}

// set writes settings, which count from the next start.
func (p *postgres) set(settings map[string]string) {
	p.tb.Helper()

	f, err := os.OpenFile(filepath.Join(p.dir, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(p.tb, err)

	for name, value := range settings {
		_, err := fmt.Fprintf(f, "%s = '%s'\n", name, value)
		require.NoError(p.tb, err)
	}

	require.NoError(p.tb, f.Close())
}

// start starts the server and waits until it answers; a standby answers, too.
func (p *postgres) start() {
	p.tb.Helper()

	p.program = &process.Program{
		Command: process.Command{
			Name: p.name, Path: program(p.tb, "postgres"), Dir: "/", Log: filepath.Join(p.sockets, p.name+".log"), Credential: p.account,
			Orphan: syscall.SIGINT,
			Args: []string{
				"-D", p.dir, "-c", "port=" + strconv.Itoa(p.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + p.sockets,
				"-c", "max_connections=200", "-c", "timezone=UTC", "-c", "wal_level=replica", "-c", "hot_standby=on",
			},
		},
		Settings: map[string]string{"PATH": os.Getenv("PATH"), "TZ": "UTC"},
		Probe: func(ctx context.Context) bool {
			db, err := sql.Open("pgx", p.url(owner, "postgres"))
			if err != nil {
				return false
			}
			defer db.Close()

			return db.PingContext(ctx) == nil
		},
	}
	require.NoError(p.tb, p.program.Start())
	p.tb.Cleanup(func() { p.program.Kill() })

	ctx, cancel := context.WithTimeout(p.tb.Context(), time.Minute)
	defer cancel()

	require.NoError(p.tb, p.program.Await(ctx), p.program.Log())
}

// url is the address of a database for a role, without whatever stands between.
func (p *postgres) url(role, database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, p.port, database)
}

// exec runs a statement as the owner.
func (p *postgres) exec(database, statement string) {
	p.tb.Helper()

	db, err := sql.Open("pgx", p.url(owner, database))
	require.NoError(p.tb, err)
	defer db.Close()

	_, err = db.ExecContext(p.tb.Context(), statement)
	require.NoError(p.tb, err, statement)
}

// value reads one text.
func (p *postgres) value(database, query string) string {
	p.tb.Helper()

	text, err := p.read(database, query)
	require.NoError(p.tb, err, query)

	return text
}

// says reports whether the query gives a text. A server that recovers lets connections go: it does not say it yet.
func (p *postgres) says(text, database, query string) bool {
	said, err := p.read(database, query)

	return err == nil && said == text
}

func (p *postgres) read(database, query string) (text string, err error) {
	db, err := sql.Open("pgx", p.url(owner, database))
	if err != nil {
		return "", err
	}
	defer db.Close()

	return text, db.QueryRowContext(p.tb.Context(), query).Scan(&text)
}

// standby copies the running server and starts the copy as its standby, which reaches it by the link. synchronous: the primary waits for it
// at every commit.
func (p *postgres) standby(link *address, synchronous bool) *postgres {
	p.tb.Helper()

	s := at(p.tb, "standby", filepath.Join(p.sockets, "standby"), p.account)
	as(p.tb, p.account, program(p.tb, "pg_basebackup"), "-h", p.sockets, "-p", strconv.Itoa(p.port), "-U", owner, "-D", s.dir, "-R",
		"-X", "stream", "-c", "fast", "--no-sync")

	s.set(map[string]string{
		"primary_conninfo": fmt.Sprintf("host=127.0.0.1 port=%d user=%s application_name=standby", link.port(), owner),
		// What a standby applies is what it must not lose; the copied setting would have it wait for a standby of its own.
		"synchronous_standby_names": "",
	})
	s.start()

	if synchronous {
		p.exec("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
		p.exec("postgres", "SELECT pg_reload_conf()")
	}

	eventually(p.tb, 30*time.Second, "the standby streams", func() bool {
		want := "async"
		if synchronous {
			want = "sync"
		}

		return p.says(want, "postgres", "SELECT coalesce(max(sync_state), '') FROM pg_stat_replication")
	})

	return s
}

// lose takes the data directory of a server that was killed. Its backends need a moment to notice, and write until then.
func (p *postgres) lose() {
	p.tb.Helper()
	eventually(p.tb, 30*time.Second, "the data directory is gone", func() bool { return os.RemoveAll(p.dir) == nil })
}

// promote makes a standby the primary.
func (p *postgres) promote() {
	p.tb.Helper()

	require.Equal(p.tb, "true", p.value("postgres", "SELECT pg_promote(true, 60)::text"))
}
