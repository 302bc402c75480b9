//go:build drill

package restore

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/worker/reconcile"
)

// TestPostgreSQLToAMoment: the disk is lost, and pgBackRest restores the books to a moment before. Temporal begins empty.
func TestPostgreSQLToAMoment(t *testing.T) {
	b := newBackups(t)
	w := b.start(t)
	b.backup(w)

	l := w.startLoad()
	moment := b.moment(w)
	l.waitPaid(moment, 8)
	b.awaitArchived(w)

	archived := w.archivedBefore()
	killed := time.Now()
	w.primary.program.Kill()
	w.stopService()
	w.primary.lose()

	b.restore(w, moment)
	w.loseTemporal()

	dry := w.reconcile(moment, "--dry-run")
	require.Zero(t, dry.Changes(), "a dry run changes nothing")

	first := w.reconcile(moment)
	require.Equal(t, found(dry, reconcile.UnknownMoney), found(first, reconcile.UnknownMoney))
	require.Positive(t, found(first, reconcile.UnknownMoney), "money that was paid after the moment is found")

	w.resumeService()
	rto := l.backAfter(killed)
	l.end()
	w.proveRest(w.primary, moment)
	w.measured("PostgreSQL by pgBackRest to a moment", fmt.Sprintf("RPO: the moment; archived until %.1f s before the kill", archived.Seconds()),
		fmt.Sprintf("RTO %.1f s", rto.Seconds()), fmt.Sprintf("money found without an attempt: %d", found(first, reconcile.UnknownMoney)),
		fmt.Sprintf("settled from the gateway's answer: %d", found(first, reconcile.PaidThere)))
}

// TestStandbyAsynchronous: the primary is killed, and its standby may lack the last commits.
func TestStandbyAsynchronous(t *testing.T) { failOver(t, false) }

// TestStandbySynchronous: the primary is killed, and its standby has every commit that was confirmed.
func TestStandbySynchronous(t *testing.T) { failOver(t, true) }

func failOver(t *testing.T, synchronous bool) {
	t.Helper()

	w, link := start(t, nil), newAddress(t)
	link.lead(fmt.Sprintf("127.0.0.1:%d", w.primary.port))

	standby := w.primary.standby(link, synchronous)
	l := w.startLoad()

	if !synchronous { // it is behind, as one is after a burst or over a slow line: what is confirmed meanwhile is lost
		behind := time.Now()

		link.lead("127.0.0.1:1")
		l.waitPaid(behind, 4)
	}

	killed := time.Now()
	w.primary.program.Kill()
	w.address.lead("127.0.0.1:1") // fenced: nothing reaches the old primary any more, whatever becomes of it
	standby.promote()
	w.lead(standby)

	rto := l.backAfter(killed)
	lost, window := l.lost(standby, killed)

	since := killed.Add(-time.Minute)
	first := w.reconcile(since)

	if synchronous {
		require.Zero(t, lost, "no confirmed booking is lost")
		require.Zero(t, found(first, reconcile.UnknownMoney))
	} else {
		require.Positive(t, lost)
		require.Positive(t, found(first, reconcile.UnknownMoney), "money of what was lost is found")
	}

	l.waitPaid(killed, 8)
	l.end()
	w.proveRest(standby, since)

	name := "standby promoted, asynchronous"
	if synchronous {
		name = "standby promoted, synchronous"
	}

	w.measured(name, fmt.Sprintf("RPO %.3f s, %d confirmed bookings lost", window.Seconds(), lost), fmt.Sprintf("RTO %.1f s", rto.Seconds()),
		fmt.Sprintf("money found without an attempt: %d", found(first, reconcile.UnknownMoney)))
}

// TestTemporalLostWhole: an empty Temporal under a service that runs on.
func TestTemporalLostWhole(t *testing.T) {
	w := start(t, nil)
	l := w.startLoad()
	open := w.openEverything(l)

	killed := time.Now()
	w.loseTemporal()
	rto := l.backAfter(killed)

	first := w.reconcile(killed)
	open.provePresent(first)
	l.waitPaid(killed, 8)
	l.end()
	open.goOn()
	w.proveRest(w.primary, killed)
	w.measured("Temporal lost whole", "RPO 0: the books have everything", fmt.Sprintf("RTO %.1f s", rto.Seconds()),
		fmt.Sprintf("workflows started by reconcile: %v", first.Started))
}

