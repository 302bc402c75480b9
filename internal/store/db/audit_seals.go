package db

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// sealedAtOnce bounds the entries of a seal, and of one SQL transaction.
const sealedAtOnce = 5000

// SealAudit seals the entries of the audit log that no seal covers yet, and counts them (rules: audit.seals). An entry whose transaction
// has not ended is left to a later seal. Concurrent callers do not wait: there is nothing to do for all but one of them.
func (s *DB) SealAudit(ctx context.Context) (sealed int64, err error) {
	for {
		var n int64
		if err := s.Raw.QueryRowContext(ctx, "SELECT seal_audit_log($1)", pgx.QueryExecModeCacheStatement, sealedAtOnce).Scan(&n); err != nil {
			return sealed, fmt.Errorf("seal the audit log: %w", err)
		}

		if sealed += n; n < sealedAtOnce {
			return sealed, nil
		}
	}
}

// AuditSeal is a link of the chain: who keeps its number and hash elsewhere can tell later that nothing before it was changed.
type AuditSeal struct {
	Number   int64     `json:"number"` // from 1; 0: there is no seal yet
	Hash     string    `json:"hash"`   // SHA-256, hexadecimal
	SealedAt time.Time `json:"sealed_at"`
}

// String is NUMBER:HASH, as rihla audit takes it; empty without a seal.
func (s AuditSeal) String() string {
	if s.Number == 0 {
		return ""
	}

	return fmt.Sprintf("%d:%s", s.Number, s.Hash)
}

// NewestAuditSeal is the last seal; the zero value when there is none.
func (s *DB) NewestAuditSeal(ctx context.Context) (AuditSeal, error) {
	var (
		seal AuditSeal
		hash []byte
	)

	err := s.NewRaw("SELECT number, hash, sealed_at FROM audit_seals ORDER BY number DESC LIMIT 1").
		Scan(ctx, &seal.Number, &hash, &seal.SealedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return AuditSeal{}, nil
	}

	if err != nil {
		return AuditSeal{}, fmt.Errorf("read the newest seal: %w", err)
	}

	seal.Hash, seal.SealedAt = hex.EncodeToString(hash), seal.SealedAt.UTC()

	return seal, nil
}

// UnsealedAuditAge is how long the oldest entry of the audit log has waited for a seal, and 0 when none waits. Entries from before there
// were seals count from when sealing them could begin.
func (s *DB) UnsealedAuditAge(ctx context.Context) (time.Duration, error) {
	var seconds float64

	err := s.NewRaw(`SELECT greatest(0, coalesce(extract(epoch FROM clock_timestamp() - least(
		(SELECT min(noted_at) FROM audit_unsealed), (SELECT begun_at FROM audit_seal_start))), 0))::float8`).Scan(ctx, &seconds)
	if err != nil {
		return 0, fmt.Errorf("read the age of unsealed entries: %w", err)
	}

	return time.Duration(seconds * float64(time.Second)), nil
}
