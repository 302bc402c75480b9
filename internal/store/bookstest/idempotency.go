package bookstest

import (
	"github.com/google/uuid"

	"rihla/internal/store/db"
)

// Key is a new Idempotency-Key of the customer.
func (b *Books) Key() db.KeyScope {
	return db.KeyScope{
		UserID: b.Customer.ID, Method: "POST", Path: "/api/v1/bookings", Key: uuid.New(), BodyHash: []byte("hash"),
	}
}
