package outbox_test

import (
	"testing"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// books is bookstest.Books with the steps of this package's tests.
type books struct{ *bookstest.Books }

// setupBooks is setup for tests that leave whole books: their identities are checked in the end.
func setup(t *testing.T, own ...models.Policies) *books {
	t.Helper()

	return &books{bookstest.NewBooks(t, own...)}
}
