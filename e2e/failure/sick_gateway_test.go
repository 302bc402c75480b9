package failure_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestSickGateway: whatever is wrong with wallet_b, customers of gateway_a pay as they did before, and those of wallet_b
// are answered and served when it is well again.
func TestSickGateway(t *testing.T) {
	company := newSickCompany(t)
	s := harness.Start(t, harness.Options{Env: inLife(company.env(), map[string]string{
		"WALLET_B_TIMEOUT": "2s", "WALLET_B_BREAKER_FAILURES": "3", "WALLET_B_BREAKER_OPEN_FOR": "5s", "WALLET_B_CONCURRENCY": "4",
	})})
	company.standsBefore(s)

	// The times while wallet_b is well, and as many customers use it.
	stop, opened := keepBooking(t, s)
	well := paysInARow(t, s)

	stop()
	requireOpened(t, s, opened())

	for _, ill := range []struct {
		name string
		how  http.HandlerFunc
	}{
		{"hangs", company.hangs}, {"is down", down}, {"is busy", busy}, {"talks nonsense", nonsense},
	} {
		t.Run(ill.name, func(t *testing.T) {
			view := s.For(t)
			company.fallsIll(ill.how)

			stop, waiting := keepBooking(t, view)
			sick := paysInARow(t, view)

			stop()
			t.Logf("gateway_a took %s, the slowest %s, while wallet_b %s; %s and %s while it was well",
				sick.median(), sick.worst(), ill.name, well.median(), well.worst())
			// The delays of single payments on a busy machine are not tested.
			require.Less(t, sick.median(), 5*well.median()+time.Second)

			before := company.calls.Load()

			company.fallsIll(nil)
			requireOpened(t, view, waiting())
			t.Logf("%d calls in all, %d after it was well", company.calls.Load(), company.calls.Load()-before)
		})
	}

	awaitBooks(t, s)
}

// times is how long each of several payments took.
type times []time.Duration

func (all times) median() time.Duration { return slices.Sorted(slices.Values(all))[len(all)/2] }
func (all times) worst() time.Duration  { return slices.Max(all) }

// paysInARow has customers of gateway_a pay one after the other. All of them get through.
func paysInARow(t *testing.T, s *harness.Stack) (all times) {
	t.Helper()

	customer := s.As(models.RoleEndUser)

	for range 8 {
		began := time.Now()
		b := customer.BookPaid(1)

		require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND status = 'PAID'", b.Payment.TransactionID))

		all = append(all, time.Since(began))
	}

	return all
}

// walletBooking is a body for a booking by wallet_b on a trip of its own.
func walletBooking(s *harness.Stack, trip models.Trip) map[string]any {
	body := maps.Clone(s.BookingRequest(1))
	body["payment_method"], body["trip_id"] = models.MethodWalletB, trip.ID

	return body
}

// keepBooking has customers of wallet_b book, four at a time, until stop. Each of them is answered with a booking; waiting
// are those bookings.
func keepBooking(t *testing.T, s *harness.Stack) (stop func(), waiting func() []uuid.UUID) {
	t.Helper()

	var (
		ctx, cancel = context.WithCancel(t.Context())
		all         sync.WaitGroup
		mu          sync.Mutex
		booked      []uuid.UUID
		refused     atomic.Int32
	)

	for range 4 {
		customer, trip := s.As(models.RoleEndUser), s.NewTrip("Wallet Trip", 40)

		all.Go(func() {
			for n := 0; ctx.Err() == nil && n < 15; n++ {
				a, err := customer.Do(http.MethodPost, "/api/v1/bookings", walletBooking(s, trip), nil)

				var b harness.Booking
				if err != nil || a.Status != http.StatusCreated || a.Data(&b) != nil {
					refused.Add(1)

					continue
				}

				mu.Lock()
				booked = append(booked, b.ID)
				mu.Unlock()
			}
		})
	}

	return func() {
			cancel()
			all.Wait()
			require.Zero(t, refused.Load(), "a gateway that fails keeps no customer from booking")
		}, func() []uuid.UUID {
			mu.Lock()
			defer mu.Unlock()

			return slices.Clone(booked)
		}
}

// requireOpened waits until each of the bookings can be paid.
func requireOpened(t *testing.T, s *harness.Stack, bookings []uuid.UUID) {
	t.Helper()
	require.NotEmpty(t, bookings)

	ids := make([]string, len(bookings))
	for i, id := range bookings {
		ids[i] = id.String()
	}

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE status = 'PENDING' AND checkout_url IS NOT NULL AND booking_id = ANY ($1)",
			ids) == len(ids)
	}, 2*patience, 100*time.Millisecond, "%d bookings", len(ids))
}

// TestAnswersAtOnceWhileTheGatewayIsLeftAlone: no request waits for a gateway whose circuit is open.
func TestAnswersAtOnceWhileTheGatewayIsLeftAlone(t *testing.T) {
	t.Parallel()

	// The waits are longer than the test: an answer can only come because no request waits for the gateway.
	s, company := startWithWallet(t, map[string]string{
		"CHECKOUT_WAIT": "55s", "REFUND_WAIT": "55s", "WALLET_B_BREAKER_FAILURES": "2", "WALLET_B_BREAKER_OPEN_FOR": "10s",
	})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	var paid harness.Booking

	a := customer.Post("/api/v1/bookings", walletBooking(s, s.World.Trip))
	require.NoError(t, a.Data(&paid))
	require.NoError(t, s.Pay(*paid.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(paid.ID).PaymentStatus)

	company.fallsIll(down)

	var waiting harness.Booking

	began := time.Now()
	a = customer.Post("/api/v1/bookings", walletBooking(s, s.World.Trip))
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&waiting))
	require.Equal(t, models.TransactionPending, waiting.Payment.Status)
	require.Empty(t, waiting.Payment.CheckoutURL)

	calls := company.calls.Load()
	require.LessOrEqual(t, calls, int32(10))

	a = customer.Post(intentPath(waiting.ID), map[string]any{"payment_method": models.MethodWalletB})
	require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)
	require.Equal(t, models.CodeGatewayUnavailable, a.Code())

	a = finance.Post(refundPath(paid.ID), map[string]any{"refund_type": "FULL"})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'PENDING'", paid.ID))
	require.Less(t, time.Since(began), 50*time.Second)
	t.Logf("three answers after %s", time.Since(began).Round(time.Millisecond))

	company.fallsIll(nil)
	requireOpened(t, s, []uuid.UUID{waiting.ID})
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'SUCCEEDED'", paid.ID) == 1
	}, patience, 50*time.Millisecond)
	require.Len(t, s.GatewayLedger().Refunds, 1, "paid back once")

	a = customer.Post(intentPath(waiting.ID), map[string]any{"payment_method": models.MethodWalletB})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&waiting.Payment))
	require.NoError(t, s.Pay(*waiting.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(waiting.ID).PaymentStatus)
	require.Contains(t, s.Worker.Log(), `"gateway breaker"`)
}

func startWithWallet(t *testing.T, env map[string]string) (*harness.Stack, *sickCompany) {
	t.Helper()

	company := newSickCompany(t)
	maps.Copy(env, company.env())

	s := harness.Start(t, harness.Options{Env: env})
	company.standsBefore(s)

	return s, company
}
