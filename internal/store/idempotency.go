package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"rihla/models"
)

// KeyScope is one use of an Idempotency-Key: keys of other users, methods and paths are other keys (contract §1).
type KeyScope struct {
	UserID   uuid.UUID
	Method   string
	Path     string
	Key      uuid.UUID
	BodyHash []byte
}

// Claim is what a key says: do the work (Fresh), or give this answer again.
type Claim struct {
	Fresh    bool
	Status   int
	Location string
	Body     []byte
}

// KeyLifetime is how long a stored answer is given again (contract §1).
const KeyLifetime = 24 * time.Hour

// The claim and its judgement are two statements, and the row can be released between them.
const maxClaimTries = 5

// A row is written over when it is too old to count, or when its owner died and left the work undone. What the
// second owner does is what the first did: the ids of the things that a request makes derive from its key.
const claimKeySQL = `
INSERT INTO idempotency_keys AS k (user_id, method, path, key, body_hash, locked_until)
VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 microsecond')
ON CONFLICT (user_id, method, path, key) DO UPDATE
SET body_hash = EXCLUDED.body_hash, locked_until = EXCLUDED.locked_until,
    status = NULL, location = '', body = NULL, created_at = now()
WHERE k.created_at < now() - $7 * interval '1 microsecond'
   OR (k.status IS NULL AND k.locked_until <= now() AND k.body_hash = EXCLUDED.body_hash)`

// ClaimKey takes a key for the request that runs now, for at most the lease, or says what became of the request
// that has it. Errors: IDEMPOTENCY_KEY_REUSED (another body), IDEMPOTENCY_KEY_IN_PROGRESS (still running).
func (s *Store) ClaimKey(ctx context.Context, k KeyScope, lease time.Duration) (Claim, error) {
	for range maxClaimTries {
		res, err := s.raw.ExecContext(ctx, claimKeySQL, pgx.QueryExecModeCacheStatement,
			k.UserID, k.Method, k.Path, k.Key, k.BodyHash, lease.Microseconds(), KeyLifetime.Microseconds())
		if err != nil {
			return Claim{}, fmt.Errorf("claim idempotency key: %w", err)
		}

		if n, err := res.RowsAffected(); err != nil || n == 1 {
			return Claim{Fresh: true}, err
		}

		claim, err := s.claimed(ctx, k)
		if !errors.Is(err, sql.ErrNoRows) {
			return claim, err
		}
	}

	return Claim{}, errors.New("the idempotency key is claimed and released over and over")
}

// claimed reads a key that somebody has; sql.ErrNoRows when it was released meanwhile.
func (s *Store) claimed(ctx context.Context, k KeyScope) (Claim, error) {
	var (
		hash   []byte
		status *int
		c      Claim
	)

	err := s.raw.QueryRowContext(ctx, `
		SELECT body_hash, status, location, body FROM idempotency_keys
		WHERE user_id = $1 AND method = $2 AND path = $3 AND key = $4`, pgx.QueryExecModeCacheStatement,
		k.UserID, k.Method, k.Path, k.Key).Scan(&hash, &status, &c.Location, &c.Body)

	switch {
	case err != nil:
		return Claim{}, err
	case !bytes.Equal(hash, k.BodyHash):
		return Claim{}, models.Errorf(models.CodeIdempotencyKeyReused, "The Idempotency-Key was used with another body.")
	case status == nil:
		return Claim{}, models.Errorf(models.CodeIdempotencyKeyInProcess, "The first request with this Idempotency-Key is still running.")
	}

	c.Status = *status

	return c, nil
}

// RenewKey gives the request that has the key a new lease, from now on.
func (s *Store) RenewKey(ctx context.Context, k KeyScope, lease time.Duration) error {
	_, err := s.raw.ExecContext(ctx, `
		UPDATE idempotency_keys SET locked_until = now() + $6 * interval '1 microsecond'
		WHERE user_id = $1 AND method = $2 AND path = $3 AND key = $4 AND body_hash = $5 AND status IS NULL`,
		pgx.QueryExecModeCacheStatement, k.UserID, k.Method, k.Path, k.Key, k.BodyHash, lease.Microseconds())
	if err != nil {
		return fmt.Errorf("renew idempotency key: %w", err)
	}

	return nil
}

// CompleteKey keeps the answer of the request that has the key. The first answer stays.
func (s *Store) CompleteKey(ctx context.Context, k KeyScope, status int, location string, body []byte) error {
	_, err := s.raw.ExecContext(ctx, `
		UPDATE idempotency_keys SET status = $6, location = $7, body = $8
		WHERE user_id = $1 AND method = $2 AND path = $3 AND key = $4 AND body_hash = $5 AND status IS NULL`,
		pgx.QueryExecModeCacheStatement, k.UserID, k.Method, k.Path, k.Key, k.BodyHash, status, location, body)
	if err != nil {
		return fmt.Errorf("complete idempotency key: %w", err)
	}

	return nil
}

// ReleaseKey ends the claim of a request that failed with an answer that is not kept, so that it can be tried again. The
// key stays bound to its body: whatever the request has set going must not answer for another one. A completed key stays.
func (s *Store) ReleaseKey(ctx context.Context, k KeyScope) error {
	_, err := s.raw.ExecContext(ctx, `
		UPDATE idempotency_keys SET locked_until = now()
		WHERE user_id = $1 AND method = $2 AND path = $3 AND key = $4 AND body_hash = $5 AND status IS NULL`,
		pgx.QueryExecModeCacheStatement, k.UserID, k.Method, k.Path, k.Key, k.BodyHash)
	if err != nil {
		return fmt.Errorf("release idempotency key: %w", err)
	}

	return nil
}

// PurgeKeys deletes the keys that were claimed longer ago than the given time, KeyLifetime or more, and counts them.
func (s *Store) PurgeKeys(ctx context.Context, olderThan time.Duration) (int64, error) {
	res, err := s.db.ExecContext(ctx,
		"DELETE FROM idempotency_keys WHERE created_at < now() - ? * interval '1 microsecond'", olderThan.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("purge idempotency keys: %w", err)
	}

	return res.RowsAffected()
}
