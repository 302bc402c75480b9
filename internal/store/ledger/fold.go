package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// foldAtMost bounds the deltas of one fold, and so how long its transaction takes: some hundred milliseconds.
const foldAtMost = 10_000

// FoldReports adds what ledger entries have added to the sums of reports since the last fold to the rows that hold them, and returns how
// many deltas it was. Readers see the same sums before and after. Concurrent callers do not wait: there is nothing to do for all but
// one of them.
func (s *Store) FoldReports(ctx context.Context) (folded int64, err error) {
	for n := int64(foldAtMost); n == foldAtMost; folded += n {
		err := s.db.Raw.QueryRowContext(ctx, "SELECT fold_reports($1)", pgx.QueryExecModeCacheStatement, foldAtMost).Scan(&n)
		if err != nil {
			return folded, fmt.Errorf("fold sums of reports: %w", err)
		}
	}

	return folded, nil
}
