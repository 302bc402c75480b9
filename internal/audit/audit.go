// Package audit recomputes the books from what proves them, transfers, transactions, refunds and webhook events, and
// reports every difference (rules: audit.books). It is a second code path on purpose: it has its own SQL and shares no code
// and no rule with models and internal/store, so that a mistake there is not repeated here. It only reads.
package audit

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rule is one thing that always holds.
type Rule struct {
	Name string // what a difference is reported under
	Says string // the rule as a sentence
}

// Difference is one place where a rule does not hold.
type Difference struct {
	Rule    string
	Subject string // what the id is of: payment, record, refund, booking, …
	ID      string
	What    string // the two numbers or states that should agree
}

// String is the difference as one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s %s: %s", d.Rule, d.Subject, d.ID, d.What)
}

// Result says how often a rule did not hold.
type Result struct {
	Rule

	Differences int
}

// Summary is the outcome of one audit, rule by rule.
type Summary struct {
	Rules       []Result // that were looked at; those that could not be, with what was found before they failed
	Differences int
	Unseen      []*UnseenError // rules that could not be checked to the end; the others were
	Took        time.Duration

	Since    time.Time // of RunSince: the moment of the last snapshot
	Payments int       // of RunSince: how many payments were looked at
	Left     []Rule    // by RunSince to a full audit

	LogSeal LogSeal // the newest seal of the audit log; the zero value when there is none
}

// UnseenError says that rules could not be looked at, or not to the end.
type UnseenError struct {
	Rules []Rule
	Err   error // what the database said
}

// Names are the names of the rules, separated by commas.
func (e *UnseenError) Names() string {
	names := make([]string, len(e.Rules))
	for i, r := range e.Rules {
		names[i] = r.Name
	}

	return strings.Join(names, ", ")
}

// Error names the rules, and says why.
func (e *UnseenError) Error() string {
	return fmt.Sprintf("the audit could not look at %s: %v", e.Names(), e.Err)
}

// Unwrap is what the database said.
func (e *UnseenError) Unwrap() error { return e.Err }

// check is one query that looks at one or several rules. Its columns are those of Difference, ordered by rule.
type check struct {
	rules []Rule
	sql   string
	args  []any
	// needs is a table, or `table.column`, that the query reads and that an older schema does not have; without it the check is left out.
	needs string
	// reach is which part of the books has to be read for it.
	reach reach
	// inParts is set where nothing but a payment's own rows decides, and where all payments at once take more room than there may be.
	inParts bool
	// look is in place of the query where SQL alone cannot tell. It looks at what has happened since a moment, the zero one for all.
	look  func(ctx context.Context, tx *sql.Tx, since time.Time, found func(Difference) error) error
	since time.Time
	// partOf is how many payments a check in parts takes at a time; 0: all.
	partOf int
}

// reach is which part of the books a check reads.
type reach int

const (
	byPayment  reach = iota // each payment by itself, with all that belongs to it
	everything              // sums over all payments
	besides                 // something else than payments, little of it
)

// checks are all of them, in the order in which they are reported.
func checks() []check {
	return slices.Concat(
		recordChecks(), balanceChecks(), refundChecks(), paymentChecks(), lostMoneyChecks(), subjectChecks(), bookingChecks(),
		traceChecks(), archiveChecks(), guardChecks(), rollupChecks(), snapshotChecks(), logChecks(),
	)
}

// Rules are all rules, in the order in which they are reported.
func Rules() []Rule {
	var all []Rule

	for _, c := range checks() {
		all = append(all, c.rules...)
	}

	return all
}

// settings keep one audit of a large ledger quick and off the service's back: hash joins may use memory and spill to
// disk beyond it, and compiling queries never pays here. Days are compared with those in JSON.
const settings = `SET LOCAL work_mem = '128MB'; SET LOCAL jit = off; SET LOCAL statement_timeout = 0; SET LOCAL datestyle = 'ISO, YMD'`

