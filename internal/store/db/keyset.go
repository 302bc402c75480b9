package db

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"rihla/models"
)

// Keyset is the order of a list, and where in it a page begins.
type Keyset struct {
	number int // of the page
	By     []Sort
	Keys   []sortKey
	id     sortKey // breaks ties, always going up
	from   *cursor // nil when the page is counted from the beginning of the list
}

// sortKey is a column that a list is sorted by.
type sortKey struct {
	Column string // with its table's alias
	desc   bool
	field  *schema.Field // of the list's model
}

// NewKeyset finds out what a page of a list of T is sorted by, and where it begins. Errors: VALIDATION_ERROR on sort, when
// a field is not on the whitelist, and on cursor, when no page of the list in this order has given it.
func NewKeyset[T any](db *bun.DB, o Order, p Page) (Keyset, error) {
	w := Keyset{number: max(p.Number, 1), By: p.Sort}

	if p.Cursor != "" {
		c, err := parseCursor(p.Cursor)
		if err != nil {
			return w, err
		}

		if len(p.Sort) > 0 && !slices.Equal(p.Sort, c.Sort) {
			return w, models.Invalid("cursor", "list.cursor_of_other_sort", "sort", cursorSort(p.Sort).text())
		}

		w.number, w.By, w.from = c.Page, c.Sort, &c
	}

	if len(w.By) == 0 {
		w.By = []Sort{o.Fallback}
	}

	err := w.compile(o, db.Dialect().Tables().Get(reflect.TypeFor[T]()))

	// A wrong sort in a cursor is the cursor's fault: the parameter may be absent.
	if w.from != nil && (models.CodeOf(err) == models.CodeValidation || err == nil && len(w.from.Values) != len(w.Keys)) {
		return w, errCursor()
	}

	if err != nil {
		return w, err
	}

	return w, nil
}

// compile finds the columns, each once: what a column has left equal, it leaves equal the second time.
func (w *Keyset) compile(o Order, model *schema.Table) (err error) {
	if w.id, err = keyOf(model, o.ID, false); err != nil {
		return err
	}

	for _, s := range w.By {
		column, ok := o.Columns[s.Field]
		if !ok {
			known := slices.Sorted(maps.Keys(o.Columns))

			return models.Invalid("sort", "field.one_of", "values", known)
		}

		if slices.ContainsFunc(w.Keys, func(k sortKey) bool { return k.Column == column }) {
			continue
		}

		key, err := keyOf(model, column, s.Desc)
		if err != nil {
			return err
		}

		w.Keys = append(w.Keys, key)
	}

	return w.compileWithin(o, model)
}

// compileWithin adds what orders rows that the list's own order leaves equal, unless the caller has said it.
func (w *Keyset) compileWithin(o Order, model *schema.Table) error {
	column, first := o.Columns[o.Within], w.Keys[0]
	if o.Within == "" || first.Column != o.Columns[o.Fallback.Field] {
		return nil
	}

	if slices.ContainsFunc(w.Keys, func(k sortKey) bool { return k.Column == column }) {
		return nil
	}

	key, err := keyOf(model, column, first.desc)
	w.Keys = append(w.Keys, key)

	return err
}

func keyOf(model *schema.Table, column string, desc bool) (sortKey, error) {
	_, name, _ := strings.Cut(column, ".")

	field, err := model.Field(name)
	if err != nil {
		return sortKey{}, fmt.Errorf("sort by %s: %w", column, err)
	}

	return sortKey{Column: column, desc: desc, field: field}, nil
}

// Sorted adds ORDER BY.
func (w *Keyset) Sorted(q *bun.SelectQuery) *bun.SelectQuery {
	for _, k := range w.Keys {
		q = q.OrderExpr("? ?", bun.Ident(k.Column), bun.Safe(k.direction()))
	}

	return q.OrderExpr("? ASC", bun.Ident(w.id.Column))
}

