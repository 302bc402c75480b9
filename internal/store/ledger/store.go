// Package ledger has the SQL of financial records and their transfers, payouts, balances, reports and exports.
package ledger

import (
	"rihla/internal/store/db"
)

// Store is safe for concurrent use.
type Store struct {
	db *db.DB
}

// New is the store on a pool of connections.
func New(pool *db.DB) *Store { return &Store{db: pool} }
