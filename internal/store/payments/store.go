// Package payments has the SQL of payment attempts: opening, webhook events, settling, ending, and what is left to ask the gateways.
package payments

import (
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db       *db.DB
	policies models.Policies
	bookings *bookings.Store
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies, booked *bookings.Store) *Store {
	return &Store{db: pool, policies: p, bookings: booked}
}
