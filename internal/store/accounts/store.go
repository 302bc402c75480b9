// Package accounts has the SQL of users, their staff, logins and refresh tokens.
package accounts

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
