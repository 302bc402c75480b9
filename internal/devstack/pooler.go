package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"rihla/internal/process"
)

// Pooler is a PgBouncer on 127.0.0.1 in front of a private PostgreSQL: each client has a session of the server to itself until it leaves,
// and the next one gets it after DISCARD ALL.
type Pooler struct {
	postgres *Postgres
	port     int
	process  *process.Process
}

// poolerPatience is how long it may take until it answers.
const poolerPatience = 20 * time.Second

// poolerSettings: sessions that are idle go soon, since each test has a database of its own.
const poolerSettings = `[databases]
* = host=127.0.0.1 port=%d

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
pool_mode = session
server_reset_query = DISCARD ALL
auth_type = scram-sha-256
auth_file = %s
default_pool_size = 20
server_idle_timeout = 2
max_client_conn = 400
logfile =
pidfile =
`

// StartPooler starts program, a PgBouncer, in front of the server, and returns once it answers. It lets the superuser in, and roles by
// their passwords.
func (p *Postgres) StartPooler(ctx context.Context, log *slog.Logger, program string, roles map[string]string) (*Pooler, error) {
	ctx, cancel := context.WithTimeout(ctx, poolerPatience)
	defer cancel()
	b := &Pooler{postgres: p}
	var err error
	if b.port, err = Port(ctx, log, 0); err != nil {
		return nil, err
	}
	users, settings := filepath.Join(p.home, "pgbouncer.users"), filepath.Join(p.home, "pgbouncer.ini")
	var known strings.Builder
	fmt.Fprintf(&known, "%q %q\n", postgresUser, p.password)
	for role, password := range roles {
		fmt.Fprintf(&known, "%q %q\n", role, password)
	}
	for path, text := range map[string]string{users: known.String(), settings: fmt.Sprintf(poolerSettings, p.port, b.port, users)} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), p.account.own(path)); err != nil {
			return nil, err
		}
	}
	logFile := filepath.Join(p.home, "pgbouncer.log")
	b.process, err = process.Start(process.Command{
		Name: "PgBouncer", Path: program, Args: []string{settings}, Env: postgresEnv(), Dir: "/", Log: logFile,
		Credential: p.account.credential(), Orphan: syscall.SIGTERM,
	})
	if err != nil {
		return nil, err
	}
	for {
		conn, err := pgx.Connect(ctx, b.throughPooler(p.URL()))
		if err == nil {
			return b, conn.Close(ctx)
		}
		if b.process.Ended() || !pause(ctx, 50*time.Millisecond) {
			b.Stop(context.WithoutCancel(ctx))
			return nil, fmt.Errorf("PgBouncer did not start: %w\nIts log (%s) ends with:\n%s", err, logFile, process.LogTail(logFile, 0))
		}
	}
}

// Port is its port on 127.0.0.1.
func (b *Pooler) Port() int { return b.port }

// throughPooler is the connection string that leads through the pooler to the same database.
func (b *Pooler) throughPooler(database string) string {
	u, err := url.Parse(database)
	if err != nil {
		return database
	}
	u.Host = net.JoinHostPort(loopback, strconv.Itoa(b.port))
	return u.String()
}

// Stop ends it; its clients lose their connections.
func (b *Pooler) Stop(ctx context.Context) {
	_ = b.process.Stop(ctx, process.Step{Signal: syscall.SIGTERM, Grace: 5 * time.Second})
}

// FindPooler is PgBouncer's program, "" when it is not installed.
func FindPooler() string {
	for dir := range strings.SplitSeq(os.Getenv("PATH")+":/usr/sbin", ":") {
		if path := filepath.Join(dir, "pgbouncer"); isProgram(path) {
			return path
		}
	}
	return ""
}
