// Package audittest ends tests with an audit of what they leave behind.
package audittest

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"rihla/internal/audit"
)

// patience bounds one audit of a test's few rows, on a machine that is busy.
const patience = time.Minute

// shown is how many differences a test prints.
const shown = 20

// Ending is the audit at the end of one test, or of several that share a database.
type Ending struct {
	db     *sql.DB
	mu     sync.Mutex
	all    bool
	except []string
}

// After fails the test with every difference that the database shows once the test is over. Whatever still writes to the
// database has to be stopped by a cleanup that is registered later.
func After(tb testing.TB, db *sql.DB) *Ending {
	tb.Helper()

	e := &Ending{db: db}

	tb.Cleanup(func() {
		tb.Helper()
		e.Require(tb)
	})

	return e
}

// Tampered leaves rules out of the audit, all of them when none is named, because the test has put rows into states
// that the service cannot bring about: reason says which.
func (e *Ending) Tampered(tb testing.TB, reason string, rules ...string) {
	tb.Helper()

	if reason == "" {
		tb.Fatal("audittest: a test that tampers with the books says why")
	}

	e.mu.Lock()
	defer e.mu.Unlock()

	e.all = e.all || len(rules) == 0
	e.except = append(e.except, rules...)
}

// Require audits the database now, but for the rules that the test has tampered with.
func (e *Ending) Require(tb testing.TB) {
	tb.Helper()

	e.mu.Lock()
	defer e.mu.Unlock()

	if e.all {
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	count := 0

	_, err := audit.Run(ctx, e.db, func(d audit.Difference) error {
		if slices.Contains(e.except, d.Rule) {
			return nil
		}

		if count++; count <= shown {
			tb.Errorf("audit: %s", d)
		}

		return nil
	})
	if count > shown {
		tb.Errorf("audit: and %d more differences", count-shown)
	}

	if err != nil {
		tb.Errorf("audit: %v", err)
	}
}
