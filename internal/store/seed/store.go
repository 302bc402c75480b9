// Package seed has the SQL of data of demos, of development databases and of benchmarks.
package seed

import (
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db       *db.DB
	policies models.Policies
}

// Of is the store on the connections of another. The service itself has none: a production build contains no made-up data.
func Of(s *store.Store) *Store { return &Store{db: s.DB, policies: s.Policies()} }
