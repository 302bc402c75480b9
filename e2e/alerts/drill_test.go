//go:build drill

package alerts_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
)

// drill is the running service, watched.
type drill struct {
	*harness.Stack

	monitor *monitor
	replica *harness.Stack // which has another Redis, and admits two payments at once
	redis   *miniredis.Miniredis
	stamp   string // of the backup

	mu    sync.Mutex
	rows  map[string]string    // of the table, by alert
	fired map[string]time.Time // when an alert that was awaited began to fire
}

// unprovoked are the alerts that this service cannot have, and why.
var unprovoked = map[string]string{
	"RihlaUnreadableWebhooks": "not provoked: the sandbox's webhooks have one version; e2e/companies_test.go has them of companies",
}

// patience is how long an alert may take to fire, or to end.
const patience = 180 * time.Second

// TestEveryAlertFiresAndEnds provokes each alert of docs/alerts.yml, whose windows are a sixtieth, and sees it fire and end. The table in
// docs/operations.md is what it prints.
func TestEveryAlertFiresAndEnds(t *testing.T) {
	rules, alerts := fastRules(t)
	d := startDrill(t, rules)

	d.provoke(t, "nothing: it always fires", nothing, nil, "RihlaWatchdog")

	for _, phases := range [][]func(*testing.T, *drill){
		{databaseKilled},
		{wrongAmount},
		{archiveFails, backupMissed, redisAway, forged, strangers, dearRefund, declines},
		{tablesLocked},
		{paymentsLocked},
		{gatewayHangs},
		{workerKilled},
		{apisKilled},
		{tooMany},
		{webhooksLost},
	} {
		t.Run("phase", func(t *testing.T) {
			for _, phase := range phases {
				t.Run("of", func(t *testing.T) {
					t.Parallel()
					phase(t, d)
				})
			}
		})
	}

	boardsHaveData(t, d.monitor)

	table := append(make([]string, 0, len(alerts)+2), "| Alert | Provoked by | Fired after | Ended after |", "|---|---|---|---|") //nolint:mnd // head

	for _, name := range slices.Sorted(slices.Values(alerts)) {
		row, ok := d.rows[name]
		if why, not := unprovoked[name]; not {
			row = fmt.Sprintf("| `%s` | %s | – | – |", name, why)
		} else if !ok {
			t.Errorf("%s did not fire and end", name)
		}

		table = append(table, row)
	}

	t.Logf("\n%s", strings.Join(table, "\n"))
}

func startDrill(t *testing.T, rules []byte) *drill {
	t.Helper()

	stamp := filepath.Join(t.TempDir(), "backup.stamp")
	require.NoError(t, os.WriteFile(stamp, nil, 0o600))

	shared, own := miniredis.RunT(t), miniredis.RunT(t)
	s := harness.Start(t, harness.Options{Private: true, Env: map[string]string{
		"BACKUP_STAMP_FILE": stamp, "REDIS_URL": "redis://" + shared.Addr(), "RATE_LIMIT_END_USER": "60000", "STRANGER_MAILS_PER_HOUR": "1",
		"WEBHOOK_SILENCE": "4s", "SWEEP_INTERVAL": "1s", "GATEWAY_A_TIMEOUT": "2s", "CHECKOUT_WAIT": "5s", "REFUND_WAIT": "5s",
	}})
	s.Tampered("rows are made older than they are, and seals of the audit log are deleted")

	d := &drill{Stack: s, redis: own, stamp: stamp, rows: map[string]string{}, fired: map[string]time.Time{}}
	d.replica = s.Replica(map[string]string{
		"REDIS_URL": "redis://" + own.Addr(), "ADMISSION_TARGET": "1s", "ADMISSION_MIN": "1", "ADMISSION_MAX": "1",
	})
	d.monitor = startPrometheus(t, rules, []string{host(t, s.URL), host(t, d.replica.URL)}, host(t, s.Metrics))

	return d
}

// view is the service for one phase, which has a trip of its own.
func (d *drill) view(t *testing.T) *harness.Stack {
	t.Helper()

	s := d.For(t)
	s.World.Trip = s.NewTrip(t.Name(), 100) //nolint:mnd // the most that a trip may have

	return s
}

func host(t *testing.T, address string) string {
	t.Helper()

	u, err := url.Parse(address)
	require.NoError(t, err)

	return u.Host
}

func nothing(context.Context) {}

// provoke has cause go on until all these alerts fire, ends it, has cure mend what stays, and waits until they have ended. Cause returns
// when its context is done. A cure of nil: the alerts do not end.
func (d *drill) provoke(t *testing.T, how string, cause func(context.Context), cure func(), names ...string) {
	t.Helper()

	began := time.Now()
	d.during(t, cause, func() { d.await(t, true, names) })
	healed := time.Now()

	if cure != nil {
		cure()
		d.await(t, false, names)
	}

	for _, name := range names {
		d.note(name, how, began, healed, cure != nil)
	}
}

// during runs what happens until wait is over.
func (d *drill) during(t *testing.T, what func(context.Context), wait func()) {
	t.Helper()

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})

	go func() { defer close(done); what(ctx) }()

	defer func() { stop(); <-done }()

	wait()
}

func (d *drill) await(t *testing.T, firing bool, names []string) {
	t.Helper()

	for _, name := range names {
		require.Eventually(t, func() bool {
			fires, since := d.monitor.fires(name)
			if fires {
				d.mu.Lock()
				d.fired[name] = since
				d.mu.Unlock()
			}

			return fires == firing
		}, patience, 100*time.Millisecond, "%s: firing=%t is awaited", name, firing)
	}
}

// note makes the alert's row: after how long it fired, and after how long it had ended.
func (d *drill) note(name, how string, began, healed time.Time, ends bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	fired, ended := "–", "never"
	if at, ok := d.fired[name]; ok {
		fired = fmt.Sprintf("%.0f s", max(0, at.Sub(began).Seconds()))
	}

	if _, at := d.monitor.fires(name); ends {
		ended = fmt.Sprintf("%.0f s", max(0, at.Sub(healed).Seconds()))
	}

	d.rows[name] = fmt.Sprintf("| `%s` | %s | %s | %s |", name, how, fired, ended)
}

// execute changes rows as only the owner of the database can, its triggers off.
func (d *drill) execute(t *testing.T, statements ...string) {
	t.Helper()

	tx, err := d.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	for _, statement := range append([]string{"SET LOCAL session_replication_role = replica"}, statements...) {
		_, err := tx.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}

	require.NoError(t, tx.Commit())
}
