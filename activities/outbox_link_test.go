package activities_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/internal/auth"
	"rihla/internal/notify"
	"rihla/internal/store/db"
	"rihla/models"
)

// letterbox keeps the links of what it is handed, and refuses the first letter after keeping it.
type letterbox struct {
	mu      sync.Mutex // an email and an SMS are sent at the same time
	links   []string
	details map[models.NotificationChannel]*notify.Details // of the newest message
	fails   int
}

func (l *letterbox) Send(_ context.Context, m notify.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.details == nil {
		l.details = map[models.NotificationChannel]*notify.Details{}
	}

	l.details[m.Channel] = m.Details

	if m.Link != "" {
		l.links = append(l.links, m.Link)
	}

	if l.fails > 0 {
		l.fails--

		return errors.New("no route to host")
	}

	return nil
}

// TestLinksAreMadeWhenTheyAreSent: a mail that is sent again has another link, the newest of which works; no row and no line of the log
// has the secret, and a mail whose link is worth nothing any more is not sent.
func TestLinksAreMadeWhenTheyAreSent(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	d, box, now := newDesk(t), &letterbox{fails: 1}, time.Now().Add(time.Second)
	outbox := &activities.Outbox{
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Store: d.Store, Sender: box,
		Now: func() time.Time { return now }, AccountPages: "https://rihla.test/console",
	}

	deliver := func(want activities.Delivered) {
		t.Helper()

		got, err := outbox.DeliverNotifications(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	send := func() {
		_, err := d.Store.Accounts.SendLink(t.Context(), db.Actor{Operator: "test"}, d.world.Users[models.RoleEndUser].ID, models.TokenResetPassword)
		require.NoError(t, err)

		now = time.Now().Add(time.Second)
	}

	send()
	deliver(activities.Delivered{Failed: 1})

	now = now.Add(time.Minute)
	deliver(activities.Delivered{Sent: 1})
	require.Len(t, box.links, 2)

	const page = "https://rihla.test/console/reset-password#"

	secrets := make([]string, len(box.links))
	for i, link := range box.links {
		require.Contains(t, link, page)
		secrets[i] = link[len(page):]
		require.Len(t, secrets[i], 43)
		require.NotContains(t, log.String(), secrets[i])

		for _, table := range []string{"notifications", "account_tokens", "audit_log"} {
			require.Zero(t, countIn(t, d, "SELECT count(*) FROM "+table+" AS r WHERE position($1 in r::text) > 0", secrets[i]), table)
		}
	}

	require.Error(t, d.Store.Accounts.ResetPassword(t.Context(), db.Actor{}, auth.HashRefreshToken(secrets[0]), "hash"))

	// The next mail is on its way when the password is set by this one.
	_, err := d.db.ExecContext(t.Context(), "UPDATE account_tokens SET created_at = created_at - interval '15 minutes'")
	require.NoError(t, err)
	send()
	require.NoError(t, d.Store.Accounts.ResetPassword(t.Context(), db.Actor{}, auth.HashRefreshToken(secrets[1]), "hash"))

	now = time.Now().Add(time.Second)
	deliver(activities.Delivered{Sent: 1, Failed: 1}) // the news of the password, and the link
	require.Len(t, box.links, 2)
	require.Equal(t, 1, countIn(t, d, "SELECT count(*) FROM notifications WHERE kind = 'RESET_PASSWORD' AND status = 'FAILED'"))
}

func countIn(t *testing.T, d *desk, query string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, d.db.QueryRowContext(t.Context(), query, args...).Scan(&n), query)

	return n
}

// TestConfirmationsLeadToTheTicket: by mail, in its language; an SMS has no room for the address.
func TestConfirmationsLeadToTheTicket(t *testing.T) {
	t.Parallel()

	d, box, now := newDesk(t), &letterbox{}, time.Now().Add(time.Minute)
	a := d.paid(t)
	d.settle(t, a)

	outbox := &activities.Outbox{
		Log: slog.New(slog.DiscardHandler), Store: d.Store, Sender: box, Now: func() time.Time { return now },
		TicketLink: func(booking uuid.UUID) string { return "https://rihla.test/t/" + booking.String() + "?signature=x" },
	}

	got, err := outbox.DeliverNotifications(t.Context())
	require.NoError(t, err)
	require.Equal(t, activities.Delivered{Sent: 2}, got)
	require.Equal(t, []string{"https://rihla.test/t/" + a.BookingID.String() + "?signature=x&lang=ar"}, box.links)
}

// TestMailsAreSentWithDetails: a confirmation has the company, the passengers who travel and the policy of the booking, which no row of
// the outbox has; an SMS has no room for them.
func TestMailsAreSentWithDetails(t *testing.T) {
	t.Parallel()

	d, box := newDesk(t), &letterbox{}
	tx := d.paid(t)
	outbox := &activities.Outbox{
		Log: slog.New(slog.DiscardHandler), Store: d.Store, Sender: box, Now: func() time.Time { return time.Now().Add(time.Minute) },
	}

	_, err := outbox.DeliverNotifications(t.Context())
	require.NoError(t, err)

	read, err := d.Store.Bookings.Ticketed(t.Context(), tx.BookingID)
	require.NoError(t, err)

	got := box.details[models.NotifyEmail]
	require.NotNil(t, got)
	require.Nil(t, box.details[models.NotifySMS])
	require.Equal(t, read.Trip.ProviderName, got.Company)
	require.NotEmpty(t, got.Company)
	require.Equal(t, []string{read.Booking.Passengers[0].Name}, got.Passengers)
	require.Equal(t, models.DefaultCancellationPolicy(), got.Policy)
	require.True(t, got.ReturnAt.Equal(d.world.Trip.ReturnAt))
	require.True(t, got.Bookable)
}
