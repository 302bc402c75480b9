// Package incidents has the SQL of what operators have to look at.
package incidents

import (
	"rihla/internal/store/db"
)

// Store is safe for concurrent use.
type Store struct {
	db *db.DB
}

// New is the store on a pool of connections.
func New(pool *db.DB) *Store { return &Store{db: pool} }
