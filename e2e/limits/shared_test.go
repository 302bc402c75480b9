package limits_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// sharing is the environment of two processes on one Redis. The patience is that of a busy test machine. On such a one ten wrong
// passwords take so long that the limit lets an eleventh through, to which the pause of the account would answer instead.
func sharing(url string) map[string]string {
	return proxied(map[string]string{
		"REDIS_URL": url, "REDIS_TIMEOUT": "10s", "RATE_LIMIT_END_USER": "30", "LOGIN_PAUSE_MAX": "0",
	})
}

// TestSharedLimits has one user call two API processes at the same time: together they admit what one would. It runs on
// the Redis that TEST_REDIS_URL names, or else on one in memory.
func TestSharedLimits(t *testing.T) {
	t.Parallel()

	url := os.Getenv("TEST_REDIS_URL")
	if url == "" {
		url = "redis://" + miniredis.RunT(t).Addr()
	}

	s := harness.Start(t, harness.Options{Limits: true, Env: sharing(url)})
	replica := s.Replica(nil)
	customer := s.As(models.RoleEndUser)

	var (
		callers = []*harness.Caller{customer, replica.With(customer.Token())}
		passed  atomic.Int64
		wg      sync.WaitGroup
		began   = time.Now()
	)

	for i := range 80 {
		wg.Go(func() {
			a, err := callers[i%2].Do(http.MethodGet, mePath, nil, nil)
			if err != nil {
				t.Error(err)

				return
			}

			if a.Status == http.StatusOK {
				passed.Add(1)
			}
		})
	}

	wg.Wait()
	require.GreaterOrEqual(t, passed.Load(), int64(30))
	require.LessOrEqual(t, passed.Load(), 30+refilled(30, time.Since(began)))
	t.Logf("%d of 80 admitted in %v", passed.Load(), time.Since(began))

	// One after the other they show one count.
	other := s.For(t).As(models.RoleEndUser)
	spend(t, 30, http.StatusOK, alternating(t, other, replica.With(other.Token()), mePath))

	// So they do for an account under attack, and for an address.
	email := s.World.Users[models.RoleProviderStaff].Email
	attempt := map[string]string{"email": email, "password": "not-the-password"}
	turn := 0

	spend(t, loginLimit, http.StatusUnauthorized, func() harness.Answer {
		turn++

		return from(t, []*harness.Caller{s.Anybody(), replica.Anybody()}[turn%2], "192.0.2.9", http.MethodPost, loginPath, attempt)
	})
	spend(t, 60, http.StatusOK, alternating(t, s.Anybody(), replica.Anybody(), tripsPath))
}

// alternating calls two processes in turn.
func alternating(t *testing.T, a, b *harness.Caller, path string) func() harness.Answer {
	t.Helper()

	turn := 0

	return func() harness.Answer {
		turn++

		return from(t, []*harness.Caller{a, b}[turn%2], "192.0.2.10", http.MethodGet, path, nil)
	}
}

// TestRedisAway takes Redis away under a running service: bookings, payments and webhooks go on, each process counts for
// itself, and when Redis is back they count together again.
func TestRedisAway(t *testing.T) {
	t.Parallel()

	const alone, together = "this process counts its rate limits alone", "rate limits are shared"

	redis := miniredis.RunT(t)
	s := harness.Start(t, harness.Options{Limits: true, Env: sharing("redis://" + redis.Addr())})
	replica := s.Replica(nil)
	customer := s.As(models.RoleEndUser)
	ready := s.Anybody().Get("/readyz").Body

	customer.BookPaid(1)
	require.Contains(t, metrics(s), "\nrihla_rate_limits_shared 1\n")

	// The keys in Redis name no person.
	dump := redis.Dump()
	require.Contains(t, dump, "rate:rihla:user:")
	require.Contains(t, dump, "rate:rihla:account:")

	for _, personal := range []string{"@", "127.0.0.1", s.World.Users[models.RoleEndUser].ID.String()} {
		require.NotContains(t, dump, personal)
	}

	redis.Close()

	second := s.For(t).As(models.RoleEndUser)
	spend(t, 30, http.StatusOK, func() harness.Answer { return second.Get(mePath) })
	spend(t, 30, http.StatusOK, func() harness.Answer { return replica.With(second.Token()).Get(mePath) })

	third := s.For(t).As(models.RoleEndUser)
	third.BookPaid(1)
	require.Equal(t, string(ready), string(s.Anybody().Get("/readyz").Body), "Redis is not what readiness asks for")
	require.Contains(t, metrics(s), "\nrihla_rate_limits_shared 0\n")

	for _, process := range []*harness.Process{s.API, replica.API} {
		require.Equal(t, 1, strings.Count(process.Log(), alone), "an outage is told once")
		require.NotContains(t, process.Log(), together)
	}

	// A process that starts meanwhile starts.
	late := s.Replica(nil)
	require.Contains(t, late.API.Log(), alone)
	require.Equal(t, http.StatusOK, late.With(third.Token()).Get(mePath).Status)

	require.NoError(t, redis.Restart())

	fourth := s.For(t).As(models.RoleEndUser)

	for _, process := range []*harness.Stack{s, replica, late} {
		require.Eventually(t, func() bool {
			process.With(fourth.Token()).Get(mePath)

			return strings.Contains(process.API.Log(), together)
		}, time.Minute, 300*time.Millisecond)
	}

	fifth := s.For(t).As(models.RoleEndUser)
	spend(t, 30, http.StatusOK, alternating(t, fifth, replica.With(fifth.Token()), mePath))
}

func metrics(s *harness.Stack) string { return string(s.Anybody().Get("/metrics").Body) }
