package cmd

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store"
	"rihla/internal/store/db"
)

const (
	// claimLease is how long a key stays taken after the process that holds it was killed: until then a retry gets an answer
	// that asks it to wait.
	claimLease = 6 * time.Second
	// claimRenewal keeps a lease that short from ending under a request that is slow.
	claimRenewal = 2 * time.Second
	// claimLimit is longer than any request may run.
	claimLimit = time.Minute
)

// idempotency keeps the answers of the API in the store.
type idempotency struct {
	store *store.Store
	held  sync.Map // claim's uuid.UUID → context.CancelFunc, which ends its renewal
}

// Claim implements middleware.IdempotencyStore.
func (i *idempotency) Claim(ctx context.Context, scope db.KeyScope) (db.Claim, error) {
	claim, err := i.store.DB.ClaimKey(ctx, scope, claimLease)
	if err == nil && claim.ID != uuid.Nil {
		i.hold(ctx, claim.ID)
	}

	return claim, err
}

// Complete implements middleware.IdempotencyStore.
func (i *idempotency) Complete(ctx context.Context, claim uuid.UUID, a db.Answer) error {
	i.stopHolding(claim)

	return i.store.DB.CompleteKey(ctx, claim, a)
}

// Release implements middleware.IdempotencyStore.
func (i *idempotency) Release(ctx context.Context, claim uuid.UUID) error {
	i.stopHolding(claim)

	return i.store.DB.ReleaseKey(ctx, claim)
}

// hold renews the claim until it is let go.
func (i *idempotency) hold(ctx context.Context, claim uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimLimit)
	i.held.Store(claim, cancel)

	go func() {
		tick := time.NewTicker(claimRenewal)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}

			if err := i.store.DB.RenewKey(ctx, claim, claimLease); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "idempotency key not renewed", "error", err)
			}
		}
	}()
}

func (i *idempotency) stopHolding(claim uuid.UUID) {
	if cancel, ok := i.held.LoadAndDelete(claim); ok {
		cancel.(context.CancelFunc)()
	}
}
