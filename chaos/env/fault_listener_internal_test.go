package env

import (
	"context"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// request asks through the listener.
func request(t *testing.T, d *faultListener) error {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Addr().String(), nil)
	require.NoError(t, err)

	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}

	_, _ = io.Copy(io.Discard, res.Body)

	return res.Body.Close()
}

// Two faults that cut a listener off have both to end, and each counts only the connections that it has hit.
func TestDoor(t *testing.T) {
	t.Parallel()

	d, err := listenWithFaults(context.Background())
	require.NoError(t, err)

	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(d) }()

	t.Cleanup(func() { _ = s.Close() })

	require.NoError(t, request(t, d))

	idle := d.cut()
	require.Zero(t, idle(), "nobody came, and nobody waited for an answer")

	first, second := d.cut(), d.cut()
	require.Error(t, request(t, d))
	require.Positive(t, first())
	require.Error(t, request(t, d), "the other one still holds it shut")
	require.Positive(t, second())
	require.NoError(t, request(t, d))

	shut, again := d.refuse(), d.refuse()
	require.ErrorIs(t, request(t, d), syscall.ECONNREFUSED)

	broken, err := shut()
	require.NoError(t, err)
	require.Positive(t, broken, "there was one in the pool")
	require.ErrorIs(t, request(t, d), syscall.ECONNREFUSED, "the other one still holds it shut")

	_, err = again()
	require.NoError(t, err)
	require.NoError(t, request(t, d))

	end := d.slow(50 * time.Millisecond)
	before := time.Now()

	require.NoError(t, request(t, d))
	require.GreaterOrEqual(t, time.Since(before), 50*time.Millisecond)
	require.Positive(t, end())
	require.NoError(t, request(t, d))
}
