package gateways_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
)

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d diary

		f := fake.New()
		g := gateways.Guarded(f, guardLimits, d.reports())

		require.NoError(t, create(t, g))

		answered := time.Now()
		f.Always(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

		for range 3 {
			require.Equal(t, gateways.KindUnknown, gateways.KindOf(create(t, g)))
		}

		after := requireNotSent(t, create(t, g), "open")
		require.GreaterOrEqual(t, after, 10*time.Second, "the time until the next try")
		require.LessOrEqual(t, after, 12*time.Second)
		require.Equal(t, 4, f.Calls(fake.CreateCheckout), "what is refused is not sent")
		require.False(t, g.Health().DownSince.IsZero())
		require.Equal(t, answered, g.Health().LastAnswer)

		_, err := g.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: f.Checkouts()[0].MerchantReference})
		require.NoError(t, err, "a gateway that opens no checkouts may still say how they stand")

		time.Sleep(11 * time.Second)
		require.Equal(t, gateways.KindUnknown, gateways.KindOf(create(t, g)), "one call tries")
		requireNotSent(t, create(t, g), "open")

		f.Heal()
		time.Sleep(11 * time.Second)
		require.NoError(t, create(t, g))
		require.NoError(t, create(t, g))
		require.True(t, g.Health().DownSince.IsZero())
		require.Equal(t, []gateways.Circuit{
			gateways.CircuitOpen, gateways.CircuitHalfOpen, gateways.CircuitOpen, gateways.CircuitHalfOpen, gateways.CircuitClosed,
		}, d.states)
		require.Equal(t, map[string]int{"open": 2}, d.refused)
	})
}

func TestBreakerLetsOneCallTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		g := gateways.Guarded(slow{f, time.Second}, guardLimits, gateways.Reports{})
		f.Always(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

		for range 3 {
			require.Error(t, create(t, g))
		}

		f.Heal()
		time.Sleep(11 * time.Second)

		trying := make(chan error)
		go func() { trying <- create(t, g) }()

		synctest.Wait()
		requireNotSent(t, create(t, g), "open")
		require.NoError(t, <-trying)
		require.NoError(t, create(t, g))
	})
}

// TestBreakerOpensByShare: one call in two fails, never three in a row.
func TestBreakerOpensByShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := fake.New()
		g := gateways.Guarded(f, guardLimits, gateways.Reports{})

		for range 6 {
			f.Script(fake.CreateCheckout, fake.Fault{}, fake.Fault{Mode: fake.UnknownAfterEffect})
			require.NoError(t, create(t, g))
			require.Equal(t, gateways.KindUnknown, gateways.KindOf(create(t, g)))
		}

		requireNotSent(t, create(t, g), "open")
	})
}

func TestRefusalsOpenNoBreaker(t *testing.T) {
	t.Parallel()

	f := fake.New()
	g := gateways.Guarded(f, guardLimits, gateways.Reports{})
	f.Always(fake.CreateCheckout, fake.Fault{Mode: fake.Rejected})

	for range 20 {
		require.Equal(t, gateways.KindRejected, gateways.KindOf(create(t, g)))

		_, err := g.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: uuid.New()})
		require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))
	}
}

// TestGivingUpOpensNoBreaker: a workflow that takes its call back says nothing about the gateway.
func TestGivingUpOpensNoBreaker(t *testing.T) {
	t.Parallel()

	f := fake.New()
	g := gateways.Guarded(f, guardLimits, gateways.Reports{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	for range 10 {
		_, err := g.CreateCheckout(ctx, wanted())
		require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))
	}

	require.NoError(t, create(t, g))
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gateways.Guarded(slow{fake.New(), time.Minute}, guardLimits, gateways.Reports{})
		began := time.Now()

		require.Equal(t, gateways.KindUnknown, gateways.KindOf(create(t, g)))
		require.Equal(t, 4*time.Second, time.Since(began))
	})
}

