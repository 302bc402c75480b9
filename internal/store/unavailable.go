package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// IsUnavailable reports whether err, of any method of the store, says that the database could not be reached, or went
// away before it had answered. Then the outcome is unknown, and the same request may succeed in a moment: SERVICE_UNAVAILABLE
// to a client (contract §1), another try for an activity. That is why it is no models.Error, which would be final there.
func IsUnavailable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return isAway(e.Code)
	}

	if _, ok := errors.AsType[net.Error](err); ok || pgconn.SafeToRetry(err) {
		return true
	}

	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}

	for _, broken := range []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, broken) {
			return true
		}
	}

	return false
}

// isAway tells the SQLSTATEs of a server that cannot serve now: broken connections (class 08), no room for another one
// (class 53), and shutting down, crashed or starting up (57P).
func isAway(state string) bool {
	return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "53") || strings.HasPrefix(state, "57P")
}
