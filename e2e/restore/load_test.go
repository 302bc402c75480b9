//go:build drill

package restore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/rig"
	"rihla/models"
)

const (
	trips     = 25
	capacity  = 45
	customers = 6
	price     = "230.00"
)

// load is customers who book, pay and are refunded, whatever breaks meanwhile, until it is stopped.
type load struct {
	w        *world
	customer rig.Client
	finance  rig.Client
	trips    []uuid.UUID
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex
	booked  []answered // bookings that were answered with 201
	paid    []answered // bookings that a customer was shown as paid
	refused int        // requests without success
	last    error      // of the last one
}

type answered struct {
	id   uuid.UUID
	when time.Time // it was answered
	made time.Time // the booking was asked for
}

// startLoad begins, and returns when payments and refunds have been made.
func (w *world) startLoad() *load {
	w.Helper()

	url := "http://" + w.api
	l := &load{w: w, customer: w.logIn(url, models.RoleEndUser), finance: w.logIn(url, models.RoleFinanceAdmin)}
	provider := w.logIn(url, models.RoleProviderAdmin)

	var buses []gen.Bus

	require.NoError(w, provider.Get(w.Context(), "/api/v1/provider/buses", &buses))

	for i := range trips {
		var made gen.Trip

		body := rig.TripRequest(fmt.Sprintf("Drill %d", i), buses[0].ID, time.Now().AddDate(0, 0, 30+4*i), models.MustMoney(price), capacity)
		require.NoError(w, provider.Post(w.Context(), "/api/v1/provider/trips", body, &made))

		require.NoError(w, provider.Post(w.Context(), "/api/v1/trips/"+made.ID.String()+"/publish", nil, nil))

		l.trips = append(l.trips, made.ID)
	}

	ctx, cancel := context.WithCancel(w.Context())
	l.stop = cancel
	w.Cleanup(cancel)

	for range customers {
		l.done.Go(func() {
			for ctx.Err() == nil {
				l.serve(ctx)
			}
		})
	}

	l.waitPaid(time.Time{}, 12)

	return l
}

// end lets no further customer come.
func (l *load) end() {
	l.stop()
	l.done.Wait()
}

func (w *world) logIn(url string, role models.Role) rig.Client {
	w.Helper()

	c, err := rig.Client{URL: url}.LogIn(w.Context(), emailOf(role), password)
	require.NoError(w, err)

	return c
}

// serve is one customer.
func (l *load) serve(ctx context.Context) {
	began := time.Now()

	var b gen.Booking

	body := rig.BookingRequest(l.trips[rand.IntN(len(l.trips))], 1, models.MethodCreditCard, uuid.NewString()+"@rihla.test")
	if !l.try(ctx, l.customer.Post(ctx, "/api/v1/bookings", body, &b)) {
		return
	}

	l.note(&l.booked, answered{b.ID, time.Now(), began})

	if b.Payment.Reference == nil {
		return // its gateway, or the orchestrator, was away
	}

	switch rand.IntN(10) {
	case 0:
		return // never comes to pay
	case 1:
		_, _ = l.w.service.Gateway.Press(*b.Payment.Reference, "decline")

		return
	}

	if pressed, err := l.w.service.Gateway.Press(*b.Payment.Reference, "succeed"); err != nil || !pressed {
		return
	}

	var status gen.PaymentStatus

	err := l.customer.Get(ctx, "/api/v1/bookings/"+b.ID.String()+"/payment-status?wait=5", &status)
	if !l.try(ctx, err) || status.BookingStatus != models.BookingConfirmed {
		return
	}

	l.note(&l.paid, answered{b.ID, time.Now(), began})
	l.refund(ctx, b.ID)
}

// refund gives some of the money back to every third customer.
func (l *load) refund(ctx context.Context, booking uuid.UUID) {
	body := map[string]any{"refund_type": models.RefundFull}

	switch rand.IntN(6) {
	case 0:
	case 1:
		body = map[string]any{"refund_type": models.RefundPartial, "amount": models.MustMoney("30.00")}
	default:
		return
	}

	l.try(ctx, l.finance.Post(ctx, "/api/v1/admin/bookings/"+booking.String()+"/refund", body, nil))
}

