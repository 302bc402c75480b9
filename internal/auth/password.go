// Package auth holds what proves who a user is: password hashes, the keys that sign access tokens, the tokens
// themselves and refresh tokens (rules: identity.passwords, identity.refresh). It stores nothing.
package auth

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/alexedwards/argon2id"

	"rihla/models"
)

// passwordParams are OWASP's for argon2id: 19 MiB, two passes, one lane. One lane keeps a login from taking every core.
var passwordParams = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// Passwords hashes and checks passwords, only so many at once that a burst of logins exhausts neither memory
// (19 MiB each) nor processors. It is safe for concurrent use.
//
// Half of the places are for callers from networks that their account knows: strangers wait for each other, however many of them there are,
// and not in front of owners. Of accounts that do not exist one password at a time is computed; the others wait as long as a stranger's
// check has taken lately, so that the time tells nothing.
type Passwords struct {
	slots     chan struct{} // all places
	strangers chan struct{} // those that strangers may have
	unknown   chan struct{} // those of accounts that do not exist
	lately    durations     // of strangers' checks, with their wait
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

	const half = 2

	return &Passwords{
		slots: make(chan struct{}, parallel), strangers: make(chan struct{}, max(1, parallel/half)), unknown: make(chan struct{}, 1),
		decoy: decoy,
	}, nil
}

// Hash is the argon2id hash of password in PHC text form, for a caller who has proved who they are. When ctx ends before a place is free
// the error is SERVICE_UNAVAILABLE.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if err := acquire(ctx, p.slots); err != nil {
		return "", err
	}
	defer p.release()

	hash, err := argon2id.CreateHash(password, &passwordParams)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}

	return hash, nil
}

// HashOfStranger is Hash for a caller of whom nothing is known.
func (p *Passwords) HashOfStranger(ctx context.Context, password string) (string, error) {
	if err := acquire(ctx, p.strangers); err != nil {
		return "", err
	}
	defer func() { <-p.strangers }()

	return p.Hash(ctx, password)
}

// Check reports in constant time whether password is that of hash. known says that the caller comes from a network that the account knows.
// An empty hash stands for an account that does not exist: the answer is false, after as long a time. Errors as Hash.
func (p *Passwords) Check(ctx context.Context, password, hash string, known bool) (bool, error) {
	switch {
	case hash == "":
		return false, p.checkUnknown(ctx, password)
	case known:
		return p.compare(ctx, password, hash)
	default:
		return p.compareStranger(ctx, password, hash)
	}
}

func (p *Passwords) compare(ctx context.Context, password, hash string) (bool, error) {
	if err := acquire(ctx, p.slots); err != nil {
		return false, err
	}
	defer p.release()

	match, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("check password: %w", err)
	}

	return match, nil
}

func (p *Passwords) compareStranger(ctx context.Context, password, hash string) (bool, error) {
	began := time.Now()

	if err := acquire(ctx, p.strangers); err != nil {
		return false, err
	}
	defer func() { <-p.strangers }()

	match, err := p.compare(ctx, password, hash)
	if err == nil {
		p.lately.add(time.Since(began))
	}

	return match, err
}

// checkUnknown takes as long as a stranger's check of a password that there is.
func (p *Passwords) checkUnknown(ctx context.Context, password string) error {
	select {
	case p.unknown <- struct{}{}:
	default:
		if took, ok := p.lately.one(); ok {
			return wait(ctx, took)
		}

		if err := acquire(ctx, p.unknown); err != nil {
			return err
		}
	}
	defer func() { <-p.unknown }()

	_, err := p.compareStranger(ctx, password, p.decoy)

	return err
}

func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errBusy()
	}
}

func (p *Passwords) release() { <-p.slots }

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errBusy()
	}
}

func errBusy() error {
	return models.NewError(models.CodeServiceUnavailable, "request.busy")
}

// maxDurations is how many are remembered: those of a second or two.
const maxDurations = 64

// durations are the last ones. The zero value has none.
type durations struct {
	mu   sync.Mutex
	last []time.Duration
	next int
}

func (d *durations) add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if len(d.last) < maxDurations {
		d.last = append(d.last, took)

		return
	}

	d.last[d.next] = took
	d.next = (d.next + 1) % maxDurations
}

// one is any of them.
func (d *durations) one() (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if len(d.last) == 0 {
		return 0, false
	}

	return d.last[rand.IntN(len(d.last))], true //nolint:gosec // no secret
}
