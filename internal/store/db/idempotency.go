package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/models"
)

// KeyScope is one use of an Idempotency-Key: keys of other users, methods and paths are other keys (rules: idempotency.replay).
type KeyScope struct {
	UserID   uuid.UUID
	Method   string
	Path     string // with its ids in lower case, without the query
	Key      uuid.UUID
	BodyHash []byte // SHA-256 of the body's content; order of fields and spaces do not count
}

// Claim is what a key says: do the work (ID is set), or give this answer again.
type Claim struct {
	// ID is the right to do the work. What a request does under a claim that it has lost meanwhile, because it was held
	// up for longer than its lease, is rolled back. uuid.Nil when there is nothing left to do.
	ID uuid.UUID
	// ResourceID is what an earlier request with the key has made and not lived to answer for; uuid.Nil for nothing.
	ResourceID uuid.UUID
	// Answer is that of the request which did the work; zero when ID is set.
	Answer Answer
}

// Answer is what a request was answered with.
type Answer struct {
	Status   int
	Location string // empty for none
	Body     []byte
}

// KeyLifetime is how long a stored answer is given again (rules: idempotency.replay).
const KeyLifetime = 24 * time.Hour

// The claim and its judgement are two statements, and the row can be released between them.
const maxClaimTries = 5

// A row is written over when it is too old to count, or when its owner died, or failed, and left the work undone. The
// second owner gets the id of what the first has made.
const claimKeySQL = `
INSERT INTO idempotency_keys AS k (user_id, method, path, key, body_hash, locked_until, claim)
VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 microsecond', $8)
ON CONFLICT (user_id, method, path, key) DO UPDATE
SET body_hash = EXCLUDED.body_hash, locked_until = EXCLUDED.locked_until, claim = EXCLUDED.claim,
    status = NULL, location = '', body = NULL, created_at = now(),
    resource_id = CASE WHEN k.created_at >= now() - $7 * interval '1 microsecond' THEN k.resource_id END
WHERE k.created_at < now() - $7 * interval '1 microsecond'
   OR (k.status IS NULL AND k.locked_until <= now() AND k.body_hash = EXCLUDED.body_hash)
RETURNING k.resource_id`

// ClaimKey takes a key for the request that runs now, for at most the lease, or says what became of the request
// that has it. Errors: IDEMPOTENCY_KEY_REUSED (another body), IDEMPOTENCY_KEY_IN_PROGRESS (still running).
func (s *DB) ClaimKey(ctx context.Context, k KeyScope, lease time.Duration) (Claim, error) {
	id := models.NewID()

	for range maxClaimTries {
		var resource uuid.NullUUID

		err := s.Raw.QueryRowContext(ctx, claimKeySQL, pgx.QueryExecModeCacheStatement,
			k.UserID, k.Method, k.Path, k.Key, k.BodyHash, lease.Microseconds(), KeyLifetime.Microseconds(), id).Scan(&resource)
		if err == nil {
			return Claim{ID: id, ResourceID: resource.UUID}, nil
		}

		if !errors.Is(err, sql.ErrNoRows) {
			return Claim{}, fmt.Errorf("claim idempotency key: %w", err)
		}

		answer, err := s.claimed(ctx, k)
		if !errors.Is(err, sql.ErrNoRows) {
			return Claim{Answer: answer}, err
		}
	}

	return Claim{}, errors.New("the idempotency key is claimed and released over and over")
}

// claimed reads a key that has an owner; sql.ErrNoRows when it is gone meanwhile.
func (s *DB) claimed(ctx context.Context, k KeyScope) (Answer, error) {
	var (
		hash   []byte
		status *int
		a      Answer
	)

	err := s.Raw.QueryRowContext(ctx, `
		SELECT body_hash, status, location, body FROM idempotency_keys
		WHERE user_id = $1 AND method = $2 AND path = $3 AND key = $4`, pgx.QueryExecModeCacheStatement,
		k.UserID, k.Method, k.Path, k.Key).Scan(&hash, &status, &a.Location, &a.Body)

	switch {
	case err != nil:
		return Answer{}, err
	case !bytes.Equal(hash, k.BodyHash):
		return Answer{}, models.NewError(models.CodeIdempotencyKeyReused, "idempotency.other_body")
	case status == nil:
		return Answer{}, models.NewError(models.CodeIdempotencyKeyInProcess, "idempotency.running")
	}

	a.Status = *status

	return a, nil
}

