package failure_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestTablesChangeUnderLoad adds a column to each table and drops it again, over and over, while customers book, pay, poll and get their
// money back: what a newer version's migrations do to the processes of this one while it is rolled out. No request answers 5xx, and no
// activity fails, of all statements that are prepared on any connection.
func TestTablesChangeUnderLoad(t *testing.T) {
	const (
		customers, refunded, fewestRounds = 16, 4, 1
		between                           = 20 * time.Millisecond // changes: each waits for the transactions on its table, and others for it
	)

	s := harness.Start(t, harness.Options{Private: true, Env: inLife()})
	finance := s.As(models.RoleFinanceAdmin)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	// What payments have prepared before, so that there are plans to spoil.
	for range 4 {
		s.As(models.RoleEndUser).BookPaid(1)
	}

	var (
		tables = tablesOf(t, s)
		rounds = make(chan int, 1)
		over   = make(chan struct{})
	)

	go func() {
		n := 0
		defer func() { rounds <- n }()

		for ; ; n++ {
			for _, table := range tables {
				select {
				case <-over:
					return
				default:
				}

				for _, change := range []string{"ADD COLUMN of_later text NOT NULL DEFAULT ''", "DROP COLUMN of_later"} {
					if _, err := s.DB.ExecContext(t.Context(), "ALTER TABLE "+table+" "+change); err != nil {
						t.Errorf("%s %s: %v", table, change, err)

						return
					}

					<-time.After(between)
				}
			}
		}
	}()

	l := newLoad(t, s, customers)
	l.come(ctx, customers, 2*time.Second)
	l.finish(t, customers)
	awaitBooks(t, s)

	for i := range refunded {
		paid := s.As(models.RoleEndUser).BookPaid(1 + i%2)
		a := finance.Post("/api/v1/admin/bookings/"+paid.ID.String()+"/refund",
			map[string]any{"refund_type": models.RefundFull, "reason": "Trip cancelled"})
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	}

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE status = 'SUCCEEDED'") == refunded
	}, patience, 50*time.Millisecond)

	close(over)
	require.GreaterOrEqual(t, <-rounds, fewestRounds, "each table was changed under load")
	require.Zero(t, l.retries.Load(), "no request had to be sent again")

	for name, log := range s.Logs() {
		for line := range strings.Lines(log) {
			require.NotContains(t, line, "cached plan", name)
			require.False(t, name == "worker" && strings.Contains(line, "Activity error"), line)
		}
	}
}

// tablesOf are all tables of the service; partitions follow theirs.
func tablesOf(t *testing.T, s *harness.Stack) (names []string) {
	t.Helper()

	rows, err := s.DB.QueryContext(t.Context(), `SELECT quote_ident(relname) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT LIKE 'bun%' ORDER BY 1`)
	require.NoError(t, err)

	defer rows.Close()

	for rows.Next() {
		var name string

		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}

	require.NoError(t, rows.Err())
	require.Greater(t, len(names), 20)

	return names
}
