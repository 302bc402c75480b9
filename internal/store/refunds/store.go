// Package refunds has the SQL of refunds: orders, what was sent to the gateways, manual payouts, settling.
package refunds

import (
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db       *db.DB
	policies models.Policies
	bookings *bookings.Store
	payments *payments.Store
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies, booked *bookings.Store, paid *payments.Store) *Store {
	return &Store{db: pool, policies: p, bookings: booked, payments: paid}
}
