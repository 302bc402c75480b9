package store

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"rihla/models"
)

// walk is the order of a list, and where in it a page begins.
type walk struct {
	number int // of the page
	by     []Sort
	keys   []sortKey
	id     sortKey // breaks ties, always going up
	from   *cursor // nil when the page is counted from the beginning of the list
}

// sortKey is a column that a list is sorted by.
type sortKey struct {
	column string // with its table's alias
	desc   bool
	field  *schema.Field // of the list's model
}

// walkOf finds out what a page of a list of T is sorted by, and where it begins. Errors: VALIDATION_ERROR on sort, when
// a field is not on the whitelist, and on cursor, when no page of the list in this order has given it.
func walkOf[T any](db *bun.DB, o order, p Page) (walk, error) {
	w := walk{number: max(p.Number, 1), by: p.Sort}

	if p.Cursor != "" {
		c, err := parseCursor(p.Cursor)
		if err != nil {
			return w, err
		}

		if len(p.Sort) > 0 && sortText(p.Sort) != c.Sort {
			return w, models.Invalid("cursor", "continues a list that is not sorted by %s", sortText(p.Sort))
		}

		w.number, w.by, w.from = c.Page, ParseSort(c.Sort), &c
	}

	if len(w.by) == 0 {
		w.by = []Sort{o.fallback}
	}

	err := w.compile(o, db.Dialect().Tables().Get(reflect.TypeFor[T]()))

	// What the cursor says to sort by is the cursor's fault, not that of a parameter which may not be there.
	if w.from != nil && (models.CodeOf(err) == models.CodeValidation || err == nil && len(w.from.Values) != len(w.keys)) {
		return w, errCursor()
	}

	if err != nil {
		return w, err
	}

	return w, nil
}

// compile finds the columns, each once: what a column has left equal, it leaves equal the second time.
func (w *walk) compile(o order, model *schema.Table) (err error) {
	if w.id, err = keyOf(model, o.id, false); err != nil {
		return err
	}

	for _, s := range w.by {
		column, ok := o.columns[s.Field]
		if !ok {
			known := slices.Sorted(maps.Keys(o.columns))

			return models.Invalid("sort", "must be one of %s", strings.Join(known, ", "))
		}

		if slices.ContainsFunc(w.keys, func(k sortKey) bool { return k.column == column }) {
			continue
		}

		key, err := keyOf(model, column, s.Desc)
		if err != nil {
			return err
		}

		w.keys = append(w.keys, key)
	}

	return w.compileWithin(o, model)
}

// compileWithin adds what orders rows that the list's own order leaves equal, unless the caller has said it.
func (w *walk) compileWithin(o order, model *schema.Table) error {
	column, first := o.columns[o.within], w.keys[0]
	if o.within == "" || first.column != o.columns[o.fallback.Field] {
		return nil
	}

	if slices.ContainsFunc(w.keys, func(k sortKey) bool { return k.column == column }) {
		return nil
	}

	key, err := keyOf(model, column, first.desc)
	w.keys = append(w.keys, key)

	return err
}

func keyOf(model *schema.Table, column string, desc bool) (sortKey, error) {
	_, name, _ := strings.Cut(column, ".")

	field, err := model.Field(name)
	if err != nil {
		return sortKey{}, fmt.Errorf("sort by %s: %w", column, err)
	}

	return sortKey{column: column, desc: desc, field: field}, nil
}

// sorted adds ORDER BY.
func (w *walk) sorted(q *bun.SelectQuery) *bun.SelectQuery {
	for _, k := range w.keys {
		direction := "ASC"
		if k.desc {
			direction = "DESC"
		}

		q = q.OrderExpr("? ?", bun.Ident(k.column), bun.Safe(direction))
	}

	return q.OrderExpr("? ASC", bun.Ident(w.id.column))
}

// behind narrows a list to the rows that come after the cursor in the list's order: those that come later in the first
// column in which they differ from it, and of those that do not differ the ones with a greater id.
func (w *walk) behind(q *bun.SelectQuery) *bun.SelectQuery {
	values := w.from.Values

	if first := w.keys[0]; !first.field.IsPtr && values[0] != nil {
		// It follows from what is below, and is what an index can begin at.
		q = q.Where("? ? ?", bun.Ident(first.column), bun.Safe(first.operator()+"="), *values[0])
	}

	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for i := range len(w.keys) + 1 {
			q = q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery {
				for j, k := range w.keys[:i] {
					q = k.same(q, values[j])
				}

				if i == len(w.keys) {
					return q.Where("? > ?", bun.Ident(w.id.column), w.from.ID)
				}

				return w.keys[i].later(q, values[i])
			})
		}

		return q
	})
}

func (k sortKey) operator() string {
	if k.desc {
		return "<"
	}

	return ">"
}

// same narrows to the rows whose column is the value.
func (k sortKey) same(q *bun.SelectQuery, value *string) *bun.SelectQuery {
	if k.field.IsPtr {
		return q.Where("? IS NOT DISTINCT FROM ?", bun.Ident(k.column), value)
	}

	return q.Where("? = ?", bun.Ident(k.column), value)
}

// later narrows to the rows whose column comes after the value. NULL is last going up and first going down, as
// PostgreSQL has it.
func (k sortKey) later(q *bun.SelectQuery, value *string) *bun.SelectQuery {
	column := bun.Ident(k.column)

	switch {
	case value == nil && k.desc:
		return q.Where("? IS NOT NULL", column)
	case value == nil:
		return q.Where("FALSE")
	case k.field.IsPtr && !k.desc:
		return q.Where("(? > ? OR ? IS NULL)", column, *value, column)
	default:
		return q.Where("? ? ?", column, bun.Safe(k.operator()), *value)
	}
}

// next is the cursor behind a row, the last of this page.
func (w *walk) next(row reflect.Value) (string, error) {
	c := cursor{Page: w.number + 1, Sort: sortText(w.by), Values: make([]*string, len(w.keys))}

	for i, k := range w.keys {
		text, err := plainText(k.field.Value(row).Interface())
		if err != nil {
			return "", fmt.Errorf("cursor on %s: %w", k.column, err)
		}

		c.Values[i] = text
	}

	var ok bool
	if c.ID, ok = reflect.TypeAssert[uuid.UUID](w.id.field.Value(row)); !ok {
		return "", fmt.Errorf("cursor on %s: not a UUID", w.id.column)
	}

	return c.encode()
}

// unreadable turns the database's refusal of a cursor's value, `x` for a date, into that of the cursor.
func (w *walk) unreadable(err error) error {
	var pg *pgconn.PgError
	if w.from != nil && errors.As(err, &pg) && strings.HasPrefix(pg.Code, "22") { // data exception
		return errCursor()
	}

	return err
}

// ParseSort reads an order, `-departure_at,title`, as the API has it.
func ParseSort(text string) []Sort {
	var out []Sort

	for field := range strings.SplitSeq(text, ",") {
		name, desc := strings.CutPrefix(field, "-")
		if name != "" {
			out = append(out, Sort{Field: name, Desc: desc})
		}
	}

	return out
}

// sortText writes an order as the API has it.
func sortText(by []Sort) string {
	fields := make([]string, len(by))

	for i, s := range by {
		fields[i] = s.Field
		if s.Desc {
			fields[i] = "-" + s.Field
		}
	}

	return strings.Join(fields, ",")
}
