package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"
)

const loopback = "127.0.0.1"

// Port returns preferred when nothing listens on it on 127.0.0.1, else a free port, and then says so in the log. With preferred 0
// any free port will do and nothing is logged. The port is not reserved: listen on it soon.
func Port(ctx context.Context, log *slog.Logger, preferred int) (int, error) {
	if preferred != 0 && portIsFree(ctx, preferred) {
		return preferred, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	port := listener.Addr().(*net.TCPAddr).Port
	if preferred != 0 {
		orDiscard(log).InfoContext(ctx, fmt.Sprintf("port %d is taken, using %d", preferred, port))
	}
	return port, nil
}

func portIsFree(ctx context.Context, port int) bool {
	address := net.JoinHostPort(loopback, strconv.Itoa(port))
	// Some systems let a loopback listener in beside one on all addresses, so a successful Listen alone proves too little.
	dialer := net.Dialer{Timeout: 300 * time.Millisecond}
	if conn, err := dialer.DialContext(ctx, "tcp4", address); err == nil {
		_ = conn.Close()
		return false
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
