package failure_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/e2e/rig"
	"rihla/models"
)

// ledgers are those of both merchant accounts together.
func ledgers(t *testing.T, s *harness.Stack) harness.GatewayLedger {
	t.Helper()

	both := s.GatewayLedger()
	second, err := s.Backup.Ledger()
	require.NoError(t, err)

	return rig.Ledger{Checkouts: append(both.Checkouts, second.Checkouts...), Refunds: append(both.Refunds, second.Refunds...)}
}

// TestFirstAccountIsKilledUnderLoad: twenty customers a second book while the first merchant account dies three times. No booking is
// refused, those that the first never heard of get a checkout of the second in the same answer, and every charge has its place. It
// runs alone in its package: a machine without time for the load would be what is tested.
func TestFirstAccountIsKilledUnderLoad(t *testing.T) { //nolint:paralleltest // see above
	const (
		perSecond = 20
		outages   = 3
		well, out = 2 * time.Second, 2 * time.Second
		customers = perSecond * int((outages*(well+out)+well)/time.Second)
		inFlight  = outages * 16 // calls to the first that a cut can leave without an answer: GATEWAY_A_CONCURRENCY
	)

	s := harness.Start(t, harness.Options{Backup: true})
	l := newLoad(t, s, customers)

	var (
		all      sync.WaitGroup
		atOnce   atomic.Int32
		schedule = make(chan struct{})
	)

	go func() {
		defer close(schedule)

		for range outages {
			pause(t.Context(), well)
			s.Socket.Cut()
			pause(t.Context(), out)

			if err := s.Socket.Restore(t.Context()); err != nil {
				l.expect(err)
			}
		}
	}()

	for i := range customers {
		all.Go(func() {
			c := l.newCustomer(i)

			if !c.book(t.Context()) {
				return
			}

			if c.booking.Payment.CheckoutURL != nil {
				atOnce.Add(1)
			}

			if c.findCheckout(t.Context()) {
				c.pay(t.Context())
			}
		})
		pause(t.Context(), time.Second/perSecond)
	}

	<-schedule
	all.Wait()
	l.finish(t, customers)

	t.Logf("%d of %d bookings were answered with a checkout; %d are the second account's; %d tries again", atOnce.Load(), customers,
		s.Count("SELECT count(*) FROM payment_transactions WHERE channel = 'gateway_a_backup'"), l.retries.Load())
	require.GreaterOrEqual(t, int(atOnce.Load()), customers-inFlight)
	require.GreaterOrEqual(t, s.Count("SELECT count(*) FROM payment_transactions WHERE channel = 'gateway_a_backup'"),
		outages*perSecond/2, "the second account takes what comes meanwhile")
	require.GreaterOrEqual(t, s.Count("SELECT count(*) FROM payment_transactions WHERE channel = 'gateway_a'"), outages*perSecond/2)

	await(t, patience, func() error { return books(s.DB, ledgers(t, s)) })
}

// TestAccountThatRefusesItsKey: the service is ready, names the account, shows that its methods cannot be used, and goes on with the
// other gateway.
func TestAccountThatRefusesItsKey(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"GATEWAY_A_API_KEY": "another-key-than-the-gateway-has"}})

	var ready struct {
		Checks map[string]string `json:"checks"`
	}

	require.Eventually(t, func() bool {
		a := s.Anybody().Get("/readyz")

		return a.Status == http.StatusOK && a.Data(&ready) == nil &&
			ready.Checks["gateway_a"] == "switched off: the gateway refuses GATEWAY_A_API_KEY"
	}, patience, 50*time.Millisecond)
	require.NotContains(t, ready.Checks, "wallet_b", "it is named only while it takes no payments")

	var offers []struct {
		Method    models.PaymentMethod `json:"method"`
		Available bool                 `json:"available"`
		Reason    string               `json:"unavailable_reason"`
	}

	require.NoError(t, s.Anybody().Get("/api/v1/payment-methods").Data(&offers))
	require.Len(t, offers, len(models.PaymentMethods()))

	for _, o := range offers {
		require.Equal(t, o.Method == models.MethodWalletB, o.Available, o.Method)
		require.Equal(t, o.Method != models.MethodWalletB, o.Reason == "UNAUTHORIZED", o.Method)
	}

	out, err := s.Command("", "gateway", "check")
	require.Error(t, err)
	require.Contains(t, out, "WRONG  key       GATEWAY_A_API_KEY is refused")
	require.Contains(t, out, "ok     key       WALLET_B_API_KEY is taken")
	require.NotContains(t, out, "another-key")
}
