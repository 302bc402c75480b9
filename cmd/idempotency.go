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
	"rihla/internal/store/db"
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
	held  sync.Map // claim's uuid.UUID → context.CancelFunc, which ends its renewal
}

// Claim implements middleware.IdempotencyStore.
func (i *idempotency) Claim(ctx context.Context, scope middleware.IdempotencyScope) (middleware.IdempotencyClaim, error) {
	claim := middleware.IdempotencyClaim{Scope: scope}

	key, err := uuid.Parse(scope.Key)
	if err != nil {
		return claim, fmt.Errorf("idempotency key: %w", err)
	}

	c, err := i.store.DB.ClaimKey(ctx, db.KeyScope{
		UserID: scope.UserID, Method: scope.Method, Path: scope.Path, Key: key, BodyHash: scope.BodyHash[:],
	}, claimLease)
	if err != nil {
		return claim, err
	}

	if c.ID == uuid.Nil {
		claim.Stored = &middleware.StoredAnswer{Status: c.Answer.Status, Location: c.Answer.Location, Body: c.Answer.Body}

		return claim, nil
	}

	claim.ID, claim.ResourceID = c.ID, c.ResourceID
	i.hold(ctx, c.ID)

	return claim, nil
}

// Complete implements middleware.IdempotencyStore.
func (i *idempotency) Complete(ctx context.Context, claim middleware.IdempotencyClaim, a middleware.StoredAnswer) error {
	i.letGo(claim.ID)

	return i.store.DB.CompleteKey(ctx, claim.ID, db.Answer{Status: a.Status, Location: a.Location, Body: a.Body})
}

// Release implements middleware.IdempotencyStore.
func (i *idempotency) Release(ctx context.Context, claim middleware.IdempotencyClaim) error {
	i.letGo(claim.ID)

	return i.store.DB.ReleaseKey(ctx, claim.ID)
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

func (i *idempotency) letGo(claim uuid.UUID) {
	if cancel, ok := i.held.LoadAndDelete(claim); ok {
		cancel.(context.CancelFunc)()
	}
}