// Named selects what the list is sorted by under names, by which SortedByNames sorts the rows of a part that is selected from.
func (w *Keyset) Named(q *bun.SelectQuery) *bun.SelectQuery {
	for i, k := range w.Keys {
		q = q.ColumnExpr("? AS ?", bun.Ident(k.Column), bun.Ident(nameOfKey(i)))
	}

	return q
}

// SortedByNames is Sorted for rows of a part whose keys are Named, and whose id is the list's.
func (w *Keyset) SortedByNames(q *bun.SelectQuery) *bun.SelectQuery {
	for i, k := range w.Keys {
		q = q.OrderExpr("? ?", bun.Ident(nameOfKey(i)), bun.Safe(k.direction()))
	}

	return q.OrderExpr("? ASC", bun.Ident(w.id.Column))
}

func nameOfKey(i int) string { return "key" + strconv.Itoa(i) }

// Uses reports whether the list is sorted by the column.
func (w *Keyset) Uses(column string) bool {
	return slices.ContainsFunc(w.Keys, func(k sortKey) bool { return k.Column == column })
}

// From narrows a list to the rows from where the page begins on, or the page's number is counted from.
func (w *Keyset) From(q *bun.SelectQuery) *bun.SelectQuery {
	if w.from == nil {
		return q
	}

	return w.after(q)
}

// after narrows a list to the rows that come after the cursor in the list's order: those that come later in the first
// column in which they differ from it, and of those that do not differ the ones with a greater id.
func (w *Keyset) after(q *bun.SelectQuery) *bun.SelectQuery {
	values := w.from.Values

	if first := w.Keys[0]; !first.field.IsPtr && values[0] != nil {
		// It follows from what is below, and is what an index can begin at.
		q = q.Where("? ? ?", bun.Ident(first.Column), bun.Safe(first.operator()+"="), *values[0])
	}

	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for i := range len(w.Keys) + 1 {
			q = q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery {
				for j, k := range w.Keys[:i] {
					q = k.whereEqual(q, values[j])
				}

				if i == len(w.Keys) {
					return q.Where("? > ?", bun.Ident(w.id.Column), w.from.ID)
				}

				return w.Keys[i].whereAfter(q, values[i])
			})
		}

		return q
	})
}

func (k sortKey) direction() string {
	if k.desc {
		return "DESC"
	}

	return "ASC"
}

func (k sortKey) operator() string {
	if k.desc {
		return "<"
	}

	return ">"
}

// whereEqual narrows to the rows whose column is the value.
func (k sortKey) whereEqual(q *bun.SelectQuery, value *string) *bun.SelectQuery {
	if k.field.IsPtr {
		return q.Where("? IS NOT DISTINCT FROM ?", bun.Ident(k.Column), value)
	}

	return q.Where("? = ?", bun.Ident(k.Column), value)
}

// whereAfter narrows to the rows whose column comes after the value. NULL is last going up and first going down, as
// PostgreSQL has it.
func (k sortKey) whereAfter(q *bun.SelectQuery, value *string) *bun.SelectQuery {
	column := bun.Ident(k.Column)

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
func (w *Keyset) next(row reflect.Value) (string, error) {
	c := cursor{Page: w.number + 1, Sort: w.By, Values: make([]*string, len(w.Keys))}

	for i, k := range w.Keys {
		text, err := plainText(k.field.Value(row).Interface())
		if err != nil {
			return "", fmt.Errorf("cursor on %s: %w", k.Column, err)
		}

		c.Values[i] = text
	}

	var ok bool
	if c.ID, ok = reflect.TypeAssert[uuid.UUID](w.id.field.Value(row)); !ok {
		return "", fmt.Errorf("cursor on %s: not a UUID", w.id.Column)
	}

	return c.encode()
}

// unreadable turns the database's refusal of a cursor's value, `x` for a date, into that of the cursor.
func (w *Keyset) unreadable(err error) error {
	var pg *pgconn.PgError
	if w.from != nil && errors.As(err, &pg) && strings.HasPrefix(pg.Code, "22") { // data exception
		return errCursor()
	}

	return err
}
