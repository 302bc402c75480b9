package storetest

import (
	"github.com/uptrace/bun"

	"rihla/internal/store"
)

// Watch shows a test the queries that the store sends from now on through Bun.
func Watch(s *store.Store, hook bun.QueryHook) { s.DB.DB = s.DB.WithQueryHook(hook) }
