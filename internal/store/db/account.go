package db

import (
	"github.com/google/uuid"

	"rihla/models"
)

// AccountStatus is what an account may do now, whatever its access tokens say.
type AccountStatus struct {
	Role            models.Role
	ProviderID      uuid.UUID // of provider roles only
	TokenGeneration int
}

// An account's status in SQL, of the row u of users; Scan reads the columns in this order. There is no row for an account that was
// removed.
const (
	AccountColumns = "u.role, u.provider_id, u.token_generation"
	AccountIsLive  = "u.deleted_at IS NULL"
)

// Fields are where AccountColumns are scanned to.
func (a *AccountStatus) Fields() []any {
	return []any{&a.Role, (*nullableID)(&a.ProviderID), &a.TokenGeneration}
}

// nullableID is uuid.Nil for NULL.
type nullableID uuid.UUID

// Scan implements sql.Scanner.
func (id *nullableID) Scan(value any) error { return (*uuid.UUID)(id).Scan(value) }
