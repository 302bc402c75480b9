package db_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
)

// counter counts the statements that count.
type counter struct{ n atomic.Int32 }

func (c *counter) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (c *counter) AfterQuery(context.Context, *bun.QueryEvent) { c.n.Add(1) }

// TestCounts: few rows are counted each time, many once for all who ask, each set of filters by itself.
func TestCounts(t *testing.T) {
	t.Parallel()

	s := onOneConnection(t)
	exec := func(query string) {
		_, err := s.DB.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}

	exec("CREATE TABLE many (n int PRIMARY KEY)")
	exec("INSERT INTO many SELECT generate_series(1, 3000)")

	queries := &counter{}
	storetest.Watch(s, queries)

	of := func(upTo, bound int64) db.Counted {
		c, err := s.DB.Counts.Of(t.Context(), s.DB.NewSelect().TableExpr("many").Where("n <= ?", upTo), bound)
		require.NoError(t, err)

		return c
	}

	for range 2 {
		require.Equal(t, db.Counted{Rows: 1000, Exact: true}, of(1000, 0))
	}

	exec("DELETE FROM many WHERE n = 7")
	require.Equal(t, db.Counted{Rows: 999, Exact: true}, of(1000, 0), "few are counted each time")

	require.Equal(t, db.Counted{Rows: 2999, Exact: true}, of(3000, 0), "the first to ask has counted")

	before := queries.n.Load()

	exec("DELETE FROM many WHERE n = 8")
	bookstest.Parallel(20, func(int) { require.Equal(t, db.Counted{Rows: 2999}, of(3000, 0)) })
	require.Equal(t, before+1, queries.n.Load(), "nobody has counted but the DELETE")

	require.Equal(t, db.Counted{Rows: 1998, Exact: true}, of(2000, 0), "another filter")
	require.Equal(t, db.Counted{Rows: 1500, Exact: false}, of(2500, 1500), "counting ends at the bound")
	require.Equal(t, db.Counted{Rows: 2698, Exact: true}, of(2700, 2700))
}
