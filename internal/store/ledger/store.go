// Package ledger has the SQL of ledger entries and their transfers, payouts, balances, reports and exports.
package ledger

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
