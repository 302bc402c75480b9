package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// SweepCursor is a place in a list of what was left behind, which is longer than what is taken on at once. Who goes on behind it,
// and begins again when the end is reached, comes to everything; who always took the oldest would never come to what is
// behind 500 that stay as they are. The zero cursor is the beginning.
type SweepCursor struct {
	At time.Time
	ID uuid.UUID
}

// Is reports whether both are the same place.
func (t SweepCursor) Is(other SweepCursor) bool { return t.At.Equal(other.At) && t.ID == other.ID }

// After narrows a list, which is ordered by a time and an id, to what is behind the place.
func (t SweepCursor) After(q *bun.SelectQuery, at, id string, limit int) *bun.SelectQuery {
	if !t.At.IsZero() {
		q = q.Where("(?, ?) > (?, ?)", bun.Ident(at), bun.Ident(id), t.At, t.ID)
	}

	return q.OrderExpr("?, ?", bun.Ident(at), bun.Ident(id)).Limit(int64(limit))
}

// NextSweepCursor is the place behind the rows that were read: that of the last one, or the beginning when these were all.
func NextSweepCursor[T any](rows []T, limit int, place func(*T) SweepCursor) SweepCursor {
	if len(rows) < limit || limit == 0 {
		return SweepCursor{}
	}

	return place(&rows[len(rows)-1])
}

// SweepCursor is how far the sweep has come in the list, the zero cursor if it is at its beginning.
func (s *DB) SweepCursor(ctx context.Context, list string) (SweepCursor, error) {
	var t SweepCursor

	err := s.Raw.QueryRowContext(ctx, "SELECT at, id FROM sweep_turns WHERE list = $1 AND id <> $2", list, uuid.Nil).Scan(&t.At, &t.ID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return SweepCursor{}, fmt.Errorf("read sweep cursor of %s: %w", list, err)
	}

	return t, nil
}

// SaveSweepCursor keeps how far the sweep has come. It is saved before the work is done: a sweep that is cut off must not begin at
// the same place for ever.
func (s *DB) SaveSweepCursor(ctx context.Context, list string, t SweepCursor) error {
	_, err := s.Raw.ExecContext(ctx, `INSERT INTO sweep_turns (list, at, id) VALUES ($1, $2, $3)
		ON CONFLICT (list) DO UPDATE SET at = EXCLUDED.at, id = EXCLUDED.id, updated_at = now()`, list, t.At, t.ID)
	if err != nil {
		return fmt.Errorf("save sweep cursor of %s: %w", list, err)
	}

	return nil
}
