package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// queued puts n paid bookings' notifications into the outbox: two of each.
func (b *books) queued(t *testing.T, n int) {
	t.Helper()

	for range n {
		b.paid(t, 1)
	}
}

func (b *books) claim(t *testing.T, limit int, now time.Time) []models.Notification {
	t.Helper()

	rows, err := b.s.ClaimNotifications(t.Context(), limit, now)
	require.NoError(t, err)

	return rows
}

func TestClaimNotifications(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	b.queued(t, 2)

	now := time.Now().Add(time.Second)
	rows := b.claim(t, 3, now)
	require.Len(t, rows, 3)

	for _, n := range rows {
		require.Equal(t, 1, n.Attempts, "the try is counted before it is made")
		require.Equal(t, store.NotificationPending, n.Status)
		require.Equal(t, models.NotifyPaymentSucceeded, n.Kind)
		require.Equal(t, "115.00", n.Data["amount"])
		require.Equal(t, models.LocaleEnglish, n.Locale)
		require.NotEmpty(t, n.Recipient)
	}

	require.Len(t, b.claim(t, 10, now), 1, "what is claimed belongs to its deliverer")
	require.Empty(t, b.claim(t, 10, now.Add(2*time.Second)))
	require.NoError(t, b.s.KeepNotifications(t.Context(), rows, now.Add(2*time.Second)))
	require.Len(t, b.claim(t, 10, now.Add(4*time.Second)), 1, "a deliverer that lives keeps what it claimed")
	require.Len(t, b.claim(t, 10, now.Add(6*time.Second)), 3, "one that died loses it after its lease")
}

func TestClaimNotificationsInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	b.queued(t, 20)

	var mu sync.Mutex

	claimed := map[uuid.UUID]int{}
	now := time.Now().Add(time.Second)

	parallel(10, func(int) {
		for {
			rows, err := b.s.ClaimNotifications(t.Context(), 3, now)
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
	b := setupBooks(t)
	b.queued(t, 1)

	now := time.Now().Add(time.Second)
	due, err := b.s.NotificationsDue(t.Context(), now)
	require.NoError(t, err)
	require.True(t, due)

	for _, n := range b.claim(t, 10, now) {
		require.NoError(t, b.s.NotificationSentNow(t.Context(), n.ID, now))
		// The second deliverer of a row whose lease ran out is too late to change it.
		require.NoError(t, b.s.NotificationSentNow(t.Context(), n.ID, now.Add(time.Minute)))
		require.NoError(t, b.s.NotificationFailedNow(t.Context(), &n, true, "refused for good", now))
	}

	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM notifications WHERE status = 'SENT' AND sent_at < $1", now.Add(time.Second)))
	require.Empty(t, b.claim(t, 10, now.Add(24*time.Hour)))

	due, err = b.s.NotificationsDue(t.Context(), now.Add(24*time.Hour))
	require.NoError(t, err)
	require.False(t, due)
}

func TestNotificationBackOff(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	b.books.Tampered(t, "it deletes the other channel", "notification")
	b.queued(t, 1)
	b.exec(t, "DELETE FROM notifications WHERE channel = 'SMS'")

	now := time.Now().Add(time.Second)
	tries := 0

	for wait := 2 * time.Second; ; wait = min(2*wait, 2*time.Hour) {
		rows := b.claim(t, 10, now)
		require.Len(t, rows, 1)

		tries++
		require.Equal(t, tries, rows[0].Attempts)
		require.NoError(t, b.s.NotificationFailedNow(t.Context(), &rows[0], false, "temporary failure", now))

		if tries == 20 {
			break
		}

		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM notifications WHERE status = 'PENDING' AND last_error = 'temporary failure'"))
		require.Empty(t, b.claim(t, 10, now.Add(wait-time.Millisecond)), "not before the back-off is over")

		now = now.Add(wait)
	}

	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED'"), "given up after 20 tries")
	require.Empty(t, b.claim(t, 10, now.AddDate(0, 0, 1)))
}

func TestNotificationRefusedForGood(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	b.queued(t, 1)

	now := time.Now().Add(time.Second)
	n := b.claim(t, 1, now)[0]
	require.NoError(t, b.s.NotificationFailedNow(t.Context(), &n, true, "refused for good", now))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM notifications WHERE id = $1 AND status = 'FAILED' AND attempts = 1 AND sent_at IS NULL", n.ID))
}

// A booking without a phone number is told by e-mail only.
func TestNotificationsWithoutAnAddress(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	n := b.request(b.Trip, 1)
	n.ContactPhone = ""
	booking, err := b.s.CreateBooking(t.Context(), n)
	require.NoError(t, err)
	tx := b.open(t, booking, 1)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	require.Equal(t, 1, b.settle(t, tx, time.Now()).Queued)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM notifications WHERE channel = 'EMAIL'"))
}
