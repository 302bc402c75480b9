package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// Watch shows a test the queries that the store sends from now on.
func Watch(s *Store, hook bun.QueryHook) { s.db = s.db.WithQueryHook(hook) }

// ListenDashboardFor is ListenDashboard of another patience.
func ListenDashboardFor(
	ctx context.Context, s *Store, silence, answer time.Duration, ready func(), hear func(DashboardEvent),
) error {
	return s.listenDashboard(ctx, listening{silence: silence, answer: answer}, ready, hear)
}
