package auth

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestVerifiedTokenIsRemembered(t *testing.T) {
	t.Parallel()

	b := newTokenBundle(t)
	want := Principal{UserID: uuid.New(), Role: models.RoleProviderAdmin, ProviderID: uuid.New(), Generation: 3}
	token, _, err := b.issuer.Issue(want)
	require.NoError(t, err)

	first, err := b.verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, 1, b.verifier.verified.tokens.Len())

	again, err := b.verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, want.Generation, again.Generation)

	other, _, err := b.issuer.Issue(want)
	require.NoError(t, err)

	signature := strings.LastIndex(token, ".")
	requireRefused(t, b.verifier, token[:signature]+other[strings.LastIndex(other, "."):], "the signature of another token")
	requireRefused(t, b.verifier, token+"=", "more after the signature")
	requireRefused(t, newTokenBundle(t).verifier, token, "another keyring")
	require.Equal(t, 1, b.verifier.verified.tokens.Len(), "what was refused is not remembered")
}

func TestRememberedTokenExpires(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := newTokenBundle(t)
		token := sign(t, jwt.SigningMethodEdDSA, b.keys.signing, b.keys.kid, validClaims())

		_, err := b.verifier.Verify(t.Context(), token)
		require.NoError(t, err)

		time.Sleep(time.Minute - time.Second - time.Nanosecond)

		_, err = b.verifier.Verify(t.Context(), token)
		require.NoError(t, err, "a moment before it expires")

		time.Sleep(time.Second + time.Nanosecond)
		requireRefused(t, b.verifier, token, "expired")
		require.Zero(t, b.verifier.verified.tokens.Len())
	})
}
