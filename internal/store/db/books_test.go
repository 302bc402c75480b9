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

func setup(t *testing.T) *books {
	t.Helper()

	return setupWith(t, models.DefaultPolicies())
}

func setupWith(t *testing.T, p models.Policies) *books {
	t.Helper()

	return &books{bookstest.NewBooks(t, p)}
}

func bundle(t *testing.T, s *store.Store, db *sql.DB) *books {
	t.Helper()

	return &books{bookstest.BooksOf(t, s, db)}
}

func setupBooks(t *testing.T) *books {
	t.Helper()

	return setupBooksWith(t, models.DefaultPolicies())
}

func setupBooksWith(t *testing.T, p models.Policies) *books {
	t.Helper()

	return &books{bookstest.NewBooks(t, p).WithIdentities(t)}
}
