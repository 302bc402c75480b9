package harness

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sealing are the tables that workers change when they seal the audit log.
var sealing = map[string]bool{"audit_unsealed": true, "audit_seals": true, "audit_seal_start": true}

// Digest is every table's number of rows and a digest of what is in them: two that are equal say that nothing was
// written in between.
func (s *Stack) Digest(tb testing.TB) map[string]string {
	tb.Helper()
	s.foldReports(tb)

	var tables []string

	rows, err := s.DB.QueryContext(tb.Context(), `
		SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`)
	require.NoError(tb, err)

	defer func() { _ = rows.Close() }()

	for rows.Next() {
		var name string

		require.NoError(tb, rows.Scan(&name))

		if name != "people_reads" { // how much was read
			tables = append(tables, name)
		}
	}

	require.NoError(tb, rows.Err())
	require.Contains(tb, tables, "bookings")

	out := map[string]string{}

	for _, name := range tables {
		var digest string

		row, which := "r", "true"
		if name == "audit_log" { // what was only read is written down, too, and is no change
			which = "action <> 'BOOKING_DOCUMENTS_READ'"
		}

		if name == "outbox_shards" || sealing[name] { // who delivers at the moment, and what follows from audit_log by itself
			which = "false"
		}

		switch name {
		case "incidents": // what the orchestrator has been told of one follows by itself, some seconds later
			row = "to_jsonb(r) - 'shown'"
		case "payment_transactions": // of one that a customer polls the gateway is asked, once in a while
			row = "to_jsonb(r) - 'asked_at' - 'check_at'"
		}

		require.NoError(tb, s.DB.QueryRowContext(tb.Context(), fmt.Sprintf(
			`SELECT count(*) || ' ' || coalesce(md5(string_agg((%[1]s)::text, '|' ORDER BY r::text)), '') FROM %[2]q AS r WHERE %[3]s`,
			row, name, which)).Scan(&digest))
		out[name] = digest
	}

	return out
}

// foldReports folds what ledger entries have appended to the sums of reports. The workers do it by themselves, some time later, and what
// they then move would look like a change.
func (s *Stack) foldReports(tb testing.TB) {
	tb.Helper()
	require.EventuallyWithT(tb, func(c *assert.CollectT) {
		_, err := s.Store.Ledger.FoldReports(tb.Context())
		require.NoError(c, err)

		var left bool

		require.NoError(c, s.DB.QueryRowContext(tb.Context(), `SELECT EXISTS (SELECT FROM report_deltas)`).Scan(&left))
		require.False(c, left)
	}, 30*time.Second, 20*time.Millisecond, "sums of reports are still to be folded")
}
