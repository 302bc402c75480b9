package seed_test

import (
	"testing"

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
