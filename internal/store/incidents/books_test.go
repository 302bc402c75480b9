package incidents_test

import (
	"testing"

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
