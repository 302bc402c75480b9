package ratelimit

import (
	"context"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

func ignore(context.Context, error) {}

const testNetwork = "203.0.113.0/24"

// TestOneAccountHasOneAllowance: however the address is written that finds the account, its guesses count together; those from
// another network do not.
func TestOneAccountHasOneAllowance(t *testing.T) {
	t.Parallel()

	m, _ := newClockedLimiter()
	limits := New(m, config.RateLimits{Login: 3}, ignore)

	for _, email := range []string{"someone@rihla.test", "SomeOne@Rihla.test", "someone@rihla.test\u00a0"} {
		require.NoError(t, limits.Login(t.Context(), email, testNetwork))
	}

	for _, email := range []string{"someone@rihla.test", "someone@rihla.test\u2003", "\u00a0someone@rihla.test"} {
		require.Equal(t, models.CodeRateLimited, models.CodeOf(limits.Login(t.Context(), email, testNetwork)), "%q", email)
	}

	require.NoError(t, limits.Login(t.Context(), "else@rihla.test", testNetwork))
	require.NoError(t, limits.Login(t.Context(), "someone@rihla.test", "198.51.100.0/24"))
}

// TestLogInsThatSucceedDoNotCount runs on both limiters.
func TestLogInsThatSucceedDoNotCount(t *testing.T) {
	t.Parallel()

	m, _ := newClockedLimiter()

	for name, limiter := range map[string]Limiter{
		"memory": m, "redis": newRedisLimiter(t, "redis://"+miniredis.RunT(t).Addr()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const email = "someone@rihla.test"

			limits := New(limiter, config.RateLimits{Login: 3}, ignore)

			for range 50 {
				require.NoError(t, limits.Login(t.Context(), email, testNetwork))
				limits.LoggedIn(t.Context(), email, testNetwork)
			}

			failures := 0
			for limits.Login(t.Context(), email, testNetwork) == nil {
				failures++
			}

			require.GreaterOrEqual(t, failures, 2, "Redis may keep the last success for an interval")
			require.LessOrEqual(t, failures, 3)
		})
	}
}
