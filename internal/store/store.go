// Package store puts the packages with the service's SQL together. In these, one exported method is one unit of work: it runs in
// one SQL transaction, takes its row locks in one order (payment transaction, booking or campaign, trip, ledger entry), and
// guards every state change by the state it leaves.
package store

import (
	"context"
	"errors"

	"rihla/internal/inbox"
	"rihla/internal/store/accounts"
	"rihla/internal/store/bookings"
	"rihla/internal/store/cancellations"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/internal/store/outbox"
	"rihla/internal/store/payments"
	"rihla/internal/store/refunds"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// Store is the database of the service, by subject. It is safe for concurrent use.
type Store struct {
	DB        *db.DB
	Accounts  *accounts.Store
	Catalogue *catalogue.Store
	Ledger    *ledger.Store
	Incidents *incidents.Store
	Outbox    *outbox.Store
	Bookings  *bookings.Store
	Payments  *payments.Store
	Refunds   *refunds.Store
	// Cancellations are requests of customers to cancel what they have paid.
	Cancellations *cancellations.Store
	// TripCancellations call trips off.
	TripCancellations *tripcancel.Store
	Inbox             *inbox.Store

	policies models.Policies
}

// Open connects to PostgreSQL. It does not migrate.
func Open(ctx context.Context, url string, p models.Policies, o db.Options) (*Store, error) {
	s, err := OpenLazy(url, p, o)
	if err != nil {
		return nil, err
	}

	if err := s.DB.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}

	return s, nil
}

// OpenLazy is Open for a process that may start before its database: it connects when it is first used.
func OpenLazy(url string, p models.Policies, o db.Options) (*Store, error) {
	pool, err := db.Open(url, o)
	if err != nil {
		return nil, err
	}

	trips := catalogue.New(pool, p)
	booked := bookings.New(pool, p, trips)
	paid := payments.New(pool, p, booked)
	back := refunds.New(pool, p, booked, paid)

	return &Store{
		DB: pool, Accounts: accounts.New(pool, p), Catalogue: trips, Ledger: ledger.New(pool, p), Incidents: incidents.New(pool),
		Outbox: outbox.New(pool, p), Bookings: booked, Payments: paid, Refunds: back, Inbox: inbox.NewStore(pool),
		Cancellations: cancellations.New(pool, p, back), TripCancellations: tripcancel.New(pool, p, trips, paid, back),
		policies: p,
	}, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.DB.Close() }

// Policies are the rules the store was opened with.
func (s *Store) Policies() models.Policies { return s.policies }
