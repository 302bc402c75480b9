// Package stream writes answers while they leave, and bounds how many of a kind one caller has.
package stream

import (
	"bufio"
	"context"
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	// stall is how long a client may take nothing of a streamed answer before the connection is given up.
	stall = time.Minute
	// peerCheck is how often the connection is looked at while nothing is written to it.
	peerCheck = time.Second
)

// Body is the body of an answer that is written while it leaves.
type Body struct {
	// Write makes the body. Its context ends with the one of Send, and when the client is gone (a write
	// alone cannot tell that client from one that only reads). That cuts the connection, and so does an error, so that a client
	// never takes a part for the whole.
	Write func(ctx context.Context, w io.Writer) error
	// Done is called in the end, whether or not Write has been.
	Done func()
}

// Send has the body written. base is the context that the answer lives in: the request's own is over when its handler is.
func (s Body) Send(base context.Context, f *fiber.Ctx) {
	if f.Method() == fiber.MethodHead {
		s.Done()

		return
	}

	conn := f.Context().Conn()

	f.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer s.Done()

		ctx, cancel := context.WithCancel(base)
		defer cancel()

		cut := func() { _ = conn.Close() }
		// A Write to a client that takes nothing returns when the connection is closed, and not when the context ends.
		spare := context.AfterFunc(ctx, cut)

		go watchPeer(ctx, conn, cancel)

		if err := s.Write(ctx, &stallWriter{w: w, conn: conn}); err != nil {
			cut()
		}

		spare()
	})
}

// watchPeer ends a stream whose client has gone away.
func watchPeer(ctx context.Context, conn net.Conn, gone func()) {
	tick := time.NewTicker(peerCheck)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if peerGone(conn) {
				gone()

				return
			}
		}
	}
}

// stallWriter writes to a client for as long as it keeps taking something: the server's own time limit is for an answer as a
// whole.
type stallWriter struct {
	w    *bufio.Writer
	conn net.Conn
	next time.Time // when the time limit is put off again
}

// Write implements io.Writer.
func (p *stallWriter) Write(b []byte) (int, error) {
	p.putOff()

	return p.w.Write(b)
}

// Flush sends what has been written.
func (p *stallWriter) Flush() error {
	p.putOff()

	return p.w.Flush()
}

func (p *stallWriter) putOff() {
	if now := time.Now(); now.After(p.next) {
		_ = p.conn.SetWriteDeadline(now.Add(stall)) // a broken connection shows in Write
		p.next = now.Add(peerCheck)
	}
}
