// Package bookings has the SQL of bookings, their seats and limits, and moves of the trips that were sold.
package bookings

import (
	"github.com/google/uuid"

	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct {
	db        *db.DB
	policies  models.Policies
	catalogue *catalogue.Store
	turns     turns
}

// New is the store on a pool of connections.
func New(pool *db.DB, p models.Policies, trips *catalogue.Store) *Store {
	return &Store{db: pool, policies: p, catalogue: trips, turns: turns{trips: map[uuid.UUID]*tripTurns{}}}
}
