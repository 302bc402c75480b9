package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// patient is a gateway whose health the test sets, and a record of the reports about it.
type patient struct {
	mu     sync.Mutex
	health gateways.Health
	said   []string
	away   error // of the database
}

func (p *patient) Health() gateways.Health {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.health
}

func (p *patient) say(what string) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.said = append(p.said, what)

	return p.away
}

// set changes what the others see.
func (p *patient) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()

	change()
}

func TestOutages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			p = &patient{}
			o = &outages{
				log:     slog.New(slog.DiscardHandler),
				watched: map[models.MerchantAccount]healthReporter{models.AccountWalletB: p}, reported: map[models.MerchantAccount]outageReport{},
				down: func(_ context.Context, g models.MerchantAccount, _ time.Time) error {
					return p.say("down " + string(g))
				},
				up: func(_ context.Context, g models.MerchantAccount, unseen time.Duration) error {
					if unseen > 0 {
						return p.say("left behind " + string(g))
					}

					return p.say("up " + string(g))
				},
			}
		)

		o.start()
		defer o.stop()

		pass := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			p.set(func() {
				require.Equal(t, want, p.said)

				p.said = nil
			})
		}

		pass(time.Minute)

		p.set(func() { p.health.LastAnswer = time.Now() })

		pass(time.Minute, "up wallet_b")

		p.set(func() { p.health.DownSince, p.health.LastFailure = time.Now(), time.Now().Add(4*time.Minute) })

		pass(4 * time.Minute)
		pass(2*time.Minute, "down wallet_b")
		pass(time.Minute)

		p.set(func() { p.health.LastFailure = time.Now().Add(4 * time.Minute) })

		pass(5*time.Minute, "down wallet_b") // another worker may have thought otherwise
		pass(20 * time.Minute)

		p.set(func() { p.health = gateways.Health{LastAnswer: time.Now()} })

		pass(time.Minute, "up wallet_b")
		pass(time.Hour) // no calls: its state is unknown

		// It goes on answering: a worker that reported it down and does not any more has ended.
		p.set(func() { p.health.LastAnswer = time.Now().Add(time.Hour) })

		pass(11*time.Second, "left behind wallet_b")
		pass(4 * time.Minute)
		pass(time.Minute, "left behind wallet_b")

		p.set(func() { p.health.LastAnswer = time.Now() })

		// No calls for long: its state is unknown.
		p.set(func() { p.health.DownSince, p.health.LastFailure = time.Now(), time.Now() })

		pass(time.Hour)

		p.set(func() { p.health.LastFailure, p.away = time.Now(), errors.New("the database is away") })

		pass(11*time.Second, "down wallet_b")

		p.set(func() { p.away = nil })

		pass(10*time.Second, "down wallet_b")
		pass(time.Minute)
	})
}
