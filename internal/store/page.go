package store

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// Page asks for one page of a list. The zero value is the first page of 20 items in the list's own order.
type Page struct {
	Number  int // 1-based, as the list is now; less than 1 is the first
	PerPage int // less than 1 is the default; the bounds are the edge's business (spec 8.1)
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

// defaultPerPage is the page size of contract §1.
const defaultPerPage = 20

// order says how a list may be sorted.
type order struct {
	columns  map[string]string // what a caller may name, and the SQL column behind it
	id       string            // the column that breaks ties, so that pages never overlap
	fallback Sort
	within   string // orders what the fallback's field leaves equal, in the same direction, ahead of id; empty: only id does
}

// listed runs a list query, which has no model yet, for one page. A page past the end is empty. Errors: VALIDATION_ERROR
// on sort and cursor.
func listed[T any](ctx context.Context, q *bun.SelectQuery, p Page, o order) (Listed[T], error) {
	return listedBy[T](ctx, q, p, o, shortcuts{})
}

// shortcuts are what a list of very many rows knows to do better.
type shortcuts struct {
	// total counts the rows of all pages; nil counts them one by one.
	total func(context.Context) (int64, error)
	// whole selects the rows whose ids a query finds. With it a page is found first, in an index alone if there is one,
	// and only its own rows are read: nothing is read of those that are skipped.
	whole func(ids *bun.SelectQuery) *bun.SelectQuery
	// ways may select the same rows in another way, once it is known how many there are and which of them the page needs.
	ways func(q *bun.SelectQuery, p part) *bun.SelectQuery
}

// part is what one page needs of a list: the first rows behind a place, as many as lead up to the page's last, and one.
type part struct {
	walk  *walk
	total int64 // rows of all pages
	rows  int64 // from the place on
}

// first narrows a list to the rows of the part.
func (p part) first(q *bun.SelectQuery) *bun.SelectQuery {
	if p.walk.from != nil {
		q = p.walk.behind(q)
	}

	return p.walk.sorted(q).Limit(p.rows)
}

// listedBy is listed with shortcuts.
func listedBy[T any](ctx context.Context, q *bun.SelectQuery, p Page, o order, by shortcuts) (Listed[T], error) {
	out := Listed[T]{Items: []T{}}

	w, err := walkOf[T](q.DB(), o, p)
	if err != nil {
		return out, err
	}

	out.Number = w.number
	q = q.Model(&out.Items)

	if by.total == nil {
		by.total = func(ctx context.Context) (int64, error) { return q.Count(ctx) }
	}

	if out.Total, err = by.total(ctx); err != nil {
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

	if by.ways != nil {
		q = by.ways(q, part{walk: &w, total: out.Total, rows: skipped + wanted})
	}

	if w.from != nil {
		q = w.behind(q)
	}

	q = w.sorted(q).Offset(skipped).Limit(wanted)
	if by.whole != nil {
		q = w.sorted(by.whole(q.ColumnExpr(o.id)).Model(&out.Items))
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

// matching narrows a list to rows with the value; the zero value narrows nothing.
func matching[T comparable](q *bun.SelectQuery, column string, value T) *bun.SelectQuery {
	var none T
	if value == none {
		return q
	}

	return q.Where("? = ?", bun.Ident(column), value)
}

// likeEscaper makes the wildcards of LIKE ordinary characters (contract §1).
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// containing narrows a list to rows with the text in one of the columns, whatever its case; no text narrows nothing.
func containing(q *bun.SelectQuery, text string, columns ...string) *bun.SelectQuery {
	if text == "" {
		return q
	}

	pattern := "%" + likeEscaper.Replace(text) + "%"

	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, c := range columns {
			q = q.WhereOr("? ILIKE ?", bun.Ident(c), pattern)
		}

		return q
	})
}

// during narrows a list to the moments of a timestamptz column that fall on the days in Riyadh: from the first
// midnight up to, and without, the one after the last day. An end that is missing is open.
func during(q *bun.SelectQuery, column string, d models.Days) *bun.SelectQuery {
	if !d.From.IsZero() {
		q = q.Where("? >= ?", bun.Ident(column), d.From.Start())
	}

	if !d.To.IsZero() {
		q = q.Where("? < ?", bun.Ident(column), d.To.AddDays(1).Start())
	}

	return q
}

// Actor is who does something: what scopes and audit entries need to know of the caller.
type Actor struct {
	UserID     uuid.UUID
	Role       models.Role
	ProviderID uuid.UUID // of provider roles only
	RequestID  string
	// Operator is the system user of a command, who is no user of the service.
	Operator string
}

// ProviderScope is the provider to which a reading of provider data is narrowed: their own for provider roles,
// whatever they ask for; what is asked for, with uuid.Nil for all, for the platform's roles (contract §2).
// Error: FORBIDDEN for everybody else.
func (a Actor) ProviderScope(asked uuid.UUID) (uuid.UUID, error) {
	switch {
	case a.Role.IsProvider() && a.ProviderID != uuid.Nil:
		return a.ProviderID, nil
	case a.Role.ReadsAnyBooking():
		return asked, nil
	default:
		return uuid.Nil, models.Errorf(models.CodeForbidden, "The role may not see provider data.")
	}
}

// ProviderForNew is the provider that what the actor creates belongs to: their own for provider roles, the named
// one for ADMIN and SUPER_ADMIN (contract §2). Errors: VALIDATION_ERROR on provider_id, FORBIDDEN.
func (a Actor) ProviderForNew(named uuid.UUID) (uuid.UUID, error) {
	switch {
	case a.Role.IsProvider() && a.ProviderID != uuid.Nil:
		return a.ProviderID, nil
	case !a.Role.IsAdmin():
		return uuid.Nil, models.Errorf(models.CodeForbidden, "The role may not write provider data.")
	case named == uuid.Nil:
		return uuid.Nil, models.Invalid("provider_id", "is required")
	default:
		return named, nil
	}
}

// Owns reports whether the actor may act on what belongs to the provider. Callers answer false with NOT_FOUND.
func (a Actor) Owns(provider uuid.UUID) bool {
	return a.Role.IsAdmin() || a.Role.IsProvider() && a.ProviderID != uuid.Nil && a.ProviderID == provider
}
