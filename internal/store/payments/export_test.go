package payments

import (
	"context"
	"log/slog"
	"time"
)

// ListenDashboardFor is ListenDashboard of another patience.
func ListenDashboardFor(
	ctx context.Context, s *Store, silence, answer time.Duration, ready func(), hear func(DashboardEvent),
) error {
	return s.listenDashboard(ctx, slog.New(slog.DiscardHandler), listenTimeouts{idle: silence, ping: answer}, ready, hear)
}
