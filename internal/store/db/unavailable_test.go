package db_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestIsUnavailable(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"nobody listens":         {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"the connection broke":   {io.ErrUnexpectedEOF, true},
		"the pool has none left": {driver.ErrBadConn, true},
		"too many connections":   {&pgconn.PgError{Code: "53300"}, true},
		"shutting down":          {&pgconn.PgError{Code: "57P01"}, true},
		"starting up":            {&pgconn.PgError{Code: "57P03"}, true},
		"idle for too long":      {&pgconn.PgError{Code: "25P03"}, true},
		"not migrated":           {&pgconn.PgError{Code: "42P01"}, true},
		"a broken rule":          {&pgconn.PgError{Code: "23514"}, false},
		"a cancelled statement":  {&pgconn.PgError{Code: "57014"}, false},
		"an answer of the store": {models.NotFound(), false},
		"a bug":                  {errors.New("unexpected"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, db.IsUnavailable(fmt.Errorf("read booking: %w", tt.err)))
		})
	}

	require.False(t, db.IsUnavailable(nil))
}

// TestWithoutMigrationsIsUnavailable: what a request meets on a database that is not migrated passes once it is.
func TestWithoutMigrationsIsUnavailable(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())

	for _, change := range []string{
		"ALTER TABLE users RENAME COLUMN locale TO elsewhere", "ALTER TABLE users RENAME TO elsewhere", "DROP SCHEMA public CASCADE",
	} {
		_, err := conn.ExecContext(t.Context(), change)
		require.NoError(t, err)

		_, err = s.Accounts.CreateUser(t.Context(), models.User{Name: "Somebody", Email: "a@rihla.test", PasswordHash: "hash", Role: models.RoleEndUser})
		require.True(t, db.LacksSchema(err), "%s: %v", change, err)
		require.True(t, db.IsUnavailable(err))
	}
}
