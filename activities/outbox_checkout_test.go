package activities_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestCheckoutLinksAreReadWhenTheyAreSent: a message has the address at which the attempt can be paid at that moment; no log has it. When
// the attempt was given up meanwhile it is not sent, and its row says why.
func TestCheckoutLinksAreReadWhenTheyAreSent(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	d, box, now := newDesk(t), &letterbox{}, time.Now().Add(time.Second)
	outbox := &activities.Outbox{
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Store: d.Store, Sender: box,
		Now: func() time.Time { return now },
	}

	deliver := func(want activities.Delivered) {
		t.Helper()

		got, err := outbox.DeliverNotifications(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	a := d.attempt(t)
	_, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)

	tx, err := d.Store.Payments.TransactionByID(t.Context(), a.ID())
	require.NoError(t, err)
	require.NotNil(t, tx.CheckoutURL)

	support := db.Actor{UserID: d.world.Users[models.RoleSupportAgent].ID, Role: models.RoleSupportAgent}
	send := func(at time.Time) {
		t.Helper()

		_, err := d.Store.Payments.SendCheckout(t.Context(), support, payments.SendCheckout{BookingID: a.BookingID}, at)
		require.NoError(t, err)
	}

	send(time.Now())
	deliver(activities.Delivered{Sent: 2})
	require.Equal(t, []string{*tx.CheckoutURL, *tx.CheckoutURL}, box.links)
	require.NotContains(t, log.String(), *tx.CheckoutURL)

	send(time.Now().Add(5 * time.Minute))

	_, _, err = d.Store.Payments.CancelBooking(t.Context(), db.Actor{UserID: a.UserID, Role: models.RoleEndUser}, a.BookingID, time.Now())
	require.NoError(t, err)

	now = time.Now().Add(time.Second)
	deliver(activities.Delivered{Failed: 2})
	require.Len(t, box.links, 2)
	require.Equal(t, 2, countIn(t, d,
		"SELECT count(*) FROM notifications WHERE status = 'FAILED' AND last_error = 'not sent: there is nothing to pay any more'"))
}
