package store_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
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
		"a broken rule":          {&pgconn.PgError{Code: "23514"}, false},
		"a cancelled statement":  {&pgconn.PgError{Code: "57014"}, false},
		"an answer of the store": {models.NotFound(), false},
		"a bug":                  {errors.New("unexpected"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, store.IsUnavailable(fmt.Errorf("read booking: %w", tt.err)))
		})
	}

	require.False(t, store.IsUnavailable(nil))
}
