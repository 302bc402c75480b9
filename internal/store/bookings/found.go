package bookings

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"rihla/internal/store/db"
)

// Searched is a list that is searched by the words of its rows' bookings.
type Searched struct {
	Rows    func() *bun.SelectQuery // what the filters leave without the search
	Table   string                  // alias of the rows
	ID      string                  // their column
	Booking string                  // the column with a row's booking
	Others  *bun.SelectQuery        // ids of rows that are found by something else; few
	// Join adds to rows what the order of a page needs; may be nil.
	Join func(q *bun.SelectQuery, p db.Window) *bun.SelectQuery
}

const (
	// othersAtMost is how many rows that are found by something else than words are named in a statement; with more, as those of a payout
	// of a thousand bookings, rows are found as a set.
	othersAtMost = 1000
	// walkedAtMost is how many rows of a list are looked at, in its order, for those of a page.
	walkedAtMost = 20_000
	// foundAsSet is up to how many rows a search finds as a set, by its index, before it is sorted.
	foundAsSet = 1000
)

// ListFound lists what a search finds. A word that few rows have is found in the index of words. One that very many have is met soon on
// the way along the list, whose order an index has: there the rows are asked for their words one by one, up to a bound.
func ListFound[T any](
	ctx context.Context, conn *db.DB, w searchWords, l Searched, p db.Page, o db.Order, by db.ListOptions,
) (db.Listed[T], error) {
	f := finder{conn: conn, words: w, list: l}

	if err := l.Others.Clone().Limit(othersAtMost+1).Scan(ctx, &f.others); err != nil {
		return db.Listed[T]{}, fmt.Errorf("search: %w", err)
	}

	by.Total = f.total
	by.Page = f.along

	return db.ListWith[T](ctx, f.asSet(l.Rows()), p, o, by)
}

type finder struct {
	conn   *db.DB
	words  searchWords
	list   Searched
	others []uuid.UUID
}

// named reports whether the rows of others are few enough to be named.
func (f *finder) named() bool { return len(f.others) <= othersAtMost }

// asSet narrows rows to those that are found, as a set.
func (f *finder) asSet(q *bun.SelectQuery) *bun.SelectQuery {
	texts := f.words.inTexts(f.conn.NewSelect().TableExpr("booking_texts AS bt").ColumnExpr("bt.booking_id"))

	if f.named() && len(f.others) == 0 {
		return q.Where("? IN (?)", bun.Ident(f.list.Booking), texts)
	}

	byWord := f.list.Rows().Column(f.list.ID).Where("? IN (?)", bun.Ident(f.list.Booking), texts)
	if f.named() {
		return q.Where("? IN (? UNION ALL SELECT unnest(?::uuid[]))", bun.Ident(f.list.ID), byWord, idArray(f.others))
	}

	return q.Where("? IN (? UNION ?)", bun.Ident(f.list.ID), byWord, f.list.Others)
}

// total counts what is found by words up to a bound, which many rows have reached soon, and adds the others.
func (f *finder) total(ctx context.Context) (db.Counted, error) {
	if !f.named() {
		return f.conn.Counts.Of(ctx, f.asSet(f.list.Rows()), db.SearchedUpTo)
	}

	byWord := f.list.Rows().Join("JOIN booking_texts AS bt ON bt.booking_id = ?", bun.Ident(f.list.Booking))

	total, err := f.conn.Counts.Of(ctx, f.words.inTexts(byWord), db.SearchedUpTo)
	if err != nil || len(f.others) == 0 || total.Rows >= db.SearchedUpTo {
		return total, err
	}

	var more int64

	hit := f.words.inTexts(f.conn.NewSelect().TableExpr("booking_texts AS bt").ColumnExpr("1").
		Where("bt.booking_id = ?", bun.Ident(f.list.Booking)))

	err = f.list.Rows().ColumnExpr("count(*)").Where("? IN (SELECT unnest(?::uuid[]))", bun.Ident(f.list.ID), idArray(f.others)).
		Where("NOT EXISTS (?)", hit).Scan(ctx, &more)
	total.Rows += more

	return total, err
}

// along finds a page on the way along the list. found is false where it has not met enough rows within its bound, or would have to look at
// more of them than the search finds.
func (f *finder) along(ctx context.Context, p db.Window) (ids []uuid.UUID, found bool, err error) {
	if !f.named() || p.Total.Rows <= foundAsSet {
		return nil, false, nil
	}

	all, err := f.conn.Counts.Of(ctx, f.list.Rows(), 0)
	if err != nil {
		return nil, false, err
	}

	// Of a search that was counted to its bound it is not known how many more there are.
	if p.Total.Rows < db.SearchedUpTo && p.Rows*all.Rows/p.Total.Rows > p.Total.Rows {
		return nil, false, nil
	}

	err = f.walked(p).Scan(ctx, &ids)
	if err != nil {
		return nil, false, fmt.Errorf("search along the list: %w", err)
	}

	// Fewer than the page needs: there may be more behind the bound.
	return ids, int64(len(ids)) == p.Rows-p.Skipped, nil
}

// walked selects the ids of a page among the first rows of the list.
func (f *finder) walked(p db.Window) *bun.SelectQuery {
	l := f.list

	part := l.Rows().Column(l.ID)
	if l.Booking != l.ID {
		part = part.Column(l.Booking)
	}

	if l.Join != nil {
		part = l.Join(part, p)
	}

	part = p.Walk.Sorted(p.Walk.From(p.Walk.Named(part))).Limit(walkedAtMost)

	// The offset keeps the planner from finding the words first, and all of them: a row that the walk meets is asked for its own.
	words := f.words.inTexts(f.conn.NewSelect().TableExpr("booking_texts AS bt").ColumnExpr("true AS hit").
		Where("bt.booking_id = ?", bun.Ident(l.Booking)))

	q := f.conn.NewSelect().Column(l.ID).TableExpr("(?) AS ?", part, bun.Ident(l.Table)).
		Join("LEFT JOIN LATERAL (? OFFSET 0) AS words ON TRUE", words).
		Where("(words.hit OR ? IN (SELECT unnest(?::uuid[])))", bun.Ident(l.ID), idArray(f.others))

	return p.Walk.SortedByNames(q).Offset(p.Skipped).Limit(p.Rows - p.Skipped)
}

// idArray is an array of ids, as SQL casts it.
func idArray(ids []uuid.UUID) any {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}

	return pgdialect.Array(texts)
}
