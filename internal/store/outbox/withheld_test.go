package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// A stranger whose address is in an unpaid booking gets no message about it.
func TestUnpaidBookingsTellNoStranger(t *testing.T) {
	t.Parallel()
	b := setup(t)

	end := func() models.Booking {
		booking := b.Book(t, b.Trip, 1)
		tx := b.Open(t, booking, 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentExpired, nil))
		b.Settle(t, tx, booking.HoldUntil)
		require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, booking.ID).Status)

		return booking
	}

	end()
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"))

	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)
	end()
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE channel = 'EMAIL' AND recipient = $1", b.Customer.Email))
}

// A customer whose attempt was declined, and whose hold is over later, gets one message that the seats are gone.
func TestReleasedHoldsAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)

	booking := b.Book(t, b.Trip, 1)
	b.Report(t, b.Open(t, booking, 1), models.EventPaymentFailed)
	b.Book(t, b.Trip, 1) // without an attempt
	require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, booking.ID).Status)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"), "it can be paid again")

	for _, want := range []int{2, 0} {
		n, err := b.Store.Payments.ReleaseExpiredHolds(t.Context(), 10, booking.HoldUntil.Add(time.Second))
		require.NoError(t, err)
		require.Equal(t, want, n)
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_FAILED' AND recipient = $1", b.Customer.Email))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications"))
	}
}

// An agent books for many travellers with one address: the 21st confirmation of a day leaves like the first, and none of them uses up what
// the address may get besides.
func TestMessagesAboutWhatWasPaidAreNotCounted(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 3
	b := setup(t, p)

	for range 7 {
		b.Paid(t, 1)
	}

	sent := b.Deliverable(t)
	require.Len(t, sent, 14, "seven by mail and seven by SMS")

	for i := range sent {
		b.Sent(t, &sent[i], time.Now())
	}

	tx := b.Paid(t, 1)
	b.Refund(t, tx, nil)

	again := b.Deliverable(t)
	require.Len(t, again, 4, "of the payment and of the refund")

	for i := range again {
		b.Sent(t, &again[i], time.Now())
	}

	// Three more about unpaid bookings have room beside the eighteen.
	b.unpaid(t, 4)
	require.Len(t, b.Deliverable(t), 3)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED' AND last_error LIKE '%MESSAGES_PER_RECIPIENT%'"))
}

// unpaid queues messages to the customer about bookings that were not paid.
func (b *books) unpaid(t *testing.T, n int) {
	t.Helper()
	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)

	for range n {
		booking := b.Book(t, b.InsertTrip(t, 1, nil), 1)
		tx := b.Open(t, booking, 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentExpired, nil))
		b.Settle(t, tx, booking.HoldUntil)
	}
}

// The limit is exact for messages about what is unpaid, and counts an address in whatever letters it is written.
func TestMessagesPerRecipient(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 2
	b := setup(t, p)

	b.unpaid(t, 2)

	for _, n := range b.Deliverable(t) {
		b.Sent(t, &n, time.Now())
	}

	b.Exec(t, "UPDATE notifications SET recipient = upper(recipient)")
	b.unpaid(t, 1)
	require.Empty(t, b.Deliverable(t))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED' AND last_error LIKE 'not sent:%MESSAGES_PER_RECIPIENT%'"))

	// A day later there is room again.
	b.Exec(t, "UPDATE notifications SET sent_at = sent_at - interval '1 day' WHERE status = 'SENT'")
	b.unpaid(t, 1)
	require.Len(t, b.Deliverable(t), 1)
}

