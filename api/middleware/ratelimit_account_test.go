package middleware

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

// TestOneAccountHasOneAllowance: however the address is written that finds the account, its guesses count together.
func TestOneAccountHasOneAllowance(t *testing.T) {
	t.Parallel()

	m, _ := newClockedLimiter()
	limits := NewRateLimits(m, config.RateLimits{Login: 3}, slog.New(slog.DiscardHandler))

	for _, email := range []string{"someone@rihla.test", "SomeOne@Rihla.test", "someone@rihla.test\u00a0"} {
		require.NoError(t, limits.Account(t.Context(), email))
	}

	for _, email := range []string{"someone@rihla.test", "someone@rihla.test\u2003", "\u00a0someone@rihla.test"} {
		require.Equal(t, models.CodeRateLimited, models.CodeOf(limits.Account(t.Context(), email)), "%q", email)
	}

	require.NoError(t, limits.Account(t.Context(), "else@rihla.test"))
}
