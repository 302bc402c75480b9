//go:build drill

package restore

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rihla/gateways/simulator/engine"
	"rihla/worker/reconcile"
)

// reconcile runs `rihla reconcile`, and returns its report.
func (w *world) reconcile(since time.Time, flags ...string) *reconcile.Report {
	w.Helper()

	out := filepath.Join(w.TempDir(), "report.json")
	args := append([]string{"reconcile", "--since", since.UTC().Format(time.RFC3339Nano), "--rate", "200", "--out", out}, flags...)

	text, err := w.command(args...)
	require.NoError(w, err, text)

	raw, err := os.ReadFile(out)
	require.NoError(w, err)

	var report reconcile.Report

	require.NoError(w, json.Unmarshal(raw, &report))
	w.Logf("rihla reconcile: %d findings, %d changes, workflows started %v, ended %d, %.1f s", len(report.Findings), report.Changes(),
		report.Started, report.Ended, report.Took.Seconds())

	return &report
}

// found counts the findings of a kind.
func found(r *reconcile.Report, kind reconcile.Kind) (n int) {
	for _, f := range r.Findings {
		if f.Kind == kind {
			n++
		}
	}

	return n
}

// openWork is what has not come to its end.
const openWork = `SELECT concat_ws(' ', 'payments', (SELECT count(*) FROM payment_transactions WHERE status = 'PENDING'),
	'refunds', (SELECT count(*) FROM refunds WHERE status = 'PENDING' AND channel = 'GATEWAY' AND NOT approval_pending),
	'events', (SELECT count(*) FROM webhook_events WHERE processed_at IS NULL AND transaction_id IS NOT NULL),
	'comparisons', (SELECT count(*) FROM payment_transactions WHERE recheck_at IS NOT NULL))`

// proveRest waits until nothing moves any more, and then holds that the books agree: a second reconciliation changes nothing, the audit
// finds no difference, and every amount that the gateway took or gave back has its place.
func (w *world) proveRest(p *postgres, since time.Time) {
	w.Helper()

	const rest = "payments 0 refunds 0 events 0 comparisons 0"

	var last string

	assert.Eventually(w, func() bool {
		said, err := p.read(database, openWork)
		if last = said; err != nil {
			last = err.Error()
		}

		return last == rest
	}, hold+time.Minute, 200*time.Millisecond, "comes to rest")
	require.Equal(w, rest, last)

	again := w.reconcile(since)
	require.Zero(w, again.Changes(), "a second run changes nothing: %+v %v", changed(again), again.Started)

	text, err := w.command("audit")
	require.NoError(w, err, text)

	w.proveMoney(p)
}

func changed(r *reconcile.Report) (all []reconcile.Finding) {
	for _, f := range r.Findings {
		if f.Changed {
			all = append(all, f)
		}
	}

	return all
}

// proveMoney finds a place in the books for every charge and refund of the gateway.
func (w *world) proveMoney(p *postgres) {
	w.Helper()

	ledger, err := w.service.Gateway.Ledger()
	require.NoError(w, err)

	d := w.open(p)

	for _, c := range ledger.Checkouts {
		if c.Status != engine.StatusPaid {
			continue
		}

		var taken, shown bool

		err := d.QueryRowContext(w.Context(), `SELECT
			EXISTS (SELECT FROM payment_transactions WHERE reference = $1 AND id = $2 AND num_nonnulls(captured_at, suspense_at) = 1),
			EXISTS (SELECT FROM incidents WHERE kind = 'UNKNOWN_REFERENCE' AND details::text LIKE '%' || $1 || '%')`,
			c.ID, c.MerchantReference).Scan(&taken, &shown)
		require.NoError(w, err)
		require.True(w, taken || shown, "the gateway took %s for checkout %s, and the books know nothing of it", c.Amount, c.ID)

		if !taken {
			continue
		}

		var back string

		err = d.QueryRowContext(w.Context(), `SELECT (coalesce(sum(rf.amount) FILTER (WHERE rf.status = 'SUCCEEDED' AND rf.channel = 'GATEWAY'), 0)
				+ coalesce((SELECT total FROM outside_refunds WHERE payment_transaction_id = pt.id ORDER BY n DESC LIMIT 1), 0))::numeric(12,2)::text
			FROM payment_transactions AS pt LEFT JOIN refunds AS rf ON rf.payment_transaction_id = pt.id WHERE pt.id = $1 GROUP BY pt.id`,
			c.MerchantReference).Scan(&back)
		require.NoError(w, err)
		require.Equal(w, c.RefundedAmount.String(), back, "what went back of checkout %s", c.ID)
	}
}

// measured is a line of the table in docs/restore.md.
func (w *world) measured(drill string, facts ...string) {
	w.Helper()
	w.Logf("MEASURED %s: %s", drill, strings.Join(facts, "; "))
}
