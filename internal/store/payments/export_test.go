package payments

import (
	"context"
	"log/slog"
	"time"
)

// ListenFor is Listen of another patience.
func ListenFor(ctx context.Context, s *Store, silence, answer time.Duration, l Listener) error {
	return s.listen(ctx, slog.New(slog.DiscardHandler), listenTimeouts{idle: silence, ping: answer}, l)
}
