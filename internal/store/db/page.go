package db

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

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
	Exact  bool   // Total is the number of now; else see Counted
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
	// Counts keeps how many rows there are, where they are many; nil counts all of them for each page.
	Counts *Counts
	// Count selects the rows to be counted, where they are found with less than the list needs; nil is the list itself.
	Count *bun.SelectQuery
	// Total counts the rows of all pages in a way of its own.
	Total func(context.Context) (Counted, error)
	// Whole selects the rows whose ids a query finds. With it a page is found first, in an index alone if there is one,
	// and only its own rows are read: nothing is read of those that are skipped.
	Whole func(ids *bun.SelectQuery) *bun.SelectQuery
	// Ways may select the same rows in another way, once it is known how many there are and which of them the page needs.
	Ways func(q *bun.SelectQuery, p Window) *bun.SelectQuery
	// Page may find the ids of the page by itself, and says whether it has; needs Whole.
	Page func(ctx context.Context, p Window) (ids []uuid.UUID, found bool, err error)
}

// Window is what one page needs of a list: the first rows behind a place, as many as lead up to the page's last, and one.
type Window struct {
	Walk    *Keyset
	Total   Counted // rows of all pages
	Rows    int64   // from the place on
	Skipped int64   // of these, before the page
}

// First narrows a list to the rows of the part.
func (p Window) First(q *bun.SelectQuery) *bun.SelectQuery {
	return p.Walk.Sorted(p.Walk.From(q)).Limit(p.Rows)
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

	total, err := by.total(ctx, q)
	if err != nil {
		return out, fmt.Errorf("count list: %w", err)
	}

	out.Total, out.Exact = total.Rows, total.Exact

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

	q, err = by.page(ctx, q, Window{Walk: &w, Total: total, Rows: skipped + wanted, Skipped: skipped}, o)
	if err != nil {
		return out, fmt.Errorf("find page: %w", w.unreadable(err))
	}

	if by.Whole != nil {
		q = w.Sorted(by.Whole(q).Model(&out.Items))
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

func (by *ListOptions) total(ctx context.Context, q *bun.SelectQuery) (Counted, error) {
	if by.Total != nil {
		return by.Total(ctx)
	}

	if by.Count != nil {
		q = by.Count
	}

	if by.Counts != nil {
		return by.Counts.Of(ctx, q, 0)
	}

	n, err := q.Count(ctx)

	return Counted{Rows: n, Exact: true}, err
}

// page selects the rows of a page, or where Whole reads them their ids.
func (by *ListOptions) page(ctx context.Context, q *bun.SelectQuery, p Window, o Order) (*bun.SelectQuery, error) {
	if by.Page != nil {
		ids, found, err := by.Page(ctx, p)
		if err != nil || found {
			texts := make([]string, len(ids))
			for i, id := range ids {
				texts[i] = id.String()
			}

			return q.DB().NewSelect().ColumnExpr("unnest(?::uuid[])", pgdialect.Array(texts)), err
		}
	}

	if by.Ways != nil {
		q = by.Ways(q, p)
	}

	q = p.Walk.Sorted(p.Walk.From(q)).Offset(p.Skipped).Limit(p.Rows - p.Skipped)
	if by.Whole != nil {
		q = q.ColumnExpr(o.ID)
	}

	return q, nil
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

// WhereFound narrows a list to the rows of a table that a search finds by their words (migration 0064): by a part of one of them, however
// it is written, by a phone in any spelling, by a plate with or without spaces. No text narrows nothing.
func WhereFound(q *bun.SelectQuery, table, id, text string) *bun.SelectQuery {
	folded := models.Fold(models.CleanText(text))
	if folded == "" {
		return q
	}

	found := q.NewSelect().TableExpr("subject_texts AS st").Column("st.subject_id").Where("st.kind = ?", table).
		WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			q = q.Where("st.words LIKE '%' || search_fold(?) || '%'", LikeEscaper.Replace(folded))

			if phone := models.PhonePart(text); phone != "" {
				q = q.WhereOr("st.words LIKE '%' || search_phone(?) || '%'", phone)
			}

			if plate := gaps.Replace(folded); table == "buses" && plate != "" {
				q = q.WhereOr("st.words LIKE '%' || search_fold(?) || '%'", LikeEscaper.Replace(plate))
			}

			return q
		})

	return q.Where("? IN (?)", bun.Ident(id), found)
}

// gaps are what people write between the parts of a plate's number.
var gaps = strings.NewReplacer(" ", "", "-", "")

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
