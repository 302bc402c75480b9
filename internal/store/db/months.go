package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// lockNotAvailable is what PostgreSQL says when a lock was waited for longer than lock_timeout.
const lockNotAvailable = "55P03"

// MakeMonths makes the partitions of this month and of so many to come that are still missing, and counts them. Where payments would
// have to wait for that, it makes none, which is no error: there is time until the month begins, and a row without a partition of its
// month goes into the default one.
func (s *DB) MakeMonths(ctx context.Context, ahead int) (made int, err error) {
	err = s.NewRaw("SELECT make_months(?)", ahead).Scan(ctx, &made)

	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == lockNotAvailable {
		return 0, nil
	}

	if err != nil {
		return 0, fmt.Errorf("make months: %w", err)
	}

	return made, nil
}
