package gatewaytest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

func testRateLimit(t *testing.T, b *brokenWire) {
	t.Helper()
	b.requireRateLimited(t, "", 0)
}

func testRateLimitWithTime(t *testing.T, b *brokenWire) {
	t.Helper()
	b.requireRateLimited(t, "7", 7*time.Second)
}

func (b *brokenWire) requireRateLimited(t *testing.T, retryAfter string, want time.Duration) {
	t.Helper()

	calls := b.calls(t)

	b.answer(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}

		w.WriteHeader(http.StatusTooManyRequests)
	})

	for name, call := range calls {
		var e *gateways.Error

		require.ErrorAs(t, call(t.Context()), &e, name)
		require.Equal(t, gateways.KindRateLimited, e.Kind, "%s: %v", name, e)
		require.Equal(t, want, e.RetryAfter, name)
	}
}

// testUnreachable: what found no connection was not sent, and may be sent elsewhere.
func testUnreachable(t *testing.T, b *brokenWire) {
	t.Helper()

	calls := b.calls(t)
	b.server.CloseClientConnections()
	b.server.Close()

	for name, call := range calls {
		var err error

		// A connection from before may still be thought to be open; then nothing is known of the first call.
		require.Eventually(t, func() bool {
			err = call(t.Context())

			return gateways.KindOf(err) == gateways.KindUnreachable
		}, eventually, time.Millisecond, "%s: %v", name, err)
		b.requireDiscreet(t, err)
	}
}

// testGoneAfterEffect: the company has done its work when it goes away. A client that repeats by itself what was lost on a connection from
// the pool finds no other one then, which says nothing of the first try.
func testGoneAfterEffect(t *testing.T, b *brokenWire) {
	t.Helper()
	b.warm(t)
	b.answer(afterEffect(func(http.ResponseWriter, *http.Request, http.Handler) {
		_ = b.server.Listener.Close()

		panic(http.ErrAbortHandler)
	}))

	_, err := b.Gateway.CreateCheckout(t.Context(), b.request())
	requireKind(t, gateways.KindUnknown, err)
	require.False(t, gateways.TakesNone(err), "or it would be opened at another account, too")
	b.requireDiscreet(t, err)
}

// testRefusedAfterEffect: the same of a company that takes no more requests.
func testRefusedAfterEffect(t *testing.T, b *brokenWire) {
	t.Helper()

	for _, status := range []int{http.StatusTooManyRequests, http.StatusUnauthorized} {
		b.answer(nil)
		b.warm(t)

		var asked atomic.Int32

		b.answer(func(w http.ResponseWriter, r *http.Request, company http.Handler) {
			if asked.Add(1) > 1 {
				w.WriteHeader(status)

				return
			}

			company.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		})

		_, err := b.Gateway.CreateCheckout(t.Context(), b.request())
		requireKind(t, gateways.KindUnknown, err)
		require.False(t, gateways.TakesNone(err), "or it would be opened at another account, too")
	}
}
