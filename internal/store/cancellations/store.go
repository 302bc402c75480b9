// Package cancellations has the SQL of requests to cancel what was paid: asking, deciding, expiring. What a cancellation does to a
// booking and to its money is in the packages refunds and bookings.
package cancellations

import (
	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db       *db.DB
	policies models.Policies
	refunds  *refunds.Store
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies, back *refunds.Store) *Store {
	return &Store{db: pool, policies: p, refunds: back}
}
