package failure_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestStartBeforeTheOthers starts API and worker while PostgreSQL and Temporal are away, as a machine that comes back from
// a power cut may. They do not end: the API says that it cannot serve, and both work as soon as the others are there.
func TestStartBeforeTheOthers(t *testing.T) {
	s := harness.Start(t, harness.Options{Private: true, Env: inLife()})
	customer := s.As(models.RoleEndUser)

	s.API.Kill()
	s.Worker.Kill()
	s.Components.Postgres.Kill()
	s.Components.Temporal.Kill()

	s.Worker.Launch()
	s.API.Start() // is alive

	require.Equal(t, http.StatusServiceUnavailable, s.Anybody().Get("/readyz").Status)

	a := customer.Post("/api/v1/bookings", s.BookingRequest(1))
	require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
	require.NotEmpty(t, a.Header.Get("Retry-After"))

	require.Eventually(t, func() bool { return strings.Contains(s.Worker.Log(), "waiting for it") }, patience, 10*time.Millisecond)

	require.NoError(t, s.Components.Temporal.Start(t.Context()))
	require.NoError(t, s.Components.Postgres.Start(t.Context()))
	s.Worker.AwaitReady()

	require.Eventually(t, func() bool { return s.Anybody().Get("/readyz").Status == http.StatusOK }, patience, 50*time.Millisecond)
	customer.BookPaid(1)
}
