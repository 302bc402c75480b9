package main

import (
	"context"
	"log/slog"
	"os"
	"sync"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/models"
)

// bench is a private stack with one customer and trips that never sell out.
type bench struct {
	dir      string
	stack    *devstack.Stack
	store    *store.Store
	temporal client.Client
	user     uuid.UUID
	trips    []uuid.UUID
	mu       sync.Mutex
	booked   int
}

// newBench is a stack that does not wait for its disk, on which only the work itself counts.
func newBench(ctx context.Context) (*bench, error) {
	return newBenchOn(ctx, devstack.Options{Throwaway: true})
}

// newBenchOn starts the stack in a directory of its own.
func newBenchOn(ctx context.Context, o devstack.Options) (b *bench, err error) {
	b = &bench{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()

	if b.dir, err = os.MkdirTemp("", "rihla-bench"); err != nil {
		return nil, err
	}

	o.DataDir, o.BinDir, o.Headless = b.dir, devstack.DefaultDataDir+"/bin", true
	o.PostgresPort, o.TemporalPort = devstack.AnyPort, devstack.AnyPort

	if b.stack, err = devstack.Start(ctx, o); err != nil {
		return nil, err
	}

	if b.store, err = store.Open(ctx, b.stack.DatabaseURL, models.DefaultPolicies(), db.Options{MaxConns: 32}); err != nil {
		return nil, err
	}

	if _, err = b.store.DB.Migrate(ctx); err != nil {
		return nil, err
	}

	if b.stack.Temporal == nil {
		return b, nil
	}

	b.temporal, err = client.Dial(client.Options{HostPort: b.stack.TemporalAddress, Logger: log.NewStructuredLogger(slog.Default())})

	return b, err
}

func (b *bench) close() {
	if b.temporal != nil {
		b.temporal.Close()
	}

	if b.store != nil {
		_ = b.store.Close()
	}

	if b.stack != nil {
		_ = b.stack.Close(context.Background())
	}

	_ = os.RemoveAll(b.dir)
}
