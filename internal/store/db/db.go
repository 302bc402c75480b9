// Package db is the connection to PostgreSQL and what every package with SQL shares: transactions, pages of lists, idempotency
// keys, entries of the audit log, migrations.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"rihla/models"
)

// DB is the pool of connections. It is safe for concurrent use.
type DB struct {
	*bun.DB

	Raw    *sql.DB         // the same pool, for the few hot reads with prepared statements, and for the audit
	Config *pgx.ConnConfig // for connections outside the pool
	Counts Counts          // of large lists
}

// Options size the connection pool.
type Options struct {
	MaxConns        int           // default 20
	MaxIdleConns    int           // default MaxConns
	ConnMaxLifetime time.Duration // 0: no limit
	ConnMaxIdleTime time.Duration // default 5 minutes
	// StatementTimeout and IdleInTxTimeout have the server end what takes longer; 0: never.
	StatementTimeout time.Duration
	IdleInTxTimeout  time.Duration
}

func (o Options) withDefaults() Options {
	if o.MaxConns == 0 {
		o.MaxConns = 20
	}

	if o.MaxIdleConns == 0 {
		o.MaxIdleConns = o.MaxConns
	}

	if o.ConnMaxIdleTime == 0 {
		o.ConnMaxIdleTime = 5 * time.Minute
	}

	return o
}

// Open is a pool that connects when it is first used: a process may start before its database. It does not migrate.
func Open(url string, o Options) (*DB, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		// The parse error quotes the URL, and that holds a password.
		return nil, errors.New("DATABASE_URL is not a PostgreSQL address")
	}
	// Bun writes its arguments into the text of the query: preparing every text would cost a round trip each.
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	cfg.RuntimeParams["timezone"] = "UTC"

	for name, limit := range map[string]time.Duration{
		"statement_timeout": o.StatementTimeout, "idle_in_transaction_session_timeout": o.IdleInTxTimeout,
	} {
		if limit > 0 {
			cfg.RuntimeParams[name] = strconv.FormatInt(limit.Milliseconds(), 10)
		}
	}

	o = o.withDefaults()

	raw := sql.OpenDB(connector{Connector: stdlib.GetConnector(*cfg), changed: new(atomic.Int64)})
	raw.SetMaxOpenConns(o.MaxConns)
	raw.SetMaxIdleConns(o.MaxIdleConns)
	raw.SetConnMaxLifetime(o.ConnMaxLifetime)
	raw.SetConnMaxIdleTime(o.ConnMaxIdleTime)

	// A column that a newer version has added is not this one's business: while replicas are replaced, both run.
	return &DB{DB: bun.NewDB(raw, pgdialect.New(), bun.WithDiscardUnknownColumns()), Raw: raw, Config: cfg}, nil
}

// Ping reports whether the database answers.
func (s *DB) Ping(ctx context.Context) error {
	if err := s.Raw.PingContext(ctx); err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}

	return nil
}

// MaxTxTries bounds how often a transaction that lost a deadlock or serialization race is run again.
const MaxTxTries = 4

// InTx runs fn in one SQL transaction and runs it again when PostgreSQL chose it as a deadlock victim, or when a table was changed under
// a prepared statement. fn must therefore have no effect outside the transaction, and set what it returns anew each time.
func (s *DB) InTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return s.Retry(func() error { return s.RunInTx(ctx, nil, fn) })
}

// Retry is InTx for a unit of work that is one statement, and so a transaction by itself.
func (*DB) Retry(do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == MaxTxTries || !isRetryable(err) {
			return err
		}
	}
}

// The SQLSTATEs that the store tells apart.
const (
	stateUniqueViolation = "23505"
	stateForeignKey      = "23503"
	stateCheckViolation  = "23514"
	stateSerialization   = "40001"
	stateDeadlock        = "40P01"
	stateNotSupported    = "0A000"
)

func isRetryable(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)

	// Two bookings that get the same random number in the same moment are as rare; the next try gets another.
	return ok && (e.Code == stateSerialization || e.Code == stateDeadlock || isStalePlan(err) ||
		e.Code == stateUniqueViolation && e.ConstraintName == "bookings_number")
}

// Violates reports whether err is a violation of the named constraint or unique index.
func Violates(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)

	return ok && e.ConstraintName == constraint
}

// NotFound turns "no rows" into the domain's NOT_FOUND.
func NotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return models.NotFound()
	}

	return err
}
