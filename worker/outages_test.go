package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

type patient struct{ health gateways.Health }

func (p *patient) Health() gateways.Health { return p.health }

func TestOutages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			said []string
			away error
			p    = &patient{}
			o    = &outages{
				watched: map[models.PaymentProvider]healthy{models.ProviderWalletB: p}, said: map[models.PaymentProvider]word{},
				down: func(_ context.Context, g models.PaymentProvider, _ time.Time) error {
					said = append(said, "down "+string(g))

					return away
				},
				up: func(_ context.Context, g models.PaymentProvider) error {
					said = append(said, "up "+string(g))

					return nil
				},
			}
		)

		o.start()
		defer o.stop()

		pass := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			require.Equal(t, want, said)

			said = nil
		}

		pass(time.Minute)

		p.health.Answered = true

		pass(time.Minute, "up wallet_b")

		p.health.DownSince, p.health.LastFailure = time.Now(), time.Now().Add(4*time.Minute)

		pass(4 * time.Minute)
		pass(2*time.Minute, "down wallet_b")
		pass(time.Minute)

		p.health.LastFailure = time.Now().Add(4 * time.Minute)

		pass(5*time.Minute, "down wallet_b") // another worker may have thought otherwise
		pass(20 * time.Minute)

		p.health = gateways.Health{Answered: true}

		pass(time.Minute, "up wallet_b")

		// Nobody has asked it for long: nobody knows.
		p.health.DownSince, p.health.LastFailure = time.Now(), time.Now()

		pass(time.Hour)

		p.health.LastFailure, away = time.Now(), errors.New("the database is away")

		pass(11*time.Second, "down wallet_b")

		away = nil

		pass(10*time.Second, "down wallet_b")
		pass(time.Minute)
	})
}
