package payments

import (
	"context"
	"time"
)

// ListenDashboardFor is ListenDashboard of another patience.
func ListenDashboardFor(
	ctx context.Context, s *Store, silence, answer time.Duration, ready func(), hear func(DashboardEvent),
) error {
	return s.listenDashboard(ctx, listenTimeouts{idle: silence, ping: answer}, ready, hear)
}
