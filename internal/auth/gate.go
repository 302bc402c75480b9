package auth

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// AccountStatus is what an account may do now, whatever its tokens say.
type AccountStatus struct {
	Role       models.Role
	ProviderID uuid.UUID // of provider roles only
	Generation int       // of the account's own access tokens: a new password, among others, begins the next one
	// SessionOver says that the session of the token has ended.
	SessionOver bool
	// SecondFactor says that the account has one.
	SecondFactor bool
}

// Gate lets tokens through that are genuine and still stand for their account: it is there, has the role and the
// company that the token names, and nothing has ended its tokens since. It asks for the account each time, so that
// a withdrawn right ends at once and not with the token. It is safe for concurrent use.
type Gate struct {
	tokens *Verifier
	status func(ctx context.Context, user, session uuid.UUID) (AccountStatus, error)
	strict []models.Role
}

// statusTimeout bounds how long a request waits until it is known whose it is.
const statusTimeout = 5 * time.Second

// NewGate checks tokens with the verifier, and accounts with standing, whose error for an account that is not there, or
// not any more, is NOT_FOUND; session is uuid.Nil for a token of none. Accounts of the strict roles must have a second factor.
func NewGate(
	tokens *Verifier, standing func(ctx context.Context, user, session uuid.UUID) (AccountStatus, error), strict ...models.Role,
) *Gate {
	return &Gate{tokens: tokens, status: standing, strict: strict}
}

// Verify is Verifier.Verify, and then asks for the account. MustEnrol of the principal says that the account can do nothing but get a
// second factor. Errors: UNAUTHENTICATED; those of standing.
func (g *Gate) Verify(ctx context.Context, token string) (Principal, error) {
	p, err := g.Identify(ctx, token)
	if err != nil {
		return Principal{}, err
	}

	// The request's own deadline begins once its caller is known.
	ask, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()

	now, err := g.status(ask, p.UserID, p.SessionID)

	err = g.Judge(p, now, err)
	if models.CodeOf(err) == models.CodeSecondFactorNeeded {
		p.MustEnrol, err = true, nil
	}

	if err != nil {
		return Principal{}, err
	}

	return p, nil
}

// Identify is the first half of Verify: the token is genuine, and whether it still stands for its account is for Judge to say before
// anything is answered. Error: UNAUTHENTICATED.
func (g *Gate) Identify(ctx context.Context, token string) (Principal, error) {
	return g.tokens.Verify(ctx, token)
}

// Judge is the second half of Verify, by how the account stands now and the error of reading that. Errors: UNAUTHENTICATED; the one
// that was read instead; SECOND_FACTOR_NEEDED.
func (g *Gate) Judge(p Principal, now AccountStatus, err error) error {
	switch {
	case err != nil && models.CodeOf(err) == models.CodeNotFound:
		return models.Because(models.CauseAccountGone)
	case err != nil:
		return fmt.Errorf("look up the account of a token: %w", err)
	case now.Role != p.Role || now.ProviderID != p.ProviderID || !p.External && now.Generation != p.Generation:
		return models.Because(models.CauseTokenRevoked)
	case now.SessionOver:
		return models.Because(models.CauseSessionOver)
	case !p.IssuerFactor && (p.External || !now.SecondFactor) && slices.Contains(g.strict, p.Role):
		return ErrSecondFactorNeeded()
	default:
		return nil
	}
}

// ErrSecondFactorNeeded is what an account of a role that must have a second factor, and has none, is answered.
func ErrSecondFactorNeeded() error {
	return models.NewError(models.CodeSecondFactorNeeded, "access.second_factor")
}