// Run looks at every rule in one snapshot of the database, so that it may run beside live traffic, and hands each
// difference to found, grouped by rule (in a large ledger, by rule for each million of payments). Differences are streamed: memory does
// not grow with the ledger. A rule that cannot be looked at does not keep the others from it: it is in the summary's Unseen, and a caller
// that takes silence for agreement has to look there. An error ends the run: of found, of ctx, or of a connection that is lost; the summary
// has what was found until then.
func Run(ctx context.Context, db *sql.DB, found func(Difference) error) (Summary, error) {
	began := time.Now()

	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return Summary{}, fmt.Errorf("begin audit: %w", err)
	}
	defer func() { _ = tx.Rollback() }()

	out, err := inspect(ctx, tx, paymentsInAPart, found)
	out.Took = time.Since(began)

	return out, err
}

func inspect(ctx context.Context, tx *sql.Tx, inAPart int, found func(Difference) error) (Summary, error) {
	var out Summary

	if _, err := tx.ExecContext(ctx, settings); err != nil {
		return out, fmt.Errorf("prepare audit: %w", err)
	}

	newest, err := newestLogSeal(ctx, tx)
	if err != nil {
		return out, fmt.Errorf("read the newest seal of the audit log: %w", err)
	}

	out.LogSeal = newest

	all := checks()

	for i := range all {
		if all[i].inParts {
			all[i].partOf = inAPart
		}
	}

	return out, inspectAll(ctx, tx, all, &out, found)
}

func inspectAll(ctx context.Context, tx *sql.Tx, all []check, out *Summary, found func(Difference) error) error {
	for _, c := range all {
		if err := c.guarded(ctx, tx, out, found); err != nil {
			return fmt.Errorf("audit %s: %w", c.rules[0].Name, err)
		}
	}

	return nil
}

// guarded runs the check behind a savepoint, so that its failure leaves the snapshot to those that follow. It returns
// what ends the audit.
func (c check) guarded(ctx context.Context, tx *sql.Tx, out *Summary, found func(Difference) error) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT rule"); err != nil {
		return err
	}

	var enough error

	err := c.run(ctx, tx, out, func(d Difference) error {
		enough = found(d)

		return enough
	})

	switch {
	case enough != nil, ctx.Err() != nil:
		return err
	case err == nil:
		_, err = tx.ExecContext(ctx, "RELEASE SAVEPOINT rule")

		return err
	}

	if _, lost := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT rule"); lost != nil {
		return err
	}

	out.Unseen = append(out.Unseen, &UnseenError{Rules: c.rules, Err: err})

	return nil
}

func (c check) run(ctx context.Context, tx *sql.Tx, out *Summary, found func(Difference) error) error {
	count, there := map[string]int{}, true

	defer func() {
		for _, r := range c.rules {
			if there {
				out.Rules = append(out.Rules, Result{Rule: r, Differences: count[r.Name]})
			}
		}
	}()

	if c.needs != "" {
		table, column, _ := strings.Cut(c.needs, ".")

		err := tx.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL AND ($2 = '' OR EXISTS (
			SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped))`, table, column).Scan(&there)
		if err != nil || !there {
			return err
		}
	}

	note := func(d Difference) error {
		count[d.Rule]++
		out.Differences++

		return found(d)
	}

	if c.look != nil {
		return c.look(ctx, tx, c.since, note)
	}

	ranges, err := parts(ctx, tx, c.partOf)
	if err != nil {
		return fmt.Errorf("divide the payments: %w", err)
	}

	for _, p := range ranges {
		if err := c.query(ctx, tx, p, note); err != nil {
			return err
		}
	}

	return nil
}

func (c check) query(ctx context.Context, tx *sql.Tx, p paymentRange, found func(Difference) error) error {
	rows, err := tx.QueryContext(ctx, p.scoped(c.sql), c.args...)
	if err != nil {
		return err
	}

	return eachDifference(rows, found)
}

// eachDifference hands on what a query has found, whose columns are those of Difference.
func eachDifference(rows *sql.Rows, found func(Difference) error) error {
	defer rows.Close()

	for rows.Next() {
		var d Difference
		if err := rows.Scan(&d.Rule, &d.Subject, &d.ID, &d.What); err != nil {
			return err
		}

		if err := found(d); err != nil {
			return err
		}
	}

	return rows.Err()
}
