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
	SecondFactor    bool // it has one
	// SessionOver says that the session that was asked about has ended, or is none of the account.
	SessionOver bool
}

// AccountIsLive is the condition on the row u of users under which an account has a status: it was neither removed nor locked.
const AccountIsLive = "u.deleted_at IS NULL AND u.locked_at IS NULL"

// AccountColumns are the columns of an account's status, in the order of Fields. session is the parameter with the id of the session
// that the caller's token names, NULL for a token that names none.
func AccountColumns(session string) string {
	return "u.role, u.provider_id, u.token_generation, u.second_factor_at IS NOT NULL, " + session + "::uuid IS NOT NULL AND NOT EXISTS (" +
		"SELECT FROM sessions AS s WHERE s.id = " + session + " AND s.user_id = u.id AND s.ended_at IS NULL AND s.expires_at > now())"
}

// Fields are where AccountColumns are scanned to.
func (a *AccountStatus) Fields() []any {
	return []any{&a.Role, (*nullableID)(&a.ProviderID), &a.TokenGeneration, &a.SecondFactor, &a.SessionOver}
}

// nullableID is uuid.Nil for NULL.
type nullableID uuid.UUID

// Scan implements sql.Scanner.
func (id *nullableID) Scan(value any) error { return (*uuid.UUID)(id).Scan(value) }
