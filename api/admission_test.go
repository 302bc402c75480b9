package api

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/admission"
	"rihla/internal/config"
	"rihla/models"
)

// refusals counts what the admission says.
type refusals struct{ refused atomic.Int64 }

func (*refusals) AdmissionState(models.Gateway, func() (limit, inflight int)) {}

func (r *refusals) AdmissionRefused(models.Gateway) { r.refused.Add(1) }

// TestNoPlaceForAPayment: while as many payments as can be are being started, another one is answered 503 at once, after all that is wrong
// with the request itself and before its key is taken; and everything else is served.
func TestNoPlaceForAPayment(t *testing.T) {
	t.Parallel()

	kept, refused := &answers{}, &refusals{}
	b := setup(t, func(d *Deps) {
		d.Idempotency = kept
		d.Admission = admission.New(config.Admission{Target: time.Second, Min: 1, Max: 1}, refused)
	})
	b.ops.gate = make(chan struct{})

	first := make(chan int, 1)

	go func() {
		defer close(first)

		response, err := b.app.Test(request(t.Context(), http.MethodPost, bookingPath, "END_USER", bookingBody), 10_000)
		if err == nil {
			_ = response.Body.Close()
			first <- response.StatusCode
		}
	}()

	require.Eventually(t, func() bool {
		b.ops.mu.Lock()
		defer b.ops.mu.Unlock()

		return b.ops.calls == 1
	}, 10*time.Second, time.Millisecond)

	key := uuid.NewString()
	send := func(token, body string) answer {
		return b.call(t, http.MethodPost, bookingPath, token, body, "Idempotency-Key", key)
	}

	require.Equal(t, http.StatusUnauthorized, send("wrong", bookingBody).status)
	require.Equal(t, http.StatusUnprocessableEntity, send("END_USER", "{}").status)
	require.Zero(t, refused.refused.Load())

	a := send("END_USER", bookingBody)
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Equal(t, "SERVICE_UNAVAILABLE", a.code)
	require.EqualValues(t, 1, refused.refused.Load())
	require.Empty(t, kept.keys, "a request that was refused leaves nothing")

	after, err := strconv.Atoi(a.get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, after)

	for range 20 {
		require.Equal(t, http.StatusServiceUnavailable, send("END_USER", bookingBody).status)
	}

	lines := b.log.lines(t, "request failed")
	require.Len(t, lines, 1, "a line for each would be written when there is least time for it")
	require.EqualValues(t, 1, lines[0]["refused"])

	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/api/v1/bookings/"+tripID.String()+"/payment-status", "END_USER", "").status)

	close(b.ops.gate)
	require.Equal(t, http.StatusCreated, <-first)
	require.Equal(t, http.StatusCreated, send("END_USER", bookingBody).status, "the place is free again")
}
