package db

import (
	"context"
	"fmt"
	"time"
)

// WALArchive says how far PostgreSQL is with archiving its write-ahead log.
type WALArchive struct {
	On bool // archive_mode; all else is zero when it is off
	// Behind is how long ago the last segment was archived while one that is complete waits; 0: none waits.
	Behind time.Duration
	// Failed is how often archive_command has failed since the figures were reset.
	Failed int64
}

// WALArchive reads what pg_stat_archiver says, which every role may. A segment is complete when the server writes into a later one.
func (s *DB) WALArchive(ctx context.Context) (WALArchive, error) {
	var (
		a       WALArchive
		seconds float64
	)

	err := s.NewRaw(`WITH size AS (SELECT pg_size_bytes(current_setting('wal_segment_size')) AS bytes),
		at AS (SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE div((pg_current_wal_lsn() - '0/0')::numeric, bytes) END AS segment FROM size),
		-- Timeline, then log and segment, each 8 digits; of a backup's or a timeline's history only the first 24 count.
		last AS (SELECT a.failed_count, a.last_archived_time, a.stats_reset,
			('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * (4294967296 / bytes)
			+ ('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint AS segment
			FROM pg_stat_archiver AS a, size WHERE last_archived_wal IS NULL OR last_archived_wal ~ '^[0-9A-F]{24}')
		SELECT current_setting('archive_mode') <> 'off', coalesce(last.failed_count, 0),
			CASE WHEN at.segment - 1 > coalesce(last.segment, 1) THEN greatest(0, extract(epoch FROM clock_timestamp()
				- coalesce(last.last_archived_time, last.stats_reset, pg_postmaster_start_time())))
			ELSE 0 END::float8
		FROM at LEFT JOIN last ON true`).Scan(ctx, &a.On, &a.Failed, &seconds)
	if err != nil {
		return WALArchive{}, fmt.Errorf("read how far the archive of the write-ahead log is: %w", err)
	}

	if !a.On {
		return WALArchive{}, nil
	}

	a.Behind = time.Duration(seconds * float64(time.Second))

	return a, nil
}
