package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"
)

// Writes collects the writes of a unit of work, and Flush sends them as one statement (WITH … UPDATE, INSERT …): one round trip instead
// of one for each. A statement changes a row once only, and its parts do not see each other's changes: what is changed a second time, or
// read after the change, needs a Flush in between. The zero value is ready for use.
type Writes struct {
	sql []byte // the parts so far
	all []write
	err error
}

type write struct {
	what    string // in words, for errors
	guarded bool   // it must change one row
	count   *int   // where the rows that it has written are added; may be nil
}

// Update adds a guarded UPDATE of one row: Flush fails when the row is in another state. The text is made now, from the model as it is.
func (w *Writes) Update(what string, q *bun.UpdateQuery) {
	w.add(q.Returning("1"), write{what: what, guarded: true})
}

// Insert adds an INSERT. Flush adds to count, unless it is nil, how many rows were really inserted.
func (w *Writes) Insert(what string, q *bun.InsertQuery, count *int) {
	w.add(q.Returning("1"), write{what: what, count: count})
}

func (w *Writes) add(q interface {
	schema.QueryAppender
	DB() *bun.DB
}, one write,
) {
	if w.err != nil {
		return
	}

	if len(w.all) == 0 {
		w.sql = append(w.sql, "WITH "...)
	} else {
		w.sql = append(w.sql, ", "...)
	}

	w.sql = append(append(w.sql, name(len(w.all))...), " AS ("...)

	if w.sql, w.err = q.AppendQuery(q.DB().QueryGen(), w.sql); w.err != nil {
		w.err = fmt.Errorf("%s: %w", one.what, w.err)

		return
	}

	w.sql = append(w.sql, ')')
	w.all = append(w.all, one)
}

// Flush sends what was added since the last time. Nothing to send is no error.
func (w *Writes) Flush(ctx context.Context, tx bun.Tx) error {
	if len(w.all) == 0 || w.err != nil {
		return w.err
	}

	text, all, what := w.sql, w.all, w.Collected()
	text = append(text, " SELECT ARRAY["...)

	for i := range all {
		if i > 0 {
			text = append(text, ", "...)
		}

		text = append(append(append(text, "(SELECT count(*) FROM "...), name(i)...), ')')
	}

	*w = Writes{}

	counts := make([]int, 0, len(all))
	if err := tx.NewRaw(string(append(text, ']'))).Scan(ctx, pgdialect.Array(&counts)); err != nil {
		return fmt.Errorf("write %s: %w", strings.Join(what, ", "), err)
	}

	for i, one := range all {
		if one.guarded && counts[i] != 1 {
			return unexpectedState(one.what)
		}

		if one.count != nil {
			*one.count += counts[i]
		}
	}

	return nil
}

// name is that of the part with the index.
func name(i int) string { return `"w` + strconv.Itoa(i) + `"` }

// Collected says what was added since the last Flush, in words and in order.
func (w *Writes) Collected() []string {
	all := make([]string, len(w.all))
	for i, one := range w.all {
		all[i] = one.what
	}

	return all
}
