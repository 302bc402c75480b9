package devstack

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"rihla/internal/process"
)

// clusterMajor is the version that made the cluster, 0 when there is none.
func clusterMajor(cluster string) int {
	text, err := os.ReadFile(filepath.Join(cluster, "PG_VERSION")) //nolint:gosec // our own file
	if err != nil {
		return 0
	}
	major, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return major
}

// initCluster makes the cluster with a superuser and a random password. It works in a directory beside and renames it at the end,
// so that a cluster which is there is whole.
func (p *Postgres) initCluster(ctx context.Context) error {
	p.log.InfoContext(ctx, "creating the PostgreSQL cluster in "+p.cluster())
	draft := filepath.Join(p.home, "cluster.new")
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	if err := os.Mkdir(draft, 0o700); err != nil {
		return err
	}
	if err := p.account.own(draft); err != nil {
		return err
	}
	if err := os.WriteFile(p.passwordFile(), []byte(rand.Text()+"\n"), 0o600); err != nil {
		return err
	}
	if err := p.account.own(p.passwordFile()); err != nil {
		return err
	}

	// Upper and lower case and pg_trgm follow LC_CTYPE, and with plain C they know no Arabic. Not every system has every locale.
	var err error
	for _, ctype := range []string{"C.UTF-8", "en_US.UTF-8", "C.utf8"} {
		if err = p.initdb(ctx, draft, ctype); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(draft, p.cluster())
}

func (p *Postgres) initdb(ctx context.Context, dir, ctype string) error {
	auth := "scram-sha-256"
	if p.throwaway {
		auth = "md5" // SCRAM is slow on purpose: 4 ms at each connection, and tests open thousands
	}
	args := []string{
		"--pgdata=" + dir, "--username=" + postgresUser, "--pwfile=" + p.passwordFile(), "--encoding=UTF8",
		"--auth-host=" + auth, "--auth-local=" + auth, "--lc-collate=C", "--lc-ctype=" + ctype, "--lc-messages=C",
	}
	if p.throwaway {
		args = append(args, "--no-sync")
	}
	offset := process.LogSize(p.logFile())
	err := process.Run(ctx, process.Command{
		Name: "initdb", Path: p.binaries.path("initdb"), Args: args, Env: postgresEnv(), Dir: "/", Log: p.logFile(),
		Credential: p.account.credential(), Orphan: syscall.SIGKILL,
	})
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, process.LogTail(p.logFile(), offset))
	}
	return nil
}

// postgresEnv keeps a developer's own PGDATA, PGPORT, locale and the like away from the server.
func postgresEnv() []string {
	return process.Environ(func(name string) bool {
		return strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE"
	}, "LANG=C")
}
