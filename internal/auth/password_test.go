package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestPasswords(t *testing.T) {
	t.Parallel()

	p, err := NewPasswords(2)
	require.NoError(t, err)

	hash, err := p.Hash(t.Context(), "كلمة سر طويلة")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)

	again, err := p.Hash(t.Context(), "كلمة سر طويلة")
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "each hash has a salt of its own")

	for password, want := range map[string]bool{"كلمة سر طويلة": true, "كلمة سر طويله": false, "": false} {
		ok, err := p.Check(t.Context(), password, hash, true)
		require.NoError(t, err)
		require.Equal(t, want, ok, password)
	}

	for _, password := range []string{"", "no account has this password"} {
		ok, err := p.Check(t.Context(), password, "", false)
		require.NoError(t, err)
		require.False(t, ok, "an account that does not exist has no password")
	}

	_, err = p.Check(t.Context(), "x", "not a hash", true)
	require.Error(t, err)
}

func TestPasswordsAreBounded(t *testing.T) {
	t.Parallel()

	p, err := NewPasswords(1)
	require.NoError(t, err)

	p.slots <- struct{}{} // another caller is computing

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err = p.Hash(ctx, "password")
	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(err))
	_, err = p.Check(ctx, "password", "", false)
	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(err))

	const waiting = 3

	done := make(chan error, waiting)
	for range waiting {
		go func() {
			_, err := p.Hash(t.Context(), "password")
			done <- err
		}()
	}

	p.release()

	for range waiting {
		require.NoError(t, <-done)
	}

	require.Empty(t, p.slots)
}

// TestOwnersDoNotWaitForStrangers: with every place taken that strangers may have, and however many of them wait, a caller from a network
// that the account knows is next; and addresses without an account do not make other strangers wait.
func TestOwnersDoNotWaitForStrangers(t *testing.T) {
	t.Parallel()

	p, err := NewPasswords(4)
	require.NoError(t, err)

	hash, err := p.Hash(t.Context(), "password")
	require.NoError(t, err)
	_, err = p.Check(t.Context(), "password", hash, false)
	require.NoError(t, err)

	// One without an account is being computed, for ever.
	p.unknown <- struct{}{}

	for range 200 {
		_, err = p.Check(t.Context(), "password", "", false)
		require.NoError(t, err, "the others compute nothing")
	}

	require.Len(t, p.lately.last, 1, "and their time is that of the one check that was made")

	ok, err := p.Check(t.Context(), "password", hash, false)
	require.NoError(t, err)
	require.True(t, ok)

	// All places of strangers are taken, for ever.
	for range cap(p.strangers) {
		p.strangers <- struct{}{}
		p.slots <- struct{}{}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()

	_, err = p.Check(ctx, "password", hash, false)
	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(err))
	_, err = p.HashOfStranger(ctx, "password")
	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(err))

	ok, err = p.Check(t.Context(), "password", hash, true)
	require.NoError(t, err)
	require.True(t, ok)
	_, err = p.Hash(t.Context(), "password")
	require.NoError(t, err)
}

func TestRefreshTokens(t *testing.T) {
	t.Parallel()

	token, hash := NewRefreshToken()
	other, otherHash := NewRefreshToken()

	require.Regexp(t, `^[A-Za-z0-9_-]{43}$`, token)
	require.NotEqual(t, token, other)
	require.NotEqual(t, hash, otherHash)
	require.Len(t, hash, 32)
	require.Equal(t, hash, HashRefreshToken(token))
}
