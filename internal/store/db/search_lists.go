package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CleanSearchLists moves the new entries of the indexes that searches read, and that every payment writes to, from the lists where
// payments have left them into the trees of the indexes, if they have become many (migration 0034). It returns how many pages the lists
// had. Searches find the same before and after. Concurrent callers do not wait: there is nothing to do for all but one of them.
func (s *DB) CleanSearchLists(ctx context.Context) (pages int64, err error) {
	err = s.Raw.QueryRowContext(ctx, "SELECT clean_search_lists()", pgx.QueryExecModeCacheStatement).Scan(&pages)
	if err != nil {
		return 0, fmt.Errorf("clean lists of search indexes: %w", err)
	}

	return pages, nil
}
