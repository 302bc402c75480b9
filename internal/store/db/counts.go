package db

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/clock"
)

// What a page of a list costs beside its rows is their number. Up to countedAlways rows are counted for each page; what is more is counted
// once for all who ask within keptFor (docs/decisions/0090).
const (
	countedAlways = 1000
	keptFor       = 10 * time.Second
	// staleFor is how old a number may be that is given while it is being counted again.
	staleFor = time.Minute
	// keptAtMost is how many numbers are kept: a filter that is not asked for again is forgotten.
	keptAtMost = 1000
)

// SearchedUpTo is how many rows of a search are counted. A word that is in every row would otherwise cost as much as all rows do.
const SearchedUpTo = 10_000

// Counted is how many rows a list has.
type Counted struct {
	Rows int64
	// Exact: there are so many rows now. Else there were within the last minute, nearly always within ten seconds; or, where counting
	// ends at a bound, there are more.
	Exact bool
}

// Counts keeps the numbers of large lists for a while, one for each set of filters. The zero value is ready for use.
type Counts struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]*keptCount
}

type keptCount struct {
	counting chan struct{} // holds a place while a request counts
	rows     int64
	at       time.Time // zero until it was counted
}

// Of counts the rows that a query selects: all of them, or with a bound up to it. The query has no order and no limit; its text is the set
// of filters.
func (c *Counts) Of(ctx context.Context, q *bun.SelectQuery, bound int64) (Counted, error) {
	key := sha256.Sum256([]byte(q.String()))

	if kept := c.find(key); kept != nil {
		return c.again(ctx, key, kept, q, bound)
	}

	few, err := countUpTo(ctx, q, countedAlways)
	if err != nil || few <= countedAlways {
		return Counted{Rows: few, Exact: true}, err
	}

	return c.again(ctx, key, c.keep(key), q, bound)
}

// again gives a number that is kept, and counts anew when it is old. One counts, and meanwhile the others are given the old number; they
// wait only where there is none.
func (c *Counts) again(ctx context.Context, key [sha256.Size]byte, kept *keptCount, q *bun.SelectQuery, bound int64) (Counted, error) {
	rows, age := c.read(kept)
	if age <= keptFor {
		return bounded(rows, bound), nil
	}

	select {
	case kept.counting <- struct{}{}:
	default:
		if age <= staleFor {
			return bounded(rows, bound), nil
		}

		select {
		case kept.counting <- struct{}{}:
		case <-ctx.Done():
			return Counted{}, ctx.Err()
		}
	}
	defer func() { <-kept.counting }()

	if rows, age = c.read(kept); age <= keptFor { // another request has counted while this one waited
		return bounded(rows, bound), nil
	}

	rows, err := countUpTo(ctx, q, bound)
	if err != nil {
		return Counted{}, err
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	kept.rows, kept.at = rows, clock.Now()

	if rows <= countedAlways {
		delete(c.kept, key)
	}

	return Counted{Rows: min(rows, boundOf(bound)), Exact: bound == 0 || rows <= bound}, nil
}

func (c *Counts) find(key [sha256.Size]byte) *keptCount {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.kept[key]
}

func (c *Counts) read(kept *keptCount) (rows int64, age time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	return kept.rows, clock.Now().Sub(kept.at)
}

// keep makes room for one more number. Those that were not counted for a while are forgotten, and all when that is not enough.
func (c *Counts) keep(key [sha256.Size]byte) *keptCount {
	c.mu.Lock()
	defer c.mu.Unlock()

	if kept := c.kept[key]; kept != nil {
		return kept
	}

	if len(c.kept) >= keptAtMost {
		now := clock.Now()

		for k, kept := range c.kept {
			if now.Sub(kept.at) > staleFor {
				delete(c.kept, k)
			}
		}
	}

	if c.kept == nil || len(c.kept) >= keptAtMost {
		c.kept = map[[sha256.Size]byte]*keptCount{}
	}

	kept := &keptCount{counting: make(chan struct{}, 1)}
	c.kept[key] = kept

	return kept
}

func boundOf(bound int64) int64 {
	if bound == 0 {
		return 1 << 62
	}

	return bound
}

func bounded(rows, bound int64) Counted { return Counted{Rows: min(rows, boundOf(bound))} }

// countUpTo counts the rows of a query, and stops behind the bound; 0 is no bound.
func countUpTo(ctx context.Context, q *bun.SelectQuery, bound int64) (n int64, err error) {
	rows := q.Clone().ColumnExpr("1")
	if bound > 0 {
		rows = rows.Limit(bound + 1)
	}

	err = q.NewSelect().ColumnExpr("count(*)").TableExpr("(?) AS counted", rows).Scan(ctx, &n)

	return n, err
}
