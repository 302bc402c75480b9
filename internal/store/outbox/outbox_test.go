package outbox_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// queued puts n paid bookings' notifications into the outbox: two of each.
func (b *books) queued(t *testing.T, n int) {
	t.Helper()

	for range n {
		b.Paid(t, 1)
	}
}

func TestClaimNotifications(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queued(t, 2)

	now := time.Now().Add(time.Second)
	rows := b.Claim(t, 3, now)
	require.Len(t, rows, 3)

	for _, n := range rows {
		require.Equal(t, 1, n.Attempts, "the try is counted before it is made")
		require.Equal(t, models.NotificationPending, n.Status)
		require.Equal(t, models.NotifyPaymentSucceeded, n.Kind)
		require.Equal(t, "115.00", n.Data["amount"])
		require.Equal(t, models.LocaleEnglish, n.Locale)
		require.NotEmpty(t, n.Recipient)
	}

	require.Len(t, b.Claim(t, 10, now), 1, "what is claimed belongs to its deliverer")
	require.Empty(t, b.Claim(t, 10, now.Add(2*time.Second)))
	require.NoError(t, b.Store.Outbox.KeepNotifications(t.Context(), ids(rows), now.Add(2*time.Second)))
	require.Len(t, b.Claim(t, 10, now.Add(4*time.Second)), 1, "a deliverer that lives keeps what it claimed")
	require.Len(t, b.Claim(t, 10, now.Add(6*time.Second)), 3, "one that died loses it after its lease")
}

func TestClaimNotificationsInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queued(t, 20)

	var mu sync.Mutex

	claimed := map[uuid.UUID]int{}
	now := time.Now().Add(time.Second)

	bookstest.Parallel(10, func(int) {
		for {
			rows, err := b.Store.Outbox.ClaimNotifications(t.Context(), outbox.Claim{}, 3, now)
			if err != nil || len(rows) == 0 || len(rows) > 3 {
				if err != nil || len(rows) > 3 {
					t.Errorf("claimed %d rows: %v", len(rows), err)
				}

				return
			}

			mu.Lock()
			for _, n := range rows {
				claimed[n.ID]++
			}
			mu.Unlock()
		}
	})

	require.Len(t, claimed, 40)

	for _, times := range claimed {
		require.Equal(t, 1, times, "each row goes to one deliverer")
	}
}

func TestNotificationSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queued(t, 1)

	now := time.Now().Add(time.Second)
	due, err := b.Store.Payments.NotificationsDue(t.Context(), now)
	require.NoError(t, err)
	require.True(t, due)

	for _, n := range b.Claim(t, 10, now) {
		b.Sent(t, &n, now)
		// The second deliverer of a row whose lease ran out is too late to change it.
		b.Sent(t, &n, now.Add(time.Minute))
		b.Failed(t, &n, true, "refused for good", now)
	}

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'SENT' AND sent_at < $1", now.Add(time.Second)))
	require.Empty(t, b.Claim(t, 10, now.Add(24*time.Hour)))

	due, err = b.Store.Payments.NotificationsDue(t.Context(), now.Add(24*time.Hour))
	require.NoError(t, err)
	require.False(t, due)
}

func TestNotificationBackOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it deletes the other channel", "notification")
	b.queued(t, 1)
	b.Exec(t, "DELETE FROM notifications WHERE channel = 'SMS'")

	now := time.Now().Add(time.Second)
	tries := 0

	for wait := 2 * time.Second; ; wait = min(2*wait, 2*time.Hour) {
		rows := b.Claim(t, 10, now)
		require.Len(t, rows, 1)

		tries++
		require.Equal(t, tries, rows[0].Attempts)
		b.Failed(t, &rows[0], false, "temporary failure", now)

		if tries == 20 {
			break
		}

		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'PENDING' AND last_error = 'temporary failure'"))
		require.Empty(t, b.Claim(t, 10, now.Add(wait-time.Millisecond)), "not before the back-off is over")

		now = now.Add(wait)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED'"), "given up after 20 tries")
	require.Empty(t, b.Claim(t, 10, now.AddDate(0, 0, 1)))
}

func TestNotificationRefusedForGood(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queued(t, 1)

	now := time.Now().Add(time.Second)
	n := b.Claim(t, 1, now)[0]
	b.Failed(t, &n, true, "refused for good", now)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE id = $1 AND status = 'FAILED' AND attempts = 1 AND sent_at IS NULL", n.ID))
}

// A booking without a phone number has an email only.
func TestNotificationsWithoutAnAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.Request(b.Trip, 1)
	n.ContactPhone = ""
	booking, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	require.NoError(t, err)
	tx := b.Open(t, booking, 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	require.Equal(t, 1, b.Settle(t, tx, time.Now()).Queued)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE channel = 'EMAIL'"))
}

// TestMessagesGoToPlainAddresses: earlier bookings were kept with what was pasted along with an address.
func TestMessagesGoToPlainAddresses(t *testing.T) {
	t.Parallel()

	to := map[models.NotificationChannel]string{}
	for _, n := range outbox.NewMessages(models.NotifyPaymentSucceeded, models.NewID(), "", models.LocaleArabic,
		"\u202asara@rih\u200bla.test\u202c", "\u202a٠٥٠ ١٢٣\u2011٤٥٦٧\u202c", nil) {
		to[n.Channel] = n.Recipient
	}

	require.Equal(t, map[models.NotificationChannel]string{models.NotifyEmail: "sara@rihla.test", models.NotifySMS: "+966501234567"}, to)
	require.Empty(t, outbox.NewMessages(models.NotifyPaymentSucceeded, models.NewID(), "", models.LocaleArabic, "\u200f", "", nil))
}

func ids(rows []models.Notification) []uuid.UUID {
	out := make([]uuid.UUID, len(rows))
	for i := range rows {
		out[i] = rows[i].ID
	}

	return out
}
