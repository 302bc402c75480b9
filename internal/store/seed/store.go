// Package seed has the SQL of data of demos, of development databases and of benchmarks.
package seed

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
