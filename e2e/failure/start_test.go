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

	require.Eventually(t, func() bool { return strings.Contains(s.Worker.Log(), "Temporal does not answer") }, patience, 10*time.Millisecond)

	require.NoError(t, s.Components.Temporal.Start(t.Context()))
	require.NoError(t, s.Components.Postgres.Start(t.Context()))
	s.Worker.AwaitReady()

	require.Eventually(t, func() bool { return s.Anybody().Get("/readyz").Status == http.StatusOK }, patience, 50*time.Millisecond)
	customer.BookPaid(1)
}

// TestBookingThatNobodyTakesInTime: the worker comes to a booking's payment when the hold is over, and the sweep may have
// come before it. The customer has asked for an available seat, and gets an error that asks for a retry; nothing is left behind.
func TestBookingThatNobodyTakesInTime(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	service := harness.Start(t, harness.Options{Env: map[string]string{"BOOKING_HOLD": "1s", "SWEEP_INTERVAL": "1h"}})

	for name, swept := range map[string]bool{"hold is over": false, "hold was given up": true} {
		t.Run(name, func(t *testing.T) {
			s := service.For(t)
			customer := s.As(models.RoleEndUser)

			s.Worker.Kill()

			answer := make(chan harness.Answer, 1)

			go func() { answer <- customer.Post("/api/v1/bookings", s.BookingRequest(2)) }()

			require.Eventually(t, func() bool {
				return s.Count("SELECT count(*) FROM bookings WHERE hold_until < now()") == 1
			}, patience, 20*time.Millisecond)

			if swept {
				n, err := s.Store.Payments.ReleaseExpiredHolds(t.Context(), 10, time.Now())
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}

			s.Worker.Start()

			a := <-answer
			require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
			require.NotEmpty(t, a.Header.Get("Retry-After"))
			require.Zero(t, s.Count("SELECT count(*) FROM bookings"))
			require.Zero(t, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))
		})
	}
}
