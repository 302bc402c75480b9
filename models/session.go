package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// Session is what began with one log-in: a family of refresh tokens, and the access tokens that came from them.
type Session struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`

	ID        uuid.UUID  `bun:"id,pk"`
	UserID    uuid.UUID  `bun:"user_id"`
	CreatedAt time.Time  `bun:"created_at"`
	UsedAt    time.Time  `bun:"used_at"`
	ExpiresAt time.Time  `bun:"expires_at"` // however often it is refreshed
	EndedAt   *time.Time `bun:"ended_at"`
	// Address and UserAgent are those of the last use.
	Address      string       `bun:"address"`
	UserAgent    string       `bun:"user_agent"`
	SecondFactor SecondFactor `bun:"second_factor"`
	// CodeAt is when the session's owner has typed a code last.
	CodeAt *time.Time `bun:"code_at"`
}

// SecondFactor is what has proved in a session more than the password did; empty: nothing.
type SecondFactor string

// The second factors.
const (
	SecondFactorTOTP     SecondFactor = "TOTP"
	SecondFactorRecovery SecondFactor = "RECOVERY_CODE"
	// SecondFactorIssuer is that of an external issuer, which has said so.
	SecondFactorIssuer SecondFactor = "ISSUER"
)

// Factor is what a session can prove once more besides its password (rules: identity.step-up).
type Factor string

// The factors.
const (
	// FactorOwn is the account's own: its owner types a code.
	FactorOwn Factor = "OWN"
	// FactorIssuer is that of the identity provider that has signed the session in: its owner signs in there anew.
	FactorIssuer Factor = "ISSUER"
	FactorNone   Factor = "NONE"
)

// FactorOf is that of a session, which has seen the second factor seen, of an account that has one of its own, or none.
func FactorOf(own bool, seen SecondFactor) Factor {
	switch {
	case own:
		return FactorOwn
	case seen == SecondFactorIssuer:
		return FactorIssuer
	default:
		return FactorNone
	}
}

// The longest sessions (rules: identity.sessions).
const (
	staffSession    = 12 * time.Hour
	customerSession = 30 * 24 * time.Hour
)

// SessionLimit is how long a session of the role lasts at most, however often it is refreshed.
func SessionLimit(r Role) time.Duration {
	if r == RoleEndUser {
		return customerSession
	}

	return staffSession
}

// StepUpFor is for how long a code counts.
const StepUpFor = 10 * time.Minute

// SteppedUpUntil is until when the session's last code counts; nil when it does not.
func (s *Session) SteppedUpUntil(now time.Time) *time.Time {
	if s.CodeAt == nil {
		return nil
	}

	if until := s.CodeAt.Add(StepUpFor); until.After(now) {
		return &until
	}

	return nil
}

// AccountTokenPurpose is what the link of a mail about an account is for.
type AccountTokenPurpose string

// The purposes.
const (
	TokenVerifyEmail   AccountTokenPurpose = "VERIFY_EMAIL"
	TokenResetPassword AccountTokenPurpose = "RESET_PASSWORD"
	TokenInvitation    AccountTokenPurpose = "INVITATION"
)

// Lifetime is for how long a link is good after it was sent.
func (p AccountTokenPurpose) Lifetime() time.Duration {
	switch p {
	case TokenInvitation:
		return 72 * time.Hour
	case TokenVerifyEmail:
		return 24 * time.Hour
	default:
		return 30 * time.Minute
	}
}

// MailLimit is how many mails for the purpose an account gets within which time, those whose link was used not counted. For a new
// password anybody can ask, and what they use up is the owner's: the time is half of that for which the link is good, so that an owner
// who gets no mail has one whose link opens.
func (p AccountTokenPurpose) MailLimit() (n int, within time.Duration) {
	if p == TokenResetPassword {
		return 1, p.Lifetime() / 2
	}

	const few = 5

	return few, 24 * time.Hour
}
