package store_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
)

// TestServerEndsWhatIsLeftBehind: a statement that takes too long, and a transaction in which nothing happens, are ended by the
// server; an export goes on for as long as its reader takes, and leaves the connection as it was.
func TestServerEndsWhatIsLeftBehind(t *testing.T) {
	t.Parallel()

	url := storetest.Database(t)
	storetest.OpenAt(t, url, store.DefaultPolicies())

	s, err := store.Open(t.Context(), url, store.DefaultPolicies(), store.Options{
		MaxConns: 1, StatementTimeout: 300 * time.Millisecond, IdleInTxTimeout: 200 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	limits := func() string {
		return s.Setting(t, "statement_timeout") + " " + s.Setting(t, "idle_in_transaction_session_timeout")
	}
	require.Equal(t, "300ms 200ms", limits())

	_, err = s.ExportCSV(t.Context(), store.RecordFilter{}, "", io.Discard)
	require.NoError(t, err)
	require.Equal(t, "300ms 200ms", limits())
	require.ErrorContains(t, s.Sleep(t, time.Second), "statement timeout")
}