// A message about an account waits for room, and its reason and time are known; one that has waited for a week is given up.
func TestMessagesThatAreGivenUp(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 1
	b := setup(t, p)

	change := func(hash string) {
		require.NoError(t, b.Store.Accounts.ChangePassword(t.Context(), db.Actor{Operator: "test"}, b.Customer.ID, "", hash))
	}

	change("one")

	for _, n := range b.Deliverable(t) {
		b.Sent(t, &n, time.Now())
	}

	change("two")
	require.Empty(t, b.Deliverable(t))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM notifications WHERE status = 'PENDING' AND attempts = 0 AND last_error LIKE 'waits%'
		AND next_attempt_at BETWEEN now() + interval '23 h' AND now() + interval '24 h'`))

	b.Exec(t, "UPDATE notifications SET created_at = now() - interval '8 days', next_attempt_at = now() WHERE status = 'PENDING'")
	require.Empty(t, b.Deliverable(t))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED' AND last_error LIKE 'not sent:%MESSAGES_PER_RECIPIENT%'"))
}

// What is said about an account waits for room. A link to a new password, which strangers can ask for, neither waits
// nor takes room from the rest.
func TestMessagesAboutAccounts(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 1
	b := setup(t, p)

	kinds := func(rows []models.Notification) (out []models.NotificationKind) {
		for i := range rows {
			out = append(out, rows[i].Kind)
			b.Sent(t, &rows[i], time.Now())
		}

		return out
	}
	ask := func() {
		b.Exec(t, "UPDATE account_tokens SET created_at = created_at - interval '15 minutes'")

		queued, err := b.Store.Accounts.AskForReset(t.Context(), db.Actor{}, b.Customer.Email)
		require.NoError(t, err)
		require.True(t, queued)
	}
	change := func(hash string) {
		require.NoError(t, b.Store.Accounts.ChangePassword(t.Context(), db.Actor{Operator: "test"}, b.Customer.ID, "", hash))
	}

	for range 3 {
		ask()
		require.Equal(t, []models.NotificationKind{models.NotifyResetPassword}, kinds(b.Deliverable(t)))
	}

	change("one")
	require.Equal(t, []models.NotificationKind{models.NotifyPasswordChanged}, kinds(b.Deliverable(t)), "there is room")

	change("two")
	ask()
	require.Equal(t, []models.NotificationKind{models.NotifyResetPassword}, kinds(b.Deliverable(t)))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'PENDING' AND last_error LIKE 'waits%'"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED'"))
}

func TestSMSCountries(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.SMSCountries = []string{"966", "971"}
	b := setup(t, p)

	for phone, want := range map[string]int{
		"+966501234567": 2, "0501234568": 2, "00971501234567": 2, "+447400000000": 1, "882000000000": 1, "+15005550006": 1,
	} {
		r := b.Request(b.Trip, 1)
		r.ContactPhone, r.ContactEmail = phone, fmt.Sprintf("contact%s@rihla.test", phone[1:])
		booking, err := b.Store.Bookings.CreateBooking(t.Context(), r, time.Now())
		require.NoError(t, err)
		b.Report(t, b.Open(t, booking, 1), models.EventPaymentSucceeded)
		require.Len(t, b.Deliverable(t), want, phone)
	}

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM notifications WHERE status = 'FAILED' AND channel = 'SMS' AND last_error LIKE '%SMS_COUNTRIES%'"))
}

// TestMailboxesAreCounted: however an address is tagged and written, its mailbox has one allowance, and SQL and Go agree about it.
func TestMailboxesAreCounted(t *testing.T) {
	t.Parallel()

	policies := models.DefaultPolicies()
	policies.MessagesPerRecipient = 3

	b := setup(t, policies)

	for i, to := range []string{"sara@example.com", "Sara+1@example.com", "sara+a+b@Example.com", "SARA+@example.com", "s.ara@example.com", "+x@example.com"} {
		n := models.Notification{
			ID: models.NewID(), UserID: &b.Customer.ID, Kind: models.NotifyVerifyEmail, Channel: models.NotifyEmail, Locale: models.LocaleArabic,
			Recipient: to, Status: models.NotificationPending, Data: map[string]string{},
		}

		_, err := b.Store.DB.NewInsert().Model(&n).ExcludeColumn("created_at", "next_attempt_at").Exec(t.Context())
		require.NoError(t, err)

		claimed := b.Claim(t, 10, time.Now().Add(time.Second))
		left, err := b.Store.Outbox.WithholdNotifications(t.Context(), claimed, nil, time.Now())
		require.NoError(t, err)
		require.Len(t, left, map[bool]int{true: 0, false: 1}[i == 3], to)

		for j := range left {
			b.Sent(t, &left[j], time.Now())
		}
	}
}