// TestBooksAndTemporalOfDifferentMoments: first Temporal is older than the books, then the books are older than Temporal.
func TestBooksAndTemporalOfDifferentMoments(t *testing.T) {
	b := newBackups(t)
	w := b.start(t)
	b.backup(w)

	l := w.startLoad()

	kept := w.keepTemporal()
	early := time.Now()
	l.waitPaid(early, 8)
	w.restoreTemporal(kept)

	newer := w.reconcile(early)
	rtoNewer := l.backAfter(time.Now())

	again := l.declined()
	moment := b.moment(w)
	l.intent(again) // its second attempt is in Temporal, and will not be in the books

	opened := time.Now()

	l.waitPaid(moment, 8)
	b.awaitArchived(w)

	killed := time.Now()
	w.primary.program.Kill()
	w.stopService()
	w.primary.lose()
	b.restore(w, moment)

	eventually(t, 2*reconcile.JustStarted, "the attempt is older than one that may have no row yet", func() bool {
		return time.Since(opened) > reconcile.JustStarted+time.Second
	})

	first := w.reconcile(moment)
	require.Positive(t, found(first, reconcile.UnknownMoney), "money that was paid after the moment is found")
	require.Positive(t, first.Ended, "workflows of attempts that the books do not have are ended")

	w.resumeService()
	l.payAgain(again)

	rto := l.backAfter(killed)
	l.end()
	w.proveRest(w.primary, early)
	w.measured("books newer than Temporal", "RPO 0", fmt.Sprintf("RTO %.1f s after the restart", rtoNewer.Seconds()),
		fmt.Sprintf("workflows started by reconcile: %v", newer.Started))
	w.measured("books older than Temporal", "RPO: the moment", fmt.Sprintf("RTO %.1f s", rto.Seconds()),
		fmt.Sprintf("money found without an attempt: %d; workflows ended: %d", found(first, reconcile.UnknownMoney), first.Ended))
}

// waitPaid waits until so many bookings made since a moment are paid.
func (l *load) waitPaid(since time.Time, n int) {
	l.w.Helper()

	defer func() {
		if l.w.Failed() {
			l.mu.Lock()
			defer l.mu.Unlock()

			l.w.Logf("%d booked, %d paid, %d requests without success, the last: %v", len(l.booked), len(l.paid), l.refused, l.last)
		}
	}()

	eventually(l.w, 90*time.Second, "payments go on", func() bool { return l.paidSince(since) >= n })
}

// keepTemporal copies Temporal's database at a moment, with the server stopped, and starts it again.
func (w *world) keepTemporal() string {
	w.Helper()
	w.temporal.Kill()

	dir := w.TempDir()
	for _, file := range w.histories() {
		raw, err := os.ReadFile(file)
		require.NoError(w, err)
		require.NoError(w, os.WriteFile(filepath.Join(dir, filepath.Base(file)), raw, 0o600))
	}

	require.NoError(w, w.temporal.Start(w.Context()))

	return dir
}

// restoreTemporal puts a copy back.
func (w *world) restoreTemporal(kept string) {
	w.Helper()
	w.temporal.Kill()

	for _, file := range w.histories() {
		require.NoError(w, os.Remove(file))
	}

	require.NoError(w, os.CopyFS(filepath.Join(w.temporalDir, "temporal"), os.DirFS(kept)))
	require.NoError(w, w.temporal.Start(w.Context()))
}

// archivedBefore is how long ago the last segment was archived.
func (w *world) archivedBefore() time.Duration {
	w.Helper()

	seconds, err := strconv.ParseFloat(w.primary.value("postgres",
		"SELECT extract(epoch FROM clock_timestamp() - last_archived_time)::text FROM pg_stat_archiver"), 64)
	require.NoError(w, err)

	return time.Duration(seconds * float64(time.Second))
}
