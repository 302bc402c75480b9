package worker

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"rihla/gateways"
	"rihla/models"
)

const (
	// keyChecksEvery is how often an account that refuses our key is asked again.
	keyChecksEvery = time.Minute
	// recordTries is how often the latest state is tried to be written; then the next change writes it.
	recordTries = 5
)

// Circuits keeps what this worker knows of the accounts that take no calls for the API, which makes none itself: it shows which
// payment methods can be used now. Its methods do not block, so that a Guard may call them.
type Circuits struct {
	record func(context.Context, models.GatewayOutage) error
	log    *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	pending map[circuitKey]models.GatewayOutage
	wake    chan struct{}
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

type circuitKey struct {
	account models.MerchantAccount
	calls   string
}

// NewCircuits begins to write by record. Stop ends it.
func NewCircuits(record func(context.Context, models.GatewayOutage) error, now func() time.Time, log *slog.Logger) *Circuits {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Circuits{
		record: record, log: log, now: now, pending: map[circuitKey]models.GatewayOutage{}, wake: make(chan struct{}, 1), cancel: cancel,
	}

	c.done.Go(func() { c.run(ctx) })

	return c
}

// Stop ends the writing.
func (c *Circuits) Stop() {
	c.cancel()
	c.done.Wait()
}

// Moved notes that a breaker has changed its state; openFor is how long it stays open.
func (c *Circuits) Moved(
	account models.MerchantAccount, calls gateways.Calls, to gateways.Circuit, cause gateways.ErrorKind, openFor time.Duration,
) {
	outage := models.GatewayOutage{Account: account, Calls: string(calls), Reason: models.OutageFailing, Until: c.now()}
	if cause == gateways.KindUnauthorized {
		outage.Reason = models.OutageUnauthorized
	}

	if to == gateways.CircuitHalfOpen {
		return // the next call tells
	}

	if to == gateways.CircuitOpen {
		outage.Until = outage.Until.Add(openFor)
	}

	c.note(outage)
}

// Paused notes that the account has asked for a pause.
func (c *Circuits) Paused(account models.MerchantAccount, calls gateways.Calls, pause time.Duration) {
	c.note(models.GatewayOutage{Account: account, Calls: string(calls), Reason: models.OutagePaused, Until: c.now().Add(pause)})
}

func (c *Circuits) note(outage models.GatewayOutage) {
	c.mu.Lock()
	c.pending[circuitKey{outage.Account, outage.Calls}] = outage
	c.mu.Unlock()

	select {
	case c.wake <- struct{}{}:
	default: // it is awake already
	}
}

func (c *Circuits) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
			c.write(ctx)
		}
	}
}

func (c *Circuits) write(ctx context.Context) {
	c.mu.Lock()
	latest := c.pending
	c.pending = map[circuitKey]models.GatewayOutage{}
	c.mu.Unlock()

	for _, outage := range latest {
		var err error

		for range recordTries {
			if err = c.record(ctx, outage); err == nil || ctx.Err() != nil {
				break
			}
		}

		if err != nil {
			c.log.WarnContext(ctx, "state of a merchant account not written; the API shows an older one", "account", outage.Account, "error", err)
		}
	}
}

// WatchKeys asks each account once about a checkout that there is not, and goes on asking those that refuse our key or cannot be
// asked: a payment should not be what finds that out. It returns when ctx ends, or when all keys are known to be good.
func (c *Circuits) WatchKeys(ctx context.Context, accounts map[models.MerchantAccount]gateways.Gateway) {
	unsure := maps.Clone(accounts)

	for {
		for account, g := range unsure {
			if c.keyIsGood(ctx, account, g) {
				delete(unsure, account)
			}
		}

		if len(unsure) == 0 {
			return
		}

		wait := time.NewTimer(keyChecksEvery)

		select {
		case <-ctx.Done():
			wait.Stop()

			return
		case <-wait.C:
		}
	}
}

func (c *Circuits) keyIsGood(ctx context.Context, account models.MerchantAccount, g gateways.Gateway) bool {
	outage := models.GatewayOutage{Account: account, Calls: string(gateways.CallsCheckout), Reason: models.OutageUnauthorized, Until: c.now()}

	err := gateways.CheckKey(ctx, g, c.now())

	switch {
	case err == nil:
		c.note(outage)

		return true
	case gateways.KindOf(err) == gateways.KindUnauthorized:
		c.log.ErrorContext(ctx, "the gateway refuses our key: the merchant account takes no payments until that is mended",
			"account", account)

		outage.Until = outage.Until.Add(2 * keyChecksEvery)
		c.note(outage)
	}

	return false
}
