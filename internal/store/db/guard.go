package db

import (
	"database/sql"
	"fmt"
)

// CompareBool orders what is so before what is not.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// Still is the condition on a row's state (bun.Ident, value) where the row is found by its key or by what it belongs to, as in a guarded
// UPDATE. It means what = means, and keeps PostgreSQL from finding the row by an index of the rows in that state. Such an index looks
// cheap where few rows are in it, and has an entry for every row that was in it since the oldest snapshot that is open
// (docs/decisions/0059).
const Still = "? IS NOT DISTINCT FROM ?"

// AffectedOne turns a guarded UPDATE that met another state than the lock had shown into an error.
func AffectedOne(res sql.Result, what string) error {
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}

	if n != 1 {
		return unexpectedState(what)
	}

	return nil
}

func unexpectedState(what string) error { return fmt.Errorf("%s was not in the expected state", what) }
