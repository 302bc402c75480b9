package db_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestServerEndsWhatIsLeftBehind: a statement that takes too long, and a transaction in which nothing happens, are ended by the
// server; an export goes on for as long as its reader takes, and leaves the connection as it was.
func TestServerEndsWhatIsLeftBehind(t *testing.T) {
	t.Parallel()

	url := storetest.Database(t)
	storetest.OpenAt(t, url, models.DefaultPolicies())

	s, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{
		MaxConns: 1, StatementTimeout: 300 * time.Millisecond, IdleInTxTimeout: 200 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	limits := func() string {
		return setting(t, s, "statement_timeout") + " " + setting(t, s, "idle_in_transaction_session_timeout")
	}
	require.Equal(t, "300ms 200ms", limits())

	_, err = s.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, "", io.Discard)
	require.NoError(t, err)
	require.Equal(t, "300ms 200ms", limits())

	_, err = s.DB.Raw.ExecContext(t.Context(), "SELECT pg_sleep(1)")
	require.ErrorContains(t, err, "statement timeout")
}

// setting is a setting of the server on a connection of the store.
func setting(t *testing.T, s *store.Store, name string) (value string) {
	t.Helper()
	require.NoError(t, s.DB.Raw.QueryRowContext(t.Context(), "SELECT current_setting($1)", name).Scan(&value))

	return value
}
