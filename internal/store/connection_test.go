package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Setting is a setting of the server on a connection of the store, for tests.
func (s *Store) Setting(tb testing.TB, name string) (value string) {
	tb.Helper()
	require.NoError(tb, s.raw.QueryRowContext(tb.Context(), "SELECT current_setting($1)", name).Scan(&value))

	return value
}

// Sleep keeps a connection of the store busy, for tests.
func (s *Store) Sleep(tb testing.TB, d time.Duration) error {
	tb.Helper()

	_, err := s.raw.ExecContext(tb.Context(), "SELECT pg_sleep($1)", d.Seconds())

	return err
}
