// Package catalogue has the SQL of what companies offer: providers, buses, hotels, rest stops, trips and campaigns, and the
// scope in which a caller sees them.
package catalogue

import (
	"rihla/internal/store/db"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db       *db.DB
	policies models.Policies
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies) *Store { return &Store{db: pool, policies: p} }
