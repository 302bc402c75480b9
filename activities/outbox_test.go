package activities_test

import (
	"context"
	"errors"
	"log/slog"
	"net/mail"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/internal/notify"
	"rihla/internal/store/bookings"
	"rihla/models"
)

// postman delivers through a real sender and fails on request.
type postman struct {
	notify.Sender

	mu        sync.Mutex
	down      error
	delivered map[uuid.UUID]int
}

func newPostman(t *testing.T) *postman {
	t.Helper()

	renderer, err := notify.NewRenderer(notify.Places{})
	require.NoError(t, err)

	return &postman{
		Sender:    notify.NewOutbox(t.TempDir(), &mail.Address{Address: "no-reply@rihla.test"}, renderer, slog.New(slog.DiscardHandler)),
		delivered: map[uuid.UUID]int{},
	}
}

func (p *postman) Send(ctx context.Context, m notify.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.down != nil {
		return p.down
	}

	err := p.Sender.Send(ctx, m)
	if err == nil {
		p.delivered[m.ID]++
	}

	return err
}

func TestDeliverNotifications(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPostman(t)
	now := time.Now().Add(time.Second)
	outbox := &activities.Outbox{Log: silent, Store: d.Store, Sender: p, Now: func() time.Time { return now }}

	deliver := func(want activities.Delivered) {
		t.Helper()

		got, err := outbox.DeliverNotifications(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	deliver(activities.Delivered{})

	for range 25 {
		d.paid(t)
	}

	now = time.Now().Add(time.Second) // all of them are due, however long that took
	deliver(activities.Delivered{Sent: 50})
	d.paid(t)

	now = now.Add(time.Minute)
	p.down = errors.New("no route to host")
	deliver(activities.Delivered{Failed: 2})
	deliver(activities.Delivered{}) // they wait for their back-off

	p.down = nil
	now = now.Add(time.Minute)

	deliver(activities.Delivered{Sent: 2})
	require.Len(t, p.delivered, 52)

	for _, times := range p.delivered {
		require.Equal(t, 1, times)
	}

	p.down = context.DeadlineExceeded
	d.paid(t)

	now = now.Add(time.Minute)
	deliver(activities.Delivered{Failed: 2})
}

func TestDeliverNotificationThatNeverCanBe(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPostman(t)
	now := time.Now().Add(time.Second)
	outbox := &activities.Outbox{Log: silent, Store: d.Store, Sender: p, Now: func() time.Time { return now }}

	booking, err := d.Store.Bookings.CreateBooking(t.Context(), bookings.NewBooking{
		UserID: d.world.Users[models.RoleEndUser].ID, TripID: d.world.Trip.ID, Passengers: []models.Passenger{{Name: "Passenger"}},
		ContactName: "Contact", ContactEmail: "not an address", Method: models.MethodCreditCard,
	}, time.Now())
	require.NoError(t, err)

	a := models.Attempt{BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodCreditCard}
	_, err = d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.NoError(t, d.gateway.Pay(a.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, 1, d.settle(t, a).Queued)

	now = time.Now().Add(time.Second)
	got, err := outbox.DeliverNotifications(t.Context())
	require.NoError(t, err)
	require.Equal(t, activities.Delivered{Failed: 1}, got)

	now = now.AddDate(0, 1, 0)
	got, err = outbox.DeliverNotifications(t.Context())
	require.NoError(t, err)
	require.Equal(t, activities.Delivered{}, got, "it is given up")
}
