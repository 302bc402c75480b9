package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Shards is into how many parts the addresses are divided, by a hash. The messages of an address are delivered by the owner of its
// shard, one after another. Processes of all versions have to agree about the number: it is not a setting.
const Shards = 8

// shardOf is the shard of a row, in SQL.
var shardOf = "(hashtextextended(" + mailboxSQL + ", 0) & 7)::int"

// AllShards are the numbers of all of them.
func AllShards() []int {
	all := make([]int, Shards)
	for i := range all {
		all[i] = i
	}

	return all
}

// deliveryLease is how long a deliverer that was killed keeps its shards, and the rows that it has claimed, from the next one. A
// living one renews both (LeaseShards, KeepNotifications) well within that time. The outbox workflow tries again no sooner.
const deliveryLease = 3 * time.Second

// DeliveryLease is deliveryLease, for those that deliver: one that could not renew its lease for so long sends nothing more.
const DeliveryLease = deliveryLease

const leaseShardsSQL = `INSERT INTO outbox_shards AS s (shard, owner, leased_until) SELECT unnest($1::int[]), $2, $3
	ON CONFLICT (shard) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until,
		taken_over = s.owner IS NOT NULL AND s.owner <> excluded.owner
	WHERE s.owner IS NULL OR s.owner = excluded.owner OR s.leased_until <= $4
	RETURNING shard, taken_over`

// LeaseShards takes those of some shards for their deliverer that no other one holds, and renews those that it holds already; shards are
// in ascending order. It returns which the deliverer holds now. What a killed deliverer has claimed of them and not tried before is due
// again at once, so that a later message to the same address does not come before it.
func (s *Store) LeaseShards(ctx context.Context, owner uuid.UUID, shards []int, now time.Time) (held []int, err error) {
	rows, err := s.db.Raw.QueryContext(ctx, leaseShardsSQL, pgx.QueryExecModeCacheStatement, shards, owner, now.Add(deliveryLease), now)
	if err != nil {
		return nil, fmt.Errorf("lease shards: %w", err)
	}
	defer rows.Close()

	var lost []int

	for rows.Next() {
		var (
			shard int
			taken bool
		)

		if err := rows.Scan(&shard, &taken); err != nil {
			return nil, fmt.Errorf("lease shards: %w", err)
		}

		held = append(held, shard)

		if taken {
			lost = append(lost, shard)
		}
	}

	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("lease shards: %w", err)
	}

	return held, s.unclaim(ctx, lost, now)
}

// unclaim has what a killed deliverer has claimed of its shards delivered in the old order. Rows that had failed before it wait for their
// lease: later ones have overtaken them already. A row with a fresh lease stays claimed: a deliverer of a version that knows of no shards
// has it.
func (s *Store) unclaim(ctx context.Context, shards []int, now time.Time) error {
	if len(shards) == 0 {
		return nil
	}

	_, err := s.db.Raw.ExecContext(ctx, `UPDATE notifications SET next_attempt_at = created_at
		WHERE status = 'PENDING' AND attempts = 1 AND last_error = '' AND next_attempt_at > created_at AND next_attempt_at <= $2
			AND `+shardOf+` = ANY($1)`, pgx.QueryExecModeCacheStatement, shards, now.Add(deliveryLease/2))
	if err != nil {
		return fmt.Errorf("take over claimed notifications: %w", err)
	}

	return nil
}

// ReleaseShards lets go of all shards of a deliverer.
func (s *Store) ReleaseShards(ctx context.Context, owner uuid.UUID) error {
	_, err := s.db.Raw.ExecContext(ctx, `UPDATE outbox_shards SET owner = NULL, taken_over = false WHERE owner = $1`,
		pgx.QueryExecModeCacheStatement, owner)
	if err != nil {
		return fmt.Errorf("release shards: %w", err)
	}

	return nil
}