// RenewKey gives the request that has the key a new lease, from now on. A claim that was lost stays lost.
func (s *DB) RenewKey(ctx context.Context, claim uuid.UUID, lease time.Duration) error {
	_, err := s.Raw.ExecContext(ctx, `
		UPDATE idempotency_keys SET locked_until = now() + $2 * interval '1 microsecond'
		WHERE claim = $1 AND status IS NULL`, pgx.QueryExecModeCacheStatement, claim, lease.Microseconds())
	if err != nil {
		return fmt.Errorf("renew idempotency key: %w", err)
	}

	return nil
}

const completeKeySQL = `
UPDATE idempotency_keys SET status = $2, location = $3, body = $4 WHERE claim = $1 AND status IS NULL`

// CompleteKey keeps the answer of the request that has the key. The first answer stays, above all the one that was
// kept together with the effect (Once). That of a claim that was lost is dropped.
func (s *DB) CompleteKey(ctx context.Context, claim uuid.UUID, a Answer) error {
	_, err := s.Raw.ExecContext(ctx, completeKeySQL, pgx.QueryExecModeCacheStatement, claim, a.Status, a.Location, a.Body)
	if err != nil {
		return fmt.Errorf("complete idempotency key: %w", err)
	}

	return nil
}

// ReleaseKey ends the claim of a request that failed with an answer that is not kept, so that it can be tried again. The
// key stays bound to its body, and to what the request has made. A completed key stays.
func (s *DB) ReleaseKey(ctx context.Context, claim uuid.UUID) error {
	_, err := s.Raw.ExecContext(ctx, `
		UPDATE idempotency_keys SET locked_until = now() WHERE claim = $1 AND status IS NULL`,
		pgx.QueryExecModeCacheStatement, claim)
	if err != nil {
		return fmt.Errorf("release idempotency key: %w", err)
	}

	return nil
}

// BindKey notes what the request that has the key is about to make, where another component makes it, in a transaction of
// its own: the next owner of the key finds it by this id (Claim.ResourceID). No claim, no effect. Error:
// IDEMPOTENCY_KEY_IN_PROGRESS when the claim was lost.
func (s *DB) BindKey(ctx context.Context, claim, resource uuid.UUID) error {
	return BindKey(ctx, s, claim, resource)
}

// BindKey is BindKey in the transaction that makes the resource. It locks the key: until the transaction ends no request can
// take it over.
func BindKey(ctx context.Context, db bun.IDB, claim, resource uuid.UUID) error {
	if claim == uuid.Nil {
		return nil
	}

	res, err := db.ExecContext(ctx,
		"UPDATE idempotency_keys SET resource_id = ? WHERE claim = ? AND status IS NULL", resource, claim)

	return requireClaim(res, err)
}

// Once has a unit of work leave the answer of its request behind in its own SQL transaction: a request that is killed
// right after it, before it could answer, is answered when it is repeated, and not run again. The zero value is a
// request without an Idempotency-Key.
type Once[T any] struct {
	Claim uuid.UUID // Claim.ID
	// Answer encodes what the unit of work returns. It must have no effect of its own: it may run more than once.
	Answer func(T) (Answer, error)
}

// Keep stores the answer to result. Error: IDEMPOTENCY_KEY_IN_PROGRESS when the claim was lost; the caller must then
// roll its transaction back.
func (o Once[T]) Keep(ctx context.Context, tx bun.Tx, result T) error {
	if o.Claim == uuid.Nil {
		return nil
	}

	a, err := o.Answer(result)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}

	res, err := tx.Tx.ExecContext(ctx, completeKeySQL, pgx.QueryExecModeCacheStatement, o.Claim, a.Status, a.Location, a.Body)

	return requireClaim(res, err)
}

// requireClaim turns an update of no row into the answer to a request that has lost its claim.
func requireClaim(res sql.Result, err error) error {
	if err != nil {
		return fmt.Errorf("write idempotency key: %w", err)
	}

	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}

	return ErrClaimLost()
}

// ErrClaimLost is IDEMPOTENCY_KEY_IN_PROGRESS, the answer to a request that has lost its claim.
func ErrClaimLost() error {
	return models.NewError(models.CodeIdempotencyKeyInProcess, "idempotency.taken_over")
}

// PurgeKeys deletes the keys that were claimed longer ago than the given time, KeyLifetime or more, and counts them.
func (s *DB) PurgeKeys(ctx context.Context, olderThan time.Duration) (int64, error) {
	res, err := s.ExecContext(ctx,
		"DELETE FROM idempotency_keys WHERE created_at < now() - ? * interval '1 microsecond'", olderThan.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("purge idempotency keys: %w", err)
	}

	return res.RowsAffected()
}
