package db_test

import (
	"database/sql"
	"testing"

	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/models"
)

// books is bookstest.Books with the steps of this package's tests.
type books struct{ *bookstest.Books }

// setup are books by the default policies, or by the test's own.
func setup(t *testing.T, own ...models.Policies) *books {
	t.Helper()

	return &books{bookstest.NewBooks(t, own...)}
}

func bundle(t *testing.T, s *store.Store, db *sql.DB) *books {
	t.Helper()

	return &books{bookstest.BooksOf(t, s, db)}
}
