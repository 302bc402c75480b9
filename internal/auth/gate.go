package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// AccountStatus is what an account may do now, whatever its tokens say.
type AccountStatus struct {
	Role       models.Role
	ProviderID uuid.UUID // of provider roles only
	Generation int       // of the account's own access tokens: a new password, among others, begins the next one
}

// Gate lets tokens through that are genuine and still stand for their account: it is there, has the role and the
// company that the token names, and nothing has ended its tokens since. It asks for the account each time, so that
// a withdrawn right ends at once and not with the token. It is safe for concurrent use.
type Gate struct {
	tokens *Verifier
	status func(ctx context.Context, user uuid.UUID) (AccountStatus, error)
}

// statusTimeout bounds how long a request waits until it is known whose it is.
const statusTimeout = 5 * time.Second

// NewGate checks tokens with the verifier, and accounts with standing, whose error for an account that is not there, or
// not any more, is NOT_FOUND.
func NewGate(tokens *Verifier, standing func(ctx context.Context, user uuid.UUID) (AccountStatus, error)) *Gate {
	return &Gate{tokens: tokens, status: standing}
}

// Verify is Verifier.Verify, and then asks for the account. Errors: UNAUTHENTICATED; those of standing.
func (g *Gate) Verify(ctx context.Context, token string) (Principal, error) {
	p, err := g.Identify(ctx, token)
	if err != nil {
		return Principal{}, err
	}

	// The request's own deadline begins once its caller is known.
	ask, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()

	now, err := g.status(ask, p.UserID)
	if err = g.Judge(p, now, err); err != nil {
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
// that was read instead.
func (g *Gate) Judge(p Principal, now AccountStatus, err error) error {
	switch {
	case err != nil && models.CodeOf(err) == models.CodeNotFound:
		return models.Errorf(models.CodeUnauthenticated, "The account does not exist any more.")
	case err != nil:
		return fmt.Errorf("look up the account of a token: %w", err)
	case now.Role != p.Role || now.ProviderID != p.ProviderID || !p.External && now.Generation != p.Generation:
		return models.Errorf(models.CodeUnauthenticated, "The access token has been revoked.")
	default:
		return nil
	}
}
