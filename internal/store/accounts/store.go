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
	unknown  []byte // the key of unknownSubject
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies) *Store { return &Store{db: pool, policies: p} }

// KeyUnknown gives the key by which addresses without an account are spread over rows, before the first log-in. Without it anybody could
// find addresses that share a row, and by trying two of them learn that neither has an account.
func (s *Store) KeyUnknown(key []byte) { s.unknown = key }
