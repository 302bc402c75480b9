package db

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/uptrace/bun"

	"rihla/models"
)

// Page asks for one page of a list. The zero value is the first page of 20 items in the list's own order.
type Page struct {
	Number  int // 1-based, as the list is now; less than 1 is the first
	PerPage int // less than 1 is the default; the bounds are the edge's business (rules: reports.lists)
	Sort    []Sort
	Cursor  string // Next of the page before, whatever has happened since; Number is not read then, nor need Sort be given
}

// Sort is one field to sort a list by.
type Sort struct {
	Field string
	Desc  bool
}

// Listed is one page of a list. Items is never nil; Total counts all pages.
type Listed[T any] struct {
	Items  []T
	Total  int64
	Number int    // of the page
	Next   string // Cursor of the page after it; empty on the last
}

// defaultPerPage is the page size unless one is asked for (rules: reports.lists).
const defaultPerPage = 20

// Order says how a list may be sorted.
type Order struct {
	Columns  map[string]string // what a caller may name, and the SQL column behind it
	ID       string            // the column that breaks ties, so that pages never overlap
	Fallback Sort
	Within   string // orders what the fallback's field leaves equal, in the same direction, ahead of id; empty: only id does
}

// List runs a list query, which has no model yet, for one page. A page past the end is empty. Errors: VALIDATION_ERROR
// on sort and cursor.
func List[T any](ctx context.Context, q *bun.SelectQuery, p Page, o Order) (Listed[T], error) {
	return ListWith[T](ctx, q, p, o, ListOptions{})
}

// ListOptions are what a list of very many rows knows to do better.
type ListOptions struct {
	// total counts the rows of all pages; nil counts them one by one.
	Total func(context.Context) (int64, error)
	// whole selects the rows whose ids a query finds. With it a page is found first, in an index alone if there is one,
	// and only its own rows are read: nothing is read of those that are skipped.
	Whole func(ids *bun.SelectQuery) *bun.SelectQuery
	// ways may select the same rows in another way, once it is known how many there are and which of them the page needs.
	Ways func(q *bun.SelectQuery, p Window) *bun.SelectQuery
}

// Window is what one page needs of a list: the first rows behind a place, as many as lead up to the page's last, and one.
type Window struct {
	Walk  *Keyset
	total int64 // rows of all pages
	Rows  int64 // from the place on
}

// First narrows a list to the rows of the part.
func (p Window) First(q *bun.SelectQuery) *bun.SelectQuery {
	if p.Walk.from != nil {
		q = p.Walk.after(q)
	}

	return p.Walk.Sorted(q).Limit(p.Rows)
}

// ListWith is List with shortcuts.
func ListWith[T any](ctx context.Context, q *bun.SelectQuery, p Page, o Order, by ListOptions) (Listed[T], error) {
	out := Listed[T]{Items: []T{}}

	w, err := NewKeyset[T](q.DB(), o, p)
	if err != nil {
		return out, err
	}

	out.Number = w.number
	q = q.Model(&out.Items)

	if by.Total == nil {
		by.Total = func(ctx context.Context) (int64, error) { return q.Count(ctx) }
	}

	if out.Total, err = by.Total(ctx); err != nil {
		return out, fmt.Errorf("count list: %w", err)
	}

	perPage := int64(p.PerPage)
	if perPage < 1 {
		perPage = defaultPerPage
	}

	// One row more tells whether there is a page after this one.
	wanted, skipped := perPage+1, int64(0)

	if w.from == nil {
		before := int64(w.number) - 1

		// The division keeps the offset of an absurd page number from overflowing.
		if before > out.Total/perPage {
			return out, nil
		}

		skipped = before * perPage
	}

	if by.Ways != nil {
		q = by.Ways(q, Window{Walk: &w, total: out.Total, Rows: skipped + wanted})
	}

	if w.from != nil {
		q = w.after(q)
	}

	q = w.Sorted(q).Offset(skipped).Limit(wanted)
	if by.Whole != nil {
		q = w.Sorted(by.Whole(q.ColumnExpr(o.ID)).Model(&out.Items))
	}

	if err := q.Scan(ctx); err != nil {
		return out, fmt.Errorf("read list: %w", w.unreadable(err))
	}

	if int64(len(out.Items)) > perPage {
		out.Items = out.Items[:perPage]
		out.Next, err = w.next(reflect.ValueOf(&out.Items[perPage-1]).Elem())
	}

	return out, err
}

// WhereEqual narrows a list to rows with the value; the zero value narrows nothing.
func WhereEqual[T comparable](q *bun.SelectQuery, column string, value T) *bun.SelectQuery {
	var none T
	if value == none {
		return q
	}

	return q.Where("? = ?", bun.Ident(column), value)
}

// LikeEscaper makes the wildcards of LIKE ordinary characters, and also those characters that search_fold makes wildcards of: patterns
// are folded after they were escaped.
var LikeEscaper = strings.NewReplacer(
	`\`, `\\`, "\uff3c", `\\`, "\ufe68", `\\`,
	`%`, `\%`, "\uff05", `\%`, "\ufe6a", `\%`,
	`_`, `\_`, "\uff3f", `\_`, "\ufe33", `\_`, "\ufe34", `\_`, "\ufe4d", `\_`, "\ufe4e", `\_`, "\ufe4f", `\_`)

// WhereContains narrows a list to rows with the text in one of the columns, whatever its case; no text narrows nothing.
func WhereContains(q *bun.SelectQuery, text string, columns ...string) *bun.SelectQuery {
	if text == "" {
		return q
	}

	pattern := "%" + LikeEscaper.Replace(text) + "%"

	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, c := range columns {
			q = q.WhereOr("? ILIKE ?", bun.Ident(c), pattern)
		}

		return q
	})
}

// WhereDuring narrows a list to the moments of a timestamptz column that fall on the days in Riyadh: from the first
// midnight up to, and without, the one after the last day. An end that is missing is open.
func WhereDuring(q *bun.SelectQuery, column string, d models.Days) *bun.SelectQuery {
	if !d.From.IsZero() {
		q = q.Where("? >= ?", bun.Ident(column), d.From.Start())
	}

	if !d.To.IsZero() {
		q = q.Where("? < ?", bun.Ident(column), d.To.AddDays(1).Start())
	}

	return q
}
