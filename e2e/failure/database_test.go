package failure_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestDatabaseKilled kills PostgreSQL under load. No client may see an internal error meanwhile: load notes every answer
// but 503 with Retry-After.
func TestDatabaseKilled(t *testing.T) {
	const away = 5 * time.Second

	s := harness.Start(t, harness.Options{Private: true, Env: inLife()})

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	const first, later = 20, 40

	customer := s.As(models.RoleEndUser)
	l := newLoad(t, s, first+later)
	pay := l.waitToPay(ctx, t, first, time.Second)

	l.come(ctx, later, 3*time.Second)
	pay()
	require.Eventually(t, func() bool { return l.paid.Load() >= 10 }, patience, time.Millisecond)

	s.Components.Postgres.Kill()

	back := time.After(away)

	for _, path := range []string{"/api/v1/my/bookings", "/api/v1/trips", "/readyz"} {
		a := customer.Get(path)
		require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s: %s", path, a.Body)
		require.Equal(t, models.CodeServiceUnavailable, a.Code())
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}

	require.Equal(t, http.StatusOK, customer.Get("/healthz").Status, "the process is well")

	<-back
	require.NoError(t, s.Components.Postgres.Start(t.Context()))

	up := time.Now()

	l.finish(t, first+later)
	t.Logf("last customer has paid %s after the database was back, %d tries again", time.Since(up).Round(time.Millisecond), l.retries.Load())
	awaitBooks(t, s)
	t.Logf("everything settled %s after the database was back", time.Since(up).Round(time.Millisecond))
}
