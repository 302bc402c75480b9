package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/middleware"
	"rihla/internal/store"
)

const (
	// claimLease is how long a key stays taken after the process that has it was killed: until then its customer, who
	// tries again, is told to wait.
	claimLease = 6 * time.Second
	// claimRenewal keeps a lease that short from ending under a request that is slow.
	claimRenewal = 2 * time.Second
	// claimLimit is longer than any request may run.
	claimLimit = time.Minute
)

// idempotency keeps the answers of the API in the store.
type idempotency struct {
	store *store.Store
	held  sync.Map // middleware.IdempotencyScope → context.CancelFunc, which ends the renewal of its claim
}

// Claim implements middleware.IdempotencyStore.
func (i *idempotency) Claim(ctx context.Context, scope middleware.IdempotencyScope) (middleware.IdempotencyClaim, error) {
	claim := middleware.IdempotencyClaim{Scope: scope}

	key, err := keyScope(scope)
	if err != nil {
		return claim, err
	}

	c, err := i.store.ClaimKey(ctx, key, claimLease)

	switch {
	case err != nil:
	case c.Fresh:
		i.hold(ctx, scope, key)
	default:
		claim.Stored = &middleware.StoredAnswer{Status: c.Status, Location: c.Location, Body: c.Body}
	}

	return claim, err
}

// Complete implements middleware.IdempotencyStore.
func (i *idempotency) Complete(ctx context.Context, claim middleware.IdempotencyClaim, a middleware.StoredAnswer) error {
	i.letGo(claim.Scope)

	key, err := keyScope(claim.Scope)
	if err != nil {
		return err
	}

	return i.store.CompleteKey(ctx, key, a.Status, a.Location, a.Body)
}

// Release implements middleware.IdempotencyStore.
func (i *idempotency) Release(ctx context.Context, claim middleware.IdempotencyClaim) error {
	i.letGo(claim.Scope)

	key, err := keyScope(claim.Scope)
	if err != nil {
		return err
	}

	return i.store.ReleaseKey(ctx, key)
}

// hold renews the claim until it is let go.
func (i *idempotency) hold(ctx context.Context, scope middleware.IdempotencyScope, key store.KeyScope) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimLimit)
	i.held.Store(scope, cancel)

	go func() {
		tick := time.NewTicker(claimRenewal)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}

			if err := i.store.RenewKey(ctx, key, claimLease); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "idempotency key not renewed", "error", err)
			}
		}
	}()
}

func (i *idempotency) letGo(scope middleware.IdempotencyScope) {
	if cancel, ok := i.held.LoadAndDelete(scope); ok {
		cancel.(context.CancelFunc)()
	}
}

func keyScope(s middleware.IdempotencyScope) (store.KeyScope, error) {
	key, err := uuid.Parse(s.Key)
	if err != nil {
		return store.KeyScope{}, fmt.Errorf("idempotency key: %w", err)
	}

	return store.KeyScope{UserID: s.UserID, Method: s.Method, Path: s.Path, Key: key, BodyHash: s.BodyHash[:]}, nil
}
