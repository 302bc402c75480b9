package failure_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"rihla/e2e/harness"
	"rihla/models"
)

// load is a number of customers who book and pay at the same time. They retry requests that the network or the service broke,
// as an app does: the booking with the same Idempotency-Key, the intent, the payment.
type load struct {
	stack  *harness.Stack
	caller *harness.Caller
	trips  []models.Trip

	booked, payable, paid atomic.Int32 // customers that have got so far
	retries               atomic.Int32
	customers             atomic.Int64
	done                  sync.WaitGroup

	mu     sync.Mutex
	broken []string // answers that no customer should ever see
}

// seatsPerBooking differs from one, so that a seat which is counted twice does not look like two bookings.
const seatsPerBooking = 2

// newLoad makes room for the customers: as many trips as their bookings fill.
func newLoad(t *testing.T, s *harness.Stack, customers int) *load {
	t.Helper()

	l := &load{stack: s, caller: s.As(models.RoleEndUser)}
	for range customers/20 + 1 {
		l.trips = append(l.trips, s.NewTrip("Crowded Trip", 20*seatsPerBooking))
	}

	return l
}

// customer is one of them.
type customer struct {
	load    *load
	key     string
	number  int64
	trip    models.Trip
	booking harness.Booking
}

func (l *load) newCustomer(i int) *customer {
	return &customer{load: l, key: uuid.NewString(), number: l.customers.Add(1), trip: l.trips[i%len(l.trips)]}
}

// waitToPay makes customers who have their checkout and wait; the returned function sends them to pay, one after the
// other within the given time.
func (l *load) waitToPay(ctx context.Context, t *testing.T, n int, within time.Duration) (pay func()) {
	t.Helper()

	waiting := make(chan struct{})

	var ready sync.WaitGroup

	for i := range n {
		c := l.newCustomer(i)

		ready.Add(1)
		l.done.Go(func() {
			ok := c.book(ctx) && c.findCheckout(ctx)

			ready.Done()
			<-waiting

			if ok && pause(ctx, share(within, i, n)) {
				c.pay(ctx)
			}
		})
	}

	ready.Wait()
	require.EqualValues(t, n, l.payable.Load(), "%v", l.broken)

	return func() { close(waiting) }
}

// queueToPay makes customers who have their checkout, a few at a time; the returned function has them pay evenly over a time.
func (l *load) queueToPay(ctx context.Context, t *testing.T, n int) (pay func(within time.Duration)) {
	t.Helper()

	customers := make([]*customer, n)

	var ready errgroup.Group

	ready.SetLimit(16)

	for i := range customers {
		customers[i] = l.newCustomer(i)
		ready.Go(func() error {
			_ = customers[i].book(ctx) && customers[i].findCheckout(ctx)

			return nil
		})
	}

	_ = ready.Wait()

	require.EqualValues(t, n, l.payable.Load(), "%v", l.broken)

	return func(within time.Duration) {
		for i, c := range customers {
			l.done.Go(func() {
				if pause(ctx, share(within, i, n)) {
					c.pay(ctx)
				}
			})
		}

		l.done.Wait()
	}
}

// share is the part of a time that the i-th of n waits.
func share(d time.Duration, i, n int) time.Duration { return d * time.Duration(i) / time.Duration(n) }

// come makes customers who book and pay without pause, one after the other within the given time.
func (l *load) come(ctx context.Context, n int, within time.Duration) {
	for i := range n {
		c := l.newCustomer(i)

		l.done.Go(func() {
			if pause(ctx, share(within, i, n)) && c.book(ctx) && c.findCheckout(ctx) {
				c.pay(ctx)
			}
		})
	}
}

// finish waits until every customer has paid, and makes sure that none of them was told nonsense on the way.
func (l *load) finish(t *testing.T, customers int) {
	t.Helper()
	l.done.Wait()

	l.mu.Lock()
	defer l.mu.Unlock()

	require.Empty(t, l.broken)
	require.EqualValues(t, customers, l.paid.Load(), "every customer gets to pay in the end")
}

// request is the body of the customer's booking.
func (c *customer) request() map[string]any {
	passengers := make([]map[string]string, seatsPerBooking)
	for i := range passengers {
		passengers[i] = map[string]string{"name": "Passenger"}
	}

	// Each has an address and a phone of their own: the messages to one are sent one after another.
	return map[string]any{
		"trip_id": c.trip.ID, "passengers": passengers, "payment_method": models.MethodCreditCard,
		"contact": map[string]string{"name": "Customer", "email": c.key + "@rihla.test", "phone": fmt.Sprintf("+9665%08d", c.number)},
	}
}

func (c *customer) book(ctx context.Context) bool {
	a, ok := c.load.retryUntilDecided(ctx, "/api/v1/bookings", c.request(), map[string]string{"Idempotency-Key": c.key})
	if !ok || !c.load.expect(a.Data(&c.booking)) {
		return false
	}

	c.load.booked.Add(1)

	return true
}

// findCheckout asks for the place to pay at, should the booking have been answered without one.
func (c *customer) findCheckout(ctx context.Context) bool {
	for c.booking.Payment.CheckoutURL == nil {
		a, ok := c.load.retryUntilDecided(ctx, "/api/v1/payments/booking/"+c.booking.ID.String()+"/intent",
			map[string]any{"payment_method": models.MethodCreditCard}, nil)
		if !ok || !c.load.expect(a.Data(&c.booking.Payment)) {
			return false
		}
	}

	c.load.payable.Add(1)

	return true
}

func (c *customer) pay(ctx context.Context) {
	for c.load.stack.Pay(*c.booking.Payment.CheckoutURL, "succeed") != nil {
		if !pause(ctx, retryPause) {
			return
		}
	}

	c.load.paid.Add(1)
}

// retryPause is between two tries of one customer.
const retryPause = 200 * time.Millisecond

// retryUntilDecided sends a request until it succeeds. Only answers that ask for a retry may come between.
func (l *load) retryUntilDecided(ctx context.Context, path string, body any, header map[string]string) (harness.Answer, bool) {
	for {
		a, err := l.caller.Do(http.MethodPost, path, body, header)

		switch {
		case err != nil:
		case a.Status == http.StatusOK, a.Status == http.StatusCreated, a.Status == http.StatusAccepted:
			return a, true
		case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "",
			a.Code() == models.CodeGatewayUnavailable, a.Code() == models.CodeIdempotencyKeyInProcess:
		default:
			return a, l.expect(fmt.Errorf("%s: %d %s", path, a.Status, a.Body))
		}

		l.retries.Add(1)

		if !pause(ctx, retryPause) {
			return a, l.expect(fmt.Errorf("%s: given up at %d %s %w", path, a.Status, a.Body, err))
		}
	}
}

// expect notes what should not have happened.
func (l *load) expect(err error) bool {
	if err == nil {
		return true
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	l.broken = append(l.broken, err.Error())

	return false
}

// pause reports whether the time has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
