package db

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// IsUnavailable reports whether err, of any method of the store, says that the database could not be reached, went away before it
// had answered, or has not been migrated yet. Then the outcome is unknown, and the same request may succeed in a moment:
// SERVICE_UNAVAILABLE to a client (rules: api.errors), another try for an activity. That is why it is no models.Error, which would be
// final there.
func IsUnavailable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return isAway(e.Code) || LacksSchema(err)
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
	const idleInTransaction = "25P03" // its connection is gone

	return state == idleInTransaction || strings.HasPrefix(state, "08") || strings.HasPrefix(state, "53") || strings.HasPrefix(state, "57P")
}

// LacksSchema reports whether err says that the database has not got a table, column or function that this version needs: its
// migrations have not been applied yet. Ready says which.
func LacksSchema(err error) bool {
	const table, column, function = "42P01", "42703", "42883"

	e, ok := errors.AsType[*pgconn.PgError](err)

	return ok && slices.Contains([]string{table, column, function}, e.Code)
}
