//go:build unix

package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
)

func TestPeerGone(t *testing.T) {
	t.Parallel()

	client, server := connected(t)

	require.False(t, peerGone(server), "it is there and silent")

	_, err := client.Write([]byte("GET / HTTP/1.1"))
	require.NoError(t, err)
	require.False(t, peerGone(server), "it has sent its next request")

	got := make([]byte, 14)
	_, err = server.Read(got)
	require.NoError(t, err)
	require.Equal(t, "GET / HTTP/1.1", string(got), "which is still all there")

	require.NoError(t, client.Close())
	require.Eventually(t, func() bool { return peerGone(server) }, 10*time.Second, 5*time.Millisecond)

	require.NoError(t, server.Close())
	require.True(t, peerGone(server))

	pipe, _ := net.Pipe()
	require.False(t, peerGone(pipe), "of what is no socket nobody knows")
}

// The bytes that a client has sent before it closed hide the end of the connection from a peek at the next byte.
func TestPeerGoneBehindItsNextRequest(t *testing.T) {
	t.Parallel()

	if runtime.GOOS != "linux" {
		t.Log("only Linux tells")

		return
	}

	client, server := connected(t)

	_, err := client.Write([]byte("G"))
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.Eventually(t, func() bool { return peerGone(server) }, 10*time.Second, 5*time.Millisecond)

	got, err := io.ReadAll(server)
	require.NoError(t, err)
	require.Equal(t, "G", string(got), "which is still there")
}

// connected is a connection, as a client and as a server has it.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	defer listener.Close()

	client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)

	server, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})

	return client, server
}

// A client that does not read keeps a Write from returning. The end of the answer ends the Write, too.
func TestStreamThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()

	var (
		ctx, end = context.WithCancel(t.Context())
		stuck    = make(chan struct{})
		written  = make(chan error, 1)
		done     = make(chan struct{})
		app      = fiber.New(fiber.Config{DisableStartupMessage: true})
	)

	app.Get("/", func(f *fiber.Ctx) error {
		Body{Done: func() { close(done) }, Write: func(_ context.Context, w io.Writer) error {
			part := make([]byte, 1<<20)
			for n := 0; ; n++ {
				if n == 64 { // more than the buffers of both sides hold
					written <- errors.New("all of it was taken")

					return nil
				}

				if n == 1 {
					close(stuck)
				}

				if _, err := w.Write(part); err != nil {
					written <- err

					return err
				}
			}
		}}.Send(ctx, f)

		return nil
	})

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()

	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)

	defer client.Close()

	_, err = io.WriteString(client, "GET / HTTP/1.1\r\nHost: rihla.test\r\n\r\n")
	require.NoError(t, err)

	<-stuck
	end()

	select {
	case err := <-written:
		require.ErrorContains(t, err, "closed")
	case <-time.After(10 * time.Second):
		require.Fail(t, "it is still being written")
	}

	<-done
	require.NoError(t, app.ShutdownWithTimeout(10*time.Second), "nothing is left to wait for")
	require.NoError(t, <-served)
}