func TestPause(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ asked, want time.Duration }{
		"as asked":               {7 * time.Second, 7 * time.Second},
		"not said how long":      {time.Millisecond, time.Second},
		"till the year after":    {1000 * time.Hour, 2 * time.Minute},
		"the longest that holds": {2 * time.Minute, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var d diary

				f := fake.New()
				g := gateways.Guarded(f, guardLimits, d.reports())
				f.Script(fake.CreateCheckout, fake.Fault{Mode: fake.RateLimited, RetryAfter: tt.asked})

				err := create(t, g)
				require.Equal(t, gateways.KindRateLimited, gateways.KindOf(err))
				require.GreaterOrEqual(t, err.(*gateways.Error).RetryAfter, tt.want) //nolint:errorlint // likewise
				require.Equal(t, []time.Duration{tt.want}, d.pauses)

				time.Sleep(tt.want - time.Millisecond)
				requireNotSent(t, create(t, g), "paused")

				_, err = g.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: uuid.New()})
				require.Equal(t, gateways.KindNotFound, gateways.KindOf(err), "other kinds of calls are asked for")

				time.Sleep(2 * time.Millisecond)
				require.NoError(t, create(t, g))
				require.Equal(t, 2, f.Calls(fake.CreateCheckout))
			})
		})
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d diary

		f := fake.New()
		g := gateways.Guarded(f, gateways.Limits{Rate: 10, Burst: 5}, d.reports())
		began := time.Now()

		for range 8 {
			require.NoError(t, create(t, g))
		}

		require.Equal(t, 300*time.Millisecond, time.Since(began), "five at once, the others each wait for their turn")

		// Of many at once those go whose turn comes soon; the others get the time to come back.
		var all sync.WaitGroup

		errs := make([]error, 20)
		for i := range errs {
			all.Go(func() { errs[i] = create(t, g) })
		}

		all.Wait()

		for _, err := range errs {
			if err != nil {
				requireNotSent(t, err, "rate")
			}
		}

		require.Equal(t, 16, d.refused["rate"])
		require.Equal(t, 12, f.Calls(fake.CreateCheckout))
	})
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d diary

		g := gateways.Guarded(slow{fake.New(), time.Second}, gateways.Limits{Concurrency: 2}, d.reports())

		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { require.NoError(t, create(t, g)) })
		}

		synctest.Wait()
		requireNotSent(t, create(t, g), "busy")

		time.Sleep(400 * time.Millisecond)
		require.NoError(t, create(t, g), "a slot that is free soon is waited for")
		all.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()

		for range 2 {
			all.Go(func() { require.NoError(t, create(t, g)) })
		}

		synctest.Wait()

		_, err := g.CreateCheckout(ctx, wanted())
		require.Equal(t, gateways.KindNotSent, gateways.KindOf(err), "the money has certainly not moved")
		require.Zero(t, err.(*gateways.Error).RetryAfter) //nolint:errorlint // likewise
		all.Wait()
	})
}

func TestNonsenseOpensTheBreaker(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		change   func(*gateways.Checkout)
		believed bool
	}{
		"of another checkout":      {func(c *gateways.Checkout) { c.ID, c.MerchantReference = "co_other", uuid.New() }, false},
		"in money we never ask in": {func(c *gateways.Checkout) { c.Currency = "USD" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var d diary

			f := fake.New()
			r := wanted()
			c, err := f.CreateCheckout(t.Context(), r)
			require.NoError(t, err)

			g := gateways.Guarded(babbling{f, tt.change}, guardLimits, d.reports())

			for range 3 {
				_, err = g.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID, MerchantReference: c.MerchantReference})
				if tt.believed {
					require.NoError(t, err, "what another currency means is not for the guard to say")
				} else {
					require.Equal(t, gateways.KindUnknown, gateways.KindOf(err), "it is as good as no answer")
				}
			}

			require.Equal(t, 3, d.odd)

			_, err = g.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID, MerchantReference: c.MerchantReference})
			requireNotSent(t, err, "open")

			_, err = g.CreateCheckout(t.Context(), r)
			require.Equal(t, gateways.KindUnknown, gateways.KindOf(err), "nobody pays on a page for something else")
		})
	}
}

// No call comes any more after the breaker has opened: the report says all the same that the next call is
// let out.
func TestBreakerOfWhatNobodyNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d diary

		f := fake.New()
		g := gateways.Guarded(f, guardLimits, d.reports())
		f.Always(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

		for range 3 {
			require.Error(t, create(t, g))
		}

		time.Sleep(9 * time.Second)
		g.Health()
		require.Equal(t, []gateways.Circuit{gateways.CircuitOpen}, d.states)

		time.Sleep(2 * time.Second)
		require.False(t, g.Health().DownSince.IsZero(), "nobody knows yet whether it answers")
		require.Equal(t, []gateways.Circuit{gateways.CircuitOpen, gateways.CircuitHalfOpen}, d.states)
	})
}
