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

// TestIdempotencyForgetsRefusals: whatever the operation refuses, and however it fails, it has done nothing. The same request is judged
// anew, and succeeds once the cause is over; it stays the same request.
func TestIdempotencyForgetsRefusals(t *testing.T) {
	t.Parallel()

	for name, refusal := range map[string]struct {
		err    error
		status int
	}{
		"a conflict":         {&models.Error{Code: models.CodeTripCapacityReached, Text: models.Verbatim("The trip has no seats left.")}, http.StatusConflict},
		"a limit":            {&models.Error{Code: models.CodeTooManyUnpaidBookings, Text: models.Verbatim("Cancel one of them.")}, http.StatusConflict},
		"not found":          {models.NotFound(), http.StatusNotFound},
		"forbidden":          {&models.Error{Code: models.CodeForbidden, Text: models.Verbatim("Not allowed.")}, http.StatusForbidden},
		"a second factor":    {&models.Error{Code: models.CodeSecondFactorNeeded, Text: models.Verbatim("Enable one.")}, http.StatusForbidden},
		"asked for a code":   {models.StepUpRequired(), http.StatusForbidden},
		"what does not fit":  {models.Invalid("return_url", "return_url.host"), http.StatusUnprocessableEntity},
		"too often":          {&models.Error{Code: models.CodeRateLimited, Text: models.Verbatim("Too many requests.")}, http.StatusTooManyRequests},
		"a gateway's answer": {&models.Error{Code: models.CodeGatewayUnavailable, Text: models.Verbatim("Away.")}, http.StatusBadGateway},
		"broken":             {errors.New("broken"), http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.ops.fail = refusal.err
			key := uuid.NewString()

			book := func(body string) answer {
				return b.call(t, http.MethodPost, bookingPath, "END_USER", body, "Idempotency-Key", key)
			}

			for range 2 {
				a := book(bookingBody)
				require.Equal(t, refusal.status, a.status)
				require.Empty(t, a.header.Get("Idempotent-Replayed"))
			}

			b.ops.fail = nil

			changed := bookingBody[:len(bookingBody)-1] + `,"return_url":"https://www.rihla.test/x"}`
			require.Equal(t, "IDEMPOTENCY_KEY_REUSED", book(changed).code, "the key stays bound to its body")

			done := book(bookingBody)
			require.Equal(t, http.StatusCreated, done.status)
			require.Empty(t, done.header.Get("Idempotent-Replayed"))
			require.Equal(t, 3, b.ops.calls)

			// What was done is kept, whatever would be refused now.
			b.ops.fail = refusal.err

			again := book(bookingBody)
			require.Equal(t, http.StatusCreated, again.status)
			require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
			require.Equal(t, 3, b.ops.calls)
		})
	}
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

	b.ops.fail = &models.Error{Code: models.CodeTripCapacityReached, Text: models.Verbatim("The trip has no seats left.")}
	a = b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "Idempotency-Key", uuid.NewString())
	require.Equal(t, http.StatusConflict, a.status, "a refusal is not kept anyway")
}
