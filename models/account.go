package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// User is anybody who signs in. Provider roles, and only they, carry a ProviderID.
type User struct {
	bun.BaseModel `bun:"table:users,alias:u"`

	ID           uuid.UUID  `bun:"id,pk"`
	Name         string     `bun:"name"`
	Email        string     `bun:"email"`
	Phone        string     `bun:"phone"`
	PasswordHash string     `bun:"password_hash"`
	Role         Role       `bun:"role"`
	ProviderID   *uuid.UUID `bun:"provider_id"`
	Locale       Locale     `bun:"locale"`
	CreatedAt    time.Time  `bun:"created_at,nullzero,default:now()"`
	UpdatedAt    time.Time  `bun:"updated_at,nullzero,default:now()"`
	DeletedAt    *time.Time `bun:"deleted_at"`
	// EmailVerifiedAt is when its owner has proved to read the address.
	EmailVerifiedAt *time.Time `bun:"email_verified_at"`
	// OwnerProvedAt is when it was certain that who reads the address has opened the account, too; nil of accounts that were verified
	// before that was asked (docs/decisions/0075).
	OwnerProvedAt *time.Time `bun:"owner_proved_at"`
	// SecondFactorAt is since when the account has one.
	SecondFactorAt *time.Time `bun:"second_factor_at"`
	// LockedAt is when an administrator has locked it.
	LockedAt *time.Time `bun:"locked_at"`
	// TokenGeneration is that of the access tokens which hold; tokens of an older one are refused.
	TokenGeneration int `bun:"token_generation"`
}

// Provider is a tourism company.
type Provider struct {
	bun.BaseModel `bun:"table:providers,alias:p"`

	ID             uuid.UUID `bun:"id,pk"`
	Name           string    `bun:"name"`
	Email          string    `bun:"email"`
	Phone          string    `bun:"phone"`
	City           string    `bun:"city"`
	CommissionRate Rate      `bun:"commission_rate"`
	Status         string    `bun:"status"`
	CreatedAt      time.Time `bun:"created_at,nullzero,default:now()"`
	UpdatedAt      time.Time `bun:"updated_at,nullzero,default:now()"`
}

// The life of a live resource; only buses know UNDER_MAINTENANCE.
const (
	StatusActive           = "ACTIVE"
	StatusInactive         = "INACTIVE"
	StatusUnderMaintenance = "UNDER_MAINTENANCE"
)

// RefreshToken is one link of a family of refresh tokens, stored by the hash of its secret.
type RefreshToken struct {
	bun.BaseModel `bun:"table:refresh_tokens,alias:rt"`

	TokenHash []byte     `bun:"token_hash,pk"`
	FamilyID  uuid.UUID  `bun:"family_id"`
	UserID    uuid.UUID  `bun:"user_id"`
	CreatedAt time.Time  `bun:"created_at,nullzero,default:now()"`
	ExpiresAt time.Time  `bun:"expires_at"`
	SpentAt   *time.Time `bun:"spent_at"`
	RevokedAt *time.Time `bun:"revoked_at"`

	// Successor is the token that has followed, sealed by a key that comes from this one, and SuccessorHash its hash. SpentNetwork and
	// SpentAgent are those of the client that has spent this one.
	Successor     []byte `bun:"successor"`
	SuccessorHash []byte `bun:"successor_hash"`
	SpentNetwork  string `bun:"spent_network"`
	SpentAgent    string `bun:"spent_agent"`

	// Sealed is this token for the one before, whose Successor it becomes.
	Sealed []byte `bun:"-"`
}

// RefreshAgainFor is for how long a spent refresh token gives its successor once more, to the client whose answer was lost.
const RefreshAgainFor = 30 * time.Second
