//go:build drill

package restore

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/rig"
	"rihla/internal/auth"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/seed"
	"rihla/internal/testkit"
	"rihla/models"
)

const (
	serviceRole = "rihla_service"
	database    = "rihla"
	password    = "rihla-restore-password"
	// hold is how long a booking waits for its payment: longer than each outage here.
	hold = 40 * time.Second
)

// world is the service as it is deployed, on a PostgreSQL that the drill breaks.
type world struct {
	testing.TB

	base     string // of the clusters
	primary  *postgres
	address  *address
	temporal *devstack.Temporal
	// temporalDir has the file of Temporal's database.
	temporalDir string
	service     *rig.Service
	api         string
}

// start makes the cluster, with settings of the drill's, and starts the service on it.
func start(t *testing.T, settings map[string]string) *world {
	t.Helper()
	testkit.SkipShort(t)

	w := &world{TB: t, address: newAddress(t)}

	base, account := home(t)
	w.base, w.primary = base, newCluster(t, base, account)
	w.primary.set(settings)
	w.primary.start()
	w.primary.exec("postgres", "CREATE DATABASE "+database)
	w.prepare()
	w.lead(w.primary)
	w.startTemporal()
	w.startService()

	return w
}

// prepare migrates, makes the users and resources of a development database, and a role that owns nothing.
func (w *world) prepare() {
	w.Helper()

	s, err := store.Open(w.Context(), w.primary.url(owner, database), models.DefaultPolicies(), db.Options{MaxConns: 2})
	require.NoError(w, err)
	defer s.Close()

	_, err = s.DB.Migrate(w.Context())
	require.NoError(w, err)

	passwords, err := auth.NewPasswords(1)
	require.NoError(w, err)
	hash, err := passwords.Hash(w.Context(), password)
	require.NoError(w, err)
	require.NoError(w, seed.Of(s).SeedDev(w.Context(), hash, time.Now()))
	require.NoError(w, s.DB.MakeRole(w.Context(), serviceRole, serviceRole))
	require.NoError(w, s.DB.GrantTo(w.Context(), serviceRole))
}

// lead has the service's address lead to a server.
func (w *world) lead(p *postgres) { w.address.lead(fmt.Sprintf("127.0.0.1:%d", p.port)) }

func (w *world) startTemporal() {
	w.Helper()

	bin, err := rig.BinDir()
	require.NoError(w, err)

	w.temporalDir = w.TempDir()
	w.temporal, err = devstack.StartTemporal(w.Context(), devstack.TemporalOptions{DataDir: w.temporalDir, BinDir: bin, Headless: true})
	require.NoError(w, err)
	w.Cleanup(func() {
		w.temporal.Kill()
	})
}

func (w *world) startService() {
	w.Helper()

	binary, err := rig.Build(w.Context(), "rihla-restore")
	require.NoError(w, err)

	w.api, err = rig.FreeAddress(w.Context())
	require.NoError(w, err)

	env := rig.Unlimited()
	maps.Copy(env, map[string]string{
		"BOOKING_HOLD": hold.String(), "BILL_PAYMENT_HOLD": hold.String(), "SWEEP_INTERVAL": "2s", "DB_MAX_CONNS": "10",
		"LATE_PAYMENT_CHECKS": "5s", "REFUND_SETTLE_AFTER": "6s", "REFUND_APPROVAL_ABOVE": "1000.00",
	})

	w.service, err = rig.New(w.Context(), rig.Options{
		Binary: binary, Dir: w.TempDir(), TemporalAddress: w.temporal.Address(), APIs: []string{w.api}, Workers: 1, GatewayLog: io.Discard, Env: env,
		DatabaseURL: fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", serviceRole, w.address.listener.Addr(), database),
	})
	require.NoError(w, err)

	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()

		w.keepLogs()
		_ = w.service.Close(ctx)
	})
	require.NoError(w, w.service.Start(w.Context()))
	eventually(w, 30*time.Second, "the API is ready", func() bool { return rig.Answers(w.Context(), "http://"+w.api+"/readyz") })
}

// keepLogs leaves the logs of a drill that failed beside its clusters.
func (w *world) keepLogs() {
	if !w.Failed() {
		return
	}

	_ = os.CopyFS(filepath.Join(w.base, "logs"), os.DirFS(w.service.LogDir()))
	w.Logf("clusters and logs: %s", w.base)
}

// stopService ends API and worker, as before a restore.
func (w *world) stopService() {
	for _, p := range append(w.service.APIs, w.service.Workers...) {
		p.Kill()
	}
}

// resumeService starts them again.
func (w *world) resumeService() {
	w.Helper()
	require.NoError(w, w.service.Start(w.Context()))
}

// loseTemporal kills the server and takes all that it kept.
func (w *world) loseTemporal() {
	w.Helper()
	w.temporal.Kill()

	for _, file := range w.histories() {
		require.NoError(w, os.Remove(file))
	}

	require.NoError(w, w.temporal.Start(w.Context()))
}

// histories are the files of Temporal's database.
func (w *world) histories() []string {
	w.Helper()

	files, err := filepath.Glob(filepath.Join(w.temporalDir, "temporal", "temporal.db*"))
	require.NoError(w, err)
	require.NotEmpty(w, files)

	return files
}

// command runs a command of the service on the present primary.
func (w *world) command(args ...string) (string, error) {
	return w.service.Command(w.Context(), nil, "", args...)
}

// open is the present database, as its owner.
func (w *world) open(p *postgres) *sql.DB {
	w.Helper()

	d, err := sql.Open("pgx", p.url(owner, database))
	require.NoError(w, err)
	w.Cleanup(func() { _ = d.Close() })

	return d
}

// eventually waits for something that has to become true.
func eventually(tb testing.TB, within time.Duration, what string, is func() bool) {
	tb.Helper()
	require.Eventually(tb, is, within, 50*time.Millisecond, what)
}
