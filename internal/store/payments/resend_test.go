package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/outbox"
	"rihla/internal/store/payments"
	"rihla/models"
)

func (b *books) resend(t *testing.T, booking uuid.UUID, kind models.ResendKind, now time.Time) (payments.Resending, error) {
	t.Helper()

	return b.Store.Payments.Resend(t.Context(), bookstest.As(b.World, models.RoleSupportAgent), payments.Resend{BookingID: booking, Kind: kind}, now)
}

// TestResend: the contact as it is now gets the confirmation once more; each message once in 5 minutes and 5 times in all.
func TestResend(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 2)
	now := time.Now().UTC().Truncate(time.Millisecond)
	email := "right@rihla.test"
	require.NoError(t, b.Store.Bookings.Correct(t.Context(), bookstest.As(b.World, models.RoleAdmin), *tx.BookingID, models.Correction{Email: &email}, now))

	sending, err := b.resend(t, *tx.BookingID, models.ResendConfirmation, now)
	require.NoError(t, err)
	require.Equal(t, 4, sending.Left())
	require.Equal(t, now.Add(5*time.Minute), *sending.NextAt())
	require.Len(t, sending.Messages, 2)
	require.Equal(t, email, sending.Messages[0].Recipient)
	require.Equal(t, models.NotifyPaymentSucceeded, sending.Messages[0].Kind)
	require.Equal(t, tx.ID, sending.Messages[0].TransactionID)
	require.Equal(t, "230.00", sending.Messages[0].Data["amount"])
	require.Equal(t, *tx.Reference, sending.Messages[0].Data["payment_reference"])
	require.Equal(t, "2", sending.Messages[0].Data["seats"])
	require.True(t, outbox.Limited(&sending.Messages[0]), "it counts among the messages of a day")
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM audit_log WHERE action = 'BOOKING_MESSAGE_RESENT' AND entity_id = $1`, *tx.BookingID))

	_, err = b.resend(t, *tx.BookingID, models.ResendConfirmation, now.Add(2*time.Minute))
	requireTooMany(t, 3*time.Minute, err)

	require.Empty(t, sending.Messages[0].Data["ticket"])

	sending, err = b.resend(t, *tx.BookingID, models.ResendTicket, now.Add(2*time.Minute))
	require.NoError(t, err, "another message")
	require.NotEmpty(t, sending.Messages[0].Data["ticket"])

	for range 4 {
		now = now.Add(5 * time.Minute)
		sending, err = b.resend(t, *tx.BookingID, models.ResendConfirmation, now)
		require.NoError(t, err)
	}

	require.Nil(t, sending.NextAt())

	_, err = b.resend(t, *tx.BookingID, models.ResendConfirmation, now.Add(time.Hour))
	requireTooMany(t, 24*time.Hour, err)

	require.Equal(t, 14, b.Count(t, "SELECT count(*) FROM notifications WHERE transaction_id = $1 AND kind = 'PAYMENT_SUCCEEDED'", tx.ID))
	_, err = b.DB.ExecContext(t.Context(), "UPDATE message_sendings SET sent = 6")
	require.ErrorContains(t, err, "message_sendings_most")
}

// TestResendRefund: the message of a refund is of the newest one that succeeded.
func TestResendRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 2)

	_, err := b.resend(t, *tx.BookingID, models.ResendRefund, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	b.GiveBack(t, tx, "10.00")
	b.GiveBack(t, tx, "20.00")

	sending, err := b.resend(t, *tx.BookingID, models.ResendRefund, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.NotifyRefundSucceeded, sending.Messages[0].Kind)
	require.Equal(t, "20.00", sending.Messages[0].Data["amount"])

	for key, want := range map[string]string{
		"paid_amount": "230.00", "refunded_before": "10.00", "kept_amount": "200.00", "refund_channel": "GATEWAY", "payment_method": "credit_card",
		"expected_by": models.RefundExpectedBy(time.Now()).String(),
	} {
		require.Equal(t, want, sending.Messages[0].Data[key], key)
	}

	require.NotEmpty(t, sending.Messages[0].Data["booking_stays"])
}

// TestResendOfNothing: each case has its code, and none of them counts as a sending.
func TestResendOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unpaid := b.Book(t, b.Trip, 1)
	b.Open(t, unpaid, 1)

	for _, kind := range []models.ResendKind{models.ResendConfirmation, models.ResendTicket, models.ResendRefund} {
		_, err := b.resend(t, unpaid.ID, kind, time.Now())
		bookstest.RequireCode(t, models.CodeInvalidState, err)
		_, err = b.resend(t, uuid.New(), kind, time.Now())
		bookstest.RequireCode(t, models.CodeNotFound, err)
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM message_sendings"))
}

// TestResendAtOnce: of many requests at once one sends.
func TestResendAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	var sent, refused atomic.Int32

	bookstest.Parallel(8, func(int) {
		_, err := b.resend(t, *tx.BookingID, models.ResendTicket, time.Now())

		switch {
		case err == nil:
			sent.Add(1)
		case models.CodeOf(err) == models.CodeRateLimited:
			refused.Add(1)
		default:
			t.Error(err)
		}
	})

	require.EqualValues(t, 1, sent.Load())
	require.EqualValues(t, 7, refused.Load())
}

// TestResentMessagesCount among those that an address gets in a day, although what was paid does not.
func TestResentMessagesCount(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 1
	b := setup(t, p)
	now := time.Now()

	for _, kind := range []models.ResendKind{models.ResendConfirmation, models.ResendTicket} {
		_, err := b.resend(t, *b.Paid(t, 1).BookingID, kind, now)
		require.NoError(t, err)
	}

	left, err := b.Store.Outbox.WithholdNotifications(t.Context(), b.Claim(t, 100, now.Add(time.Minute)), nil, now.Add(time.Minute))
	require.NoError(t, err)
	require.Len(t, left, 6, "four of what was paid, and one by email and by SMS of those that were sent again")
}
