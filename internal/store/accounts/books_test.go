package accounts_test

import (
	"context"
	"testing"

	"rihla/internal/store/accounts"
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

// open opens a session by a refresh token.
func (b *books) open(ctx context.Context, u models.User, token models.RefreshToken) error {
	_, err := b.Store.Accounts.OpenSession(ctx, u, accounts.Opening{Token: token})

	return err
}
