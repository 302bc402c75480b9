// Package store holds every SQL statement of the service. One exported method is one unit of work: it runs in
// one SQL transaction, takes its row locks in one order (payment transaction, booking or campaign, trip, ledger
// line), and guards every state change by the state it leaves.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"rihla/models"
)

// Store is the database of the service. It is safe for concurrent use.
type Store struct {
	db       *bun.DB
	raw      *sql.DB // for the few hot reads with prepared statements
	connect  *pgx.ConnConfig
	policies Policies
}

// Policies are the money and time rules of configuration (contract §9); their values are copied into rows when
// these are created, so that a change applies to new ones only.
type Policies struct {
	VATBooking  models.Rate
	VATAd       models.Rate
	Commission  models.Rate   // of a new provider
	BookingHold time.Duration // how long seats wait for a payment
	BillHold    time.Duration // the same for bill_payment
	FailAtOnce  bool          // the first failed attempt is final for its booking
	Login       LoginRules
	// Cancellation is what a refund by the policy pays back.
	Cancellation models.CancellationPolicy
	// RescheduleTolerance is how far a trip may be moved before every customer of it may have a full refund.
	RescheduleTolerance time.Duration
	// RescheduleNotice is how long before it leaves a trip is brought forward at the latest when that gives its customers a right
	// to a full refund; 0: at any time.
	RescheduleNotice time.Duration
	// TripMovesPerDay is how often a trip of which seats are taken is moved at most on a day in Riyadh; 0: no limit.
	TripMovesPerDay int
	// What is unpaid at most, per account and per phone, and which share of a trip's seats unpaid bills hold; 0: no limit.
	UnpaidBookings int
	UnpaidSeats    int
	BillShare      models.Rate
	// UnpaidAttempts is how many payments an account may begin within an hour without paying; 0: no limit.
	UnpaidAttempts int
	// AdPerDay is what a campaign costs at least for each of its days, without VAT; 0.00: anything.
	AdPerDay models.Money
	// MessagesPerRecipient is how many e-mails, and how many SMS, an address gets within 24 hours; 0: no limit.
	MessagesPerRecipient int
	// SMSCountries are the country codes to which SMS are sent; none: all.
	SMSCountries []string
	// LateChecks are how long after the end of an attempt without money the gateway is asked again whether it took some,
	// shortest first; none, or 0: never.
	LateChecks []time.Duration
}

// DefaultPolicies are those of contract §9. The limits on what is unpaid, on moves and on messages are those of configuration: none here.
func DefaultPolicies() Policies {
	return Policies{
		VATBooking:   models.MustRate("0.15"),
		VATAd:        models.MustRate("0.20"),
		Commission:   models.MustRate("0.10"),
		BookingHold:  30 * time.Minute,
		BillHold:     72 * time.Hour,
		Login:        LoginRules{PauseMax: 15 * time.Minute, LockAfter: 100},
		Cancellation: models.DefaultCancellationPolicy(),
		LateChecks:   []time.Duration{10 * time.Minute, 2 * time.Hour, 24 * time.Hour},

		RescheduleTolerance: 2 * time.Hour,
		RescheduleNotice:    24 * time.Hour,
	}
}

// Hold is how long an attempt by the method may stay unpaid.
func (p Policies) Hold(m models.PaymentMethod) time.Duration {
	if m == models.MethodBillPayment {
		return p.BillHold
	}

	return p.BookingHold
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

// Open connects to PostgreSQL. It does not migrate.
func Open(ctx context.Context, url string, p Policies, o Options) (*Store, error) {
	s, err := OpenLazy(url, p, o)
	if err != nil {
		return nil, err
	}

	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}

	return s, nil
}

// OpenLazy is Open for a process that may start before its database: it connects when it is first used.
func OpenLazy(url string, p Policies, o Options) (*Store, error) {
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

	raw := stdlib.OpenDB(*cfg)
	raw.SetMaxOpenConns(o.MaxConns)
	raw.SetMaxIdleConns(o.MaxIdleConns)
	raw.SetConnMaxLifetime(o.ConnMaxLifetime)
	raw.SetConnMaxIdleTime(o.ConnMaxIdleTime)

	// A column that a newer version has added is not this one's business: while replicas are replaced, both run.
	return &Store{db: bun.NewDB(raw, pgdialect.New(), bun.WithDiscardUnknownColumns()), raw: raw, connect: cfg, policies: p}, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.db.Close() }

// Policies are the rules the store was opened with.
func (s *Store) Policies() Policies { return s.policies }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.raw.PingContext(ctx); err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}

	return nil
}

// maxTxTries bounds how often a transaction that lost a deadlock or serialization race is run again.
const maxTxTries = 4

// inTx runs fn in one SQL transaction and runs it again when PostgreSQL chose it as a deadlock victim. fn must
// therefore have no effect outside the transaction.
func (s *Store) inTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	for try := 1; ; try++ {
		err := s.db.RunInTx(ctx, nil, fn)
		if err == nil || try == maxTxTries || !isRetryable(err) {
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
)

func isRetryable(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)

	// Two bookings that get the same random number in the same moment are as rare; the next try gets another.
	return ok && (e.Code == stateSerialization || e.Code == stateDeadlock ||
		e.Code == stateUniqueViolation && e.ConstraintName == "bookings_number")
}

// violates reports whether err is a violation of the named constraint or unique index.
func violates(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)

	return ok && e.ConstraintName == constraint
}

// found turns "no rows" into the domain's NOT_FOUND.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return models.NotFound()
	}

	return err
}