// try counts what did not succeed, and has the next request wait a moment.
func (l *load) try(ctx context.Context, err error) bool {
	if err == nil {
		return true
	}

	l.mu.Lock()
	l.refused++
	l.last = err
	l.mu.Unlock()

	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}

	return false
}

func (l *load) note(list *[]answered, a answered) {
	l.mu.Lock()
	defer l.mu.Unlock()

	*list = append(*list, a)
}

// paidSince counts bookings made since and shown as paid.
func (l *load) paidSince(since time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, a := range l.paid {
		if a.made.After(since) {
			n++
		}
	}

	return n
}

// backAfter is how long after a moment the first booking that was made since was shown as paid.
func (l *load) backAfter(moment time.Time) time.Duration {
	l.w.Helper()
	eventually(l.w, 2*time.Minute, "payments are made again", func() bool { return l.paidSince(moment) > 0 })

	l.mu.Lock()
	defer l.mu.Unlock()

	first := time.Now()

	for _, a := range l.paid {
		if a.made.After(moment) && a.when.Before(first) {
			first = a.when
		}
	}

	return first.Sub(moment)
}

// lost are bookings answered before a moment that the books do not have, and how long before it the first of them was answered.
func (l *load) lost(in *postgres, before time.Time) (n int, window time.Duration) {
	l.w.Helper()

	known := map[uuid.UUID]bool{}

	rows, err := l.w.open(in).QueryContext(l.w.Context(), "SELECT id FROM bookings")
	require.NoError(l.w, err)

	defer rows.Close()

	for rows.Next() {
		var id uuid.UUID

		require.NoError(l.w, rows.Scan(&id))
		known[id] = true
	}

	require.NoError(l.w, rows.Err())

	l.mu.Lock()
	defer l.mu.Unlock()

	for _, a := range l.booked {
		if a.when.Before(before) && !known[a.id] {
			n++
			window = max(window, before.Sub(a.when))
		}
	}

	return n, window
}

func emailOf(r models.Role) string {
	return map[models.Role]string{
		models.RoleEndUser: "end_user", models.RoleFinanceAdmin: "finance_admin", models.RoleProviderAdmin: "provider_admin",
		models.RoleSuperAdmin: "super_admin",
	}[r] + "@rihla.test"
}

// declined is a booking whose first attempt was declined and that can be paid by a second one.
func (l *load) declined() uuid.UUID {
	l.w.Helper()

	var b gen.Booking

	body := rig.BookingRequest(l.trips[0], 1, models.MethodCreditCard, uuid.NewString()+"@rihla.test")
	require.NoError(l.w, l.customer.Post(l.w.Context(), "/api/v1/bookings", body, &b))

	pressed, err := l.w.service.Gateway.Press(*b.Payment.Reference, "decline")
	require.NoError(l.w, err)
	require.True(l.w, pressed)
	eventually(l.w, 30*time.Second, "the attempt has failed", func() bool {
		return l.w.primary.says("FAILED", database, "SELECT status FROM payment_transactions WHERE booking_id = '"+b.ID.String()+"'")
	})

	return b.ID
}

// intent asks for a further attempt, and returns its checkout.
func (l *load) intent(booking uuid.UUID) (checkout string) {
	l.w.Helper()

	path := "/api/v1/payments/booking/" + booking.String() + "/intent"

	require.Eventually(l.w, func() bool {
		var t gen.PaymentTransaction

		err := l.customer.Post(l.w.Context(), path, gen.IntentRequest{PaymentMethod: models.MethodCreditCard}, &t)
		if err == nil && t.Reference != nil {
			checkout = *t.Reference
		}

		l.try(l.w.Context(), err)

		return checkout != ""
	}, 30*time.Second, 100*time.Millisecond, "the booking can be paid")

	return checkout
}

// payAgain pays a booking by the attempt that the books had lost: it has the same id, and so the checkout that there is.
func (l *load) payAgain(booking uuid.UUID) {
	l.w.Helper()

	pressed, err := l.w.service.Gateway.Press(l.intent(booking), "succeed")
	require.NoError(l.w, err)
	require.True(l.w, pressed)
	eventually(l.w, 30*time.Second, "the booking is confirmed", func() bool {
		return l.w.primary.says(string(models.BookingConfirmed), database, "SELECT status FROM bookings WHERE id = '"+booking.String()+"'")
	})
}
