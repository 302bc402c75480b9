package accounts_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/models"
)

// logIn saves the first token of a family.
func (b *books) logIn(t *testing.T, hash string) uuid.UUID {
	t.Helper()

	family := models.NewID()
	u, err := b.Store.Accounts.UserByID(t.Context(), b.Customer.ID)
	require.NoError(t, err)
	require.NoError(t, b.open(t.Context(), u, models.RefreshToken{
		TokenHash: []byte(hash), FamilyID: family, ExpiresAt: time.Now().Add(time.Hour),
	}))

	return family
}

// logInBy is logIn with a second factor.
func (b *books) logInBy(t *testing.T, hash string, factor models.SecondFactor) uuid.UUID {
	t.Helper()

	u, err := b.Store.Accounts.UserByID(t.Context(), b.Customer.ID)
	require.NoError(t, err)

	s, err := b.Store.Accounts.OpenSession(t.Context(), u, accounts.Opening{Token: next(hash), SecondFactor: factor})
	require.NoError(t, err)

	return s.ID
}

func next(hash string) models.RefreshToken {
	return models.RefreshToken{TokenHash: []byte(hash), ExpiresAt: time.Now().Add(time.Hour)}
}

func TestRotateRefreshToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	family := b.logIn(t, "one")

	user, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), next("two"), accounts.LoginFrom{}, time.Now())
	require.NoError(t, err)
	require.Equal(t, b.Customer.ID, user.ID)
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE family_id = $1", family))

	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("two"), next("three"), accounts.LoginFrom{}, time.Now())
	require.NoError(t, err)

	// The first one is used again: the family is over, its newest token too.
	b.logIn(t, "other session")

	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), next("four"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("three"), next("five"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE family_id = $1 AND revoked_at IS NOT NULL", family))

	again, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("other session"), next("six"), accounts.LoginFrom{}, time.Now())
	require.NoError(t, err, "other families live on")
	require.Equal(t, user.TokenGeneration+1, again.TokenGeneration, "the access tokens of the stolen family do not")

	// Who has a token of a family that is over can do no more harm with it.
	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), next("seven"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)

	now, err := b.Store.Accounts.AccountStatus(t.Context(), b.Customer.ID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, again.TokenGeneration, now.TokenGeneration)

	for _, noted := range []string{"SELECT count(*) FROM notifications WHERE kind = 'SESSION_STOLEN'", "SELECT count(*) FROM audit_log WHERE action = 'SESSION_STOLEN'"} {
		require.Equal(t, 1, b.Count(t, noted), "the owner is told once")
	}
}

func TestRefreshTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)

	_, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("unknown"), next("a"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)

	b.logIn(t, "expired")
	b.Exec(t, "UPDATE refresh_tokens SET expires_at = now() WHERE token_hash = $1", []byte("expired"))
	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("expired"), next("b"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)

	b.logIn(t, "of a deleted user")
	b.Exec(t, "UPDATE users SET deleted_at = now() WHERE id = $1", b.Customer.ID)
	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("of a deleted user"), next("c"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM refresh_tokens"), "nothing came of them")
}

func TestRevokeRefreshToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.logIn(t, "one")

	_, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), next("two"), accounts.LoginFrom{}, time.Now())
	require.NoError(t, err)

	for range 2 {
		require.NoError(t, b.Store.Accounts.RevokeRefreshToken(t.Context(), []byte("two")))
	}

	require.NoError(t, b.Store.Accounts.RevokeRefreshToken(t.Context(), []byte("unknown")))

	_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("two"), next("three"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
}

func TestOneTokenSpentManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.logIn(t, "one")

	var served atomic.Int32

	bookstest.Parallel(20, func(i int) {
		if _, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), next(string(rune('a'+i))), accounts.LoginFrom{}, time.Now()); err == nil {
			served.Add(1)
		}
	})

	require.EqualValues(t, 1, served.Load())
	require.Zero(t, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE revoked_at IS NULL"), "the reuse revoked the family")
}

func TestReuseWhileTheFamilyMovesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)

	// Whichever comes first, no token of a family survives the reuse of a spent one.
	for i := range 10 {
		round := string(rune('a' + i))
		family := b.logIn(t, "one"+round)
		_, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"+round), next("two"+round), accounts.LoginFrom{}, time.Now())
		require.NoError(t, err)

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				_, _ = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("two"+round), next("three"+round), accounts.LoginFrom{}, time.Now())
			} else {
				_, _ = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"+round), next("never"+round), accounts.LoginFrom{}, time.Now())
			}
		})

		require.Zero(t, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE family_id = $1 AND revoked_at IS NULL", family))
	}
}

func TestPurgeRefreshTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.logIn(t, "old")
	b.logIn(t, "young")
	b.Exec(t, "UPDATE refresh_tokens SET expires_at = now() - interval '2 days' WHERE token_hash = $1", []byte("old"))

	n, err := b.Store.Accounts.PurgeRefreshTokens(t.Context(), 24*time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refresh_tokens"))
}
