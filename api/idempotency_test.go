package api

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestIdempotencyReplay(t *testing.T) {
	t.Parallel()

	b := setup(t)
	key := uuid.NewString()
	first := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
	again := b.call(t, http.MethodPost, bookingPath, "END_USER", "  "+bookingBody+"\n", "Idempotency-Key", key)

	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
	require.Equal(t, first.header.Get("Content-Type"), again.header.Get("Content-Type"))
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, b.ops.calls)

	other := b.call(t, http.MethodPost, bookingPath, "END_USER", `{"x":`+bookingBody+`}`, "Idempotency-Key", key)
	require.Equal(t, "VALIDATION_ERROR", other.code, "validation comes first and is not stored")

	changed := bookingBody[:len(bookingBody)-1] + `,"return_url":"https://www.rihla.test/x"}`
	reused := b.call(t, http.MethodPost, bookingPath, "END_USER", changed, "Idempotency-Key", key)
	require.Equal(t, http.StatusUnprocessableEntity, reused.status)
	require.Equal(t, "IDEMPOTENCY_KEY_REUSED", reused.code)
	require.Equal(t, 1, b.ops.calls)
}

func TestIdempotencyKeepsConflictsAndForgetsFailures(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ops.fail = models.Errorf(models.CodeTripCapacityReached, "The trip has no seats left.")
	key := uuid.NewString()

	for range 2 {
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
		require.Equal(t, "TRIP_CAPACITY_REACHED", a.code)
	}

	require.Equal(t, 1, b.ops.calls)

	b.ops.fail = errors.New("broken")
	key = uuid.NewString()

	for range 2 {
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
		require.Equal(t, http.StatusInternalServerError, a.status)
	}

	require.Equal(t, 3, b.ops.calls)

	// A 429 says that the same request may be sent again.
	b.ops.fail = models.Errorf(models.CodeRateLimited, "Too many requests.")
	key = uuid.NewString()
	require.Equal(t, http.StatusTooManyRequests, b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key).status)

	b.ops.fail = nil
	require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key).status)
}

// An order above the limit is asked for a code by the operation itself, after its key was claimed.
func TestIdempotencyForgetsTheRequestForACode(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ops.fail = models.StepUpRequired()
	key := uuid.NewString()

	a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
	require.Equal(t, http.StatusForbidden, a.status)
	require.Equal(t, "STEP_UP_REQUIRED", a.code)

	b.ops.fail = nil

	after := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
	require.Equal(t, http.StatusCreated, after.status)
	require.Empty(t, after.header.Get("Idempotent-Replayed"))
	require.Equal(t, 2, b.ops.calls)
}

func TestIdempotencyInProgress(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ops.gate = make(chan struct{})
	key := uuid.NewString()
	done := make(chan int, 1)

	go func() {
		r := request(t.Context(), http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
		if response, err := b.app.Test(r, 10_000); err == nil {
			_ = response.Body.Close()
			done <- response.StatusCode
		}

		close(done)
	}()

	require.Eventually(t, func() bool {
		b.ops.mu.Lock()
		defer b.ops.mu.Unlock()

		return b.ops.calls == 1
	}, 5*time.Second, time.Millisecond)

	a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", key)
	require.Equal(t, http.StatusConflict, a.status)
	require.Equal(t, "IDEMPOTENCY_KEY_IN_PROGRESS", a.code)

	close(b.ops.gate)
	require.Equal(t, http.StatusCreated, <-done)
}

// An answer that cannot be kept is not given: the same request would be answered otherwise later.
func TestIdempotencyAnswerThatCannotBeKept(t *testing.T) {
	t.Parallel()

	b := setup(t, func(d *Deps) {
		d.Idempotency = &answers{away: true}
	})

	a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", uuid.NewString())
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Equal(t, "SERVICE_UNAVAILABLE", a.code)
	require.NotEmpty(t, a.header.Get("Retry-After"))
	require.Empty(t, a.header.Get("Location"))
	require.Equal(t, 1, b.ops.calls)

	b.ops.fail = models.Errorf(models.CodeTripCapacityReached, "The trip has no seats left.")
	a = b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", uuid.NewString())
	require.Equal(t, http.StatusServiceUnavailable, a.status, "nor is a refusal")
}
