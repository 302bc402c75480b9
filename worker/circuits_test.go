package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
	"rihla/worker"
)

// board is where the states of accounts are written.
type board struct {
	mu    sync.Mutex
	rows  []models.GatewayOutage
	fails int // how many writes fail first
}

func (b *board) record(_ context.Context, o models.GatewayOutage) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.fails > 0 {
		b.fails--

		return errors.New("the database is away")
	}

	b.rows = append(b.rows, o)

	return nil
}

func (b *board) last() models.GatewayOutage {
	b.mu.Lock()
	defer b.mu.Unlock()

	if len(b.rows) == 0 {
		return models.GatewayOutage{}
	}

	return b.rows[len(b.rows)-1]
}

func newCircuits(t *testing.T, b *board, now time.Time) *worker.Circuits {
	t.Helper()

	c := worker.NewCircuits(b.record, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	t.Cleanup(c.Stop)

	return c
}

func TestCircuitsAreWritten(t *testing.T) {
	t.Parallel()

	now := time.Now()
	b := &board{fails: 2}
	c := newCircuits(t, b, now)

	for _, tt := range []struct {
		name string
		do   func()
		want models.GatewayOutage
	}{
		{
			"open after failures, although the database was away",
			func() {
				c.Moved(models.AccountGatewayA, gateways.CallsCheckout, gateways.CircuitOpen, gateways.KindUnknown, time.Minute)
			},
			models.GatewayOutage{Account: "gateway_a", Calls: "checkout", Reason: models.OutageFailing, Until: now.Add(time.Minute)},
		},
		{
			"a refused key",
			func() {
				c.Moved(models.AccountGatewayA, gateways.CallsCheckout, gateways.CircuitOpen, gateways.KindUnauthorized, time.Minute)
			},
			models.GatewayOutage{Account: "gateway_a", Calls: "checkout", Reason: models.OutageUnauthorized, Until: now.Add(time.Minute)},
		},
		{
			"a pause",
			func() { c.Paused(models.AccountWalletBBackup, gateways.CallsRefund, time.Second) },
			models.GatewayOutage{Account: "wallet_b_backup", Calls: "refund", Reason: models.OutagePaused, Until: now.Add(time.Second)},
		},
		{
			"half open says nothing, closed ends it",
			func() {
				c.Moved(models.AccountGatewayA, gateways.CallsCheckout, gateways.CircuitHalfOpen, gateways.KindUnknown, time.Minute)
				c.Moved(models.AccountGatewayA, gateways.CallsCheckout, gateways.CircuitClosed, gateways.KindUnknown, time.Minute)
			},
			models.GatewayOutage{Account: "gateway_a", Calls: "checkout", Reason: models.OutageFailing, Until: now},
		},
	} {
		tt.do()
		require.Eventually(t, func() bool { return b.last() == tt.want }, 5*time.Second, time.Millisecond, tt.name)
	}
}

// TestKeysAreCheckedAtTheStart: one that is refused is known before a customer comes, and an account that says nothing is no news.
func TestKeysAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()

	now := time.Now()
	b := &board{}
	c := newCircuits(t, b, now)
	good, refused, away := fake.New(), fake.New(), fake.New()
	refused.Always(fake.FindCheckout, fake.Fault{Mode: fake.Unauthorized})
	away.Always(fake.FindCheckout, fake.Fault{Mode: fake.Unreachable})

	c.WatchKeys(t.Context(), map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: good})
	require.Eventually(t, func() bool { return b.last().Account == models.AccountGatewayA }, 5*time.Second, time.Millisecond)
	require.Equal(t, now, b.last().Until, "what an earlier process has left is over")

	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})

	go func() {
		defer close(watched)

		c.WatchKeys(ctx, map[models.MerchantAccount]gateways.Gateway{
			models.AccountGatewayABackup: refused, models.AccountWalletB: away,
		})
	}()

	require.Eventually(t, func() bool { return b.last().Account == models.AccountGatewayABackup }, 5*time.Second, time.Millisecond)
	require.Equal(t, models.OutageUnauthorized, b.last().Reason)
	require.True(t, b.last().Until.After(now))
	require.Eventually(t, func() bool { return away.Calls(fake.FindCheckout) == 1 }, 5*time.Second, time.Millisecond)
	cancel()
	<-watched
}
