package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const loopback = "127.0.0.1"

// Free ports are looked for below those that systems give to outgoing connections (32768 and up on Linux, 49152 elsewhere): no
// connection takes one by chance before it is listened on, or while its listener is killed and started again.
const (
	lowestPort  = 20000
	highestPort = 32767
	portTries   = 200
)

// handedOut are the ports that this process has been given, each once.
var handedOut sync.Map

// Port returns preferred when nothing listens on it on 127.0.0.1, else a free port, and then says so in the log. With preferred 0
// any free port will do and nothing is logged. Two processes that start at once get different ones: a preferred port stays reserved for the
// first until that process ends. Other programs know nothing of it: listen soon.
func Port(ctx context.Context, log *slog.Logger, preferred int) (int, error) {
	if preferred > 0 && reserve(preferred) && portIsFree(ctx, preferred) {
		return preferred, nil
	}
	for range portTries {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1) //nolint:gosec // no secret
		if _, taken := handedOut.LoadOrStore(port, true); taken || !portIsFree(ctx, port) {
			continue
		}
		if preferred > 0 {
			orDiscard(log).InfoContext(ctx, fmt.Sprintf("port %d is taken, using %d", preferred, port))
		}
		return port, nil
	}
	return 0, fmt.Errorf("find a free port: none of %d that were tried is free", portTries)
}

// reservations are the locks of this process, by their port: what it was given once it may be given again.
var reservations sync.Map

// reserve reports whether the port is not another process's of this program. Where locks cannot be had it is not known, and true.
func reserve(port int) bool {
	if _, ours := reservations.Load(port); ours {
		return true
	}
	lock := flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("rihla-port-%d.lock", port)))
	got, err := lock.TryLock()
	if got {
		reservations.Store(port, lock)
	}
	return got || err != nil
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
