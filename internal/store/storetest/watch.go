package storetest

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/uptrace/bun"

	"rihla/internal/store"
)

// Watch shows a test the queries that the store sends from now on through Bun.
func Watch(s *store.Store, hook bun.QueryHook) { s.DB.DB = s.DB.WithQueryHook(hook) }

// Counter counts the queries with a text in them.
type Counter struct {
	Of string
	N  atomic.Int64
}

// BeforeQuery implements bun.QueryHook.
func (c *Counter) BeforeQuery(ctx context.Context, q *bun.QueryEvent) context.Context {
	if strings.Contains(q.Query, c.Of) {
		c.N.Add(1)
	}

	return ctx
}

// AfterQuery implements bun.QueryHook.
func (*Counter) AfterQuery(context.Context, *bun.QueryEvent) {}
