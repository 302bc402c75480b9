package rig

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Socket serves a gateway at an address, until it is cut off. Cut and Restore must not be called at the same time.
type Socket struct {
	URL string

	address string
	handler http.Handler
	server  *http.Server
}

// newSocket serves handler on the listener; nil is a free port.
func newSocket(ctx context.Context, listener net.Listener, handler http.Handler) (*Socket, error) {
	if listener == nil {
		var err error
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}

	s := &Socket{URL: "http://" + listener.Addr().String(), address: listener.Addr().String(), handler: handler}
	s.serve(listener)

	return s, nil
}

func (s *Socket) serve(listener net.Listener) {
	s.server = &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}

	go func(server *http.Server) { _ = server.Serve(listener) }(s.server)
}

// Cut is the death of the gateway's process: connections break, and new ones are refused. What it has done stays done.
func (s *Socket) Cut() { _ = s.server.Close() }

// Restore serves at the same address again.
func (s *Socket) Restore(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return err
	}

	s.serve(listener)

	return nil
}
