// Package auth holds what proves who a user is: password hashes, the keys that sign access tokens, the tokens
// themselves and refresh tokens (rules: identity.passwords, identity.refresh). It stores nothing.
package auth

import (
	"context"
	"fmt"
	"runtime"

	"github.com/alexedwards/argon2id"

	"rihla/models"
)

// passwordParams are OWASP's for argon2id: 19 MiB, two passes, one lane. One lane keeps a login from taking every core.
var passwordParams = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// Passwords hashes and checks passwords, only so many at once that a burst of logins exhausts neither memory
// (19 MiB each) nor processors. It is safe for concurrent use.
type Passwords struct {
	slots chan struct{}
	// decoy is compared when there is no account, so that the answer takes as long as for a wrong password.
	decoy string
}

// NewPasswords allows `parallel` computations at once; less than one means one per processor.
func NewPasswords(parallel int) (*Passwords, error) {
	if parallel < 1 {
		parallel = runtime.GOMAXPROCS(0)
	}

	decoy, err := argon2id.CreateHash("no account has this password", &passwordParams)
	if err != nil {
		return nil, fmt.Errorf("hash the decoy: %w", err)
	}

	return &Passwords{slots: make(chan struct{}, parallel), decoy: decoy}, nil
}

// Hash is the argon2id hash of password in PHC text form. When ctx ends before a slot is free the error is
// SERVICE_UNAVAILABLE.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if err := p.acquire(ctx); err != nil {
		return "", err
	}
	defer p.release()

	hash, err := argon2id.CreateHash(password, &passwordParams)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}

	return hash, nil
}

// Check reports in constant time whether password is that of hash. An empty hash stands for an account that does not
// exist: the answer is false, after the same work. Errors as Hash.
func (p *Passwords) Check(ctx context.Context, password, hash string) (bool, error) {
	if err := p.acquire(ctx); err != nil {
		return false, err
	}
	defer p.release()

	known := hash != ""
	if !known {
		hash = p.decoy
	}

	match, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("check password: %w", err)
	}

	return match && known, nil
}

func (p *Passwords) acquire(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return models.Errorf(models.CodeServiceUnavailable, "The service is busy; try again shortly.")
	}
}

func (p *Passwords) release() { <-p.slots }
