package contract

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// deadlines keeps the last one that was set.
type deadlines struct{ last time.Time }

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.last = t

	return nil
}

func TestUploadsKeepAPace(t *testing.T) {
	t.Parallel()

	var d deadlines

	p := &pace{conn: &d, began: time.Now()}
	for read, allowed := range map[int]time.Duration{0: 10 * time.Second, 16 << 10: 11 * time.Second, 1 << 20: 74 * time.Second, 1 << 30: 4 * time.Minute} {
		require.NoError(t, p.set(read))
		require.Equal(t, p.began.Add(allowed), d.last, read)
	}
}

// TestSlowUploadIsCut: a client that sends too slowly gets an error, and the server does not wait for it.
func TestSlowUploadIsCut(t *testing.T) {
	t.Parallel()

	server, client := net.Pipe()
	t.Cleanup(func() { _, _ = server.Close(), client.Close() })

	go func() { _, _ = client.Write(make([]byte, 1000)) }()

	body := &boundedBody{source: server, left: 1 << 20, limit: 1 << 20, pace: &pace{conn: server, began: time.Now().Add(-uploadGrace)}}
	require.NoError(t, server.SetReadDeadline(time.Now().Add(time.Minute)))

	buf := make([]byte, 4000)
	n, err := body.Read(buf)
	require.NoError(t, err)
	require.Equal(t, 1000, n)

	_, err = body.Read(buf)
	require.Equal(t, models.CodeMalformedRequest, models.CodeOf(err))
	require.ErrorContains(t, err, "16384 bytes per second")
}
