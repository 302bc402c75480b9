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
