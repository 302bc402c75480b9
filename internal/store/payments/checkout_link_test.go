package payments_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

func (b *books) sendCheckout(t *testing.T, booking uuid.UUID, now time.Time) (payments.CheckoutSending, error) {
	t.Helper()

	return b.Store.Payments.SendCheckout(t.Context(), bookstest.As(b.World, models.RoleSupportAgent), payments.SendCheckout{BookingID: booking}, now)
}

// requireTooMany wants RATE_LIMITED that says when to come back.
func requireTooMany(t *testing.T, after time.Duration, err error) {
	t.Helper()
	bookstest.RequireCode(t, models.CodeRateLimited, err)

	many, ok := errors.AsType[*payments.TooManySendingsError](err)
	require.True(t, ok)
	require.InDelta(t, after.Seconds(), many.After.Seconds(), 1)
}

// TestSendCheckout: the contact gets the link by email and SMS, once in 5 minutes and 5 times in all; the outbox and the audit log do not
// have the link.
func TestSendCheckout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 2)
	tx := b.Open(t, booking, 1)
	link := "https://gateway.test/" + tx.ID.String()
	now := time.Now().UTC().Truncate(time.Millisecond)

	sending, err := b.sendCheckout(t, booking.ID, now)
	require.NoError(t, err)
	require.Equal(t, 1, sending.Sent)
	require.Equal(t, 4, sending.Left())
	require.Equal(t, now.Add(5*time.Minute), *sending.NextAt())
	require.Equal(t, tx.ID, sending.Attempt.ID)
	require.Len(t, sending.Messages, 2)

	for i, to := range []string{"contact@rihla.test", "+966500000000"} {
		n := sending.Messages[i]
		require.Equal(t, to, n.Recipient)
		require.Equal(t, models.NotifyCheckoutLink, n.Kind)
		require.Equal(t, models.LocaleEnglish, n.Locale)
		require.Equal(t, booking.Number, n.Data["booking_number"])
		require.Equal(t, "230.00", n.Data["amount"])
		require.Equal(t, tx.ExpiresAt.UTC().Format(time.RFC3339), n.Data["retry_until"])
	}

	for _, table := range []string{"notifications", "audit_log", "checkout_sendings"} {
		require.Zero(t, b.Count(t, "SELECT count(*) FROM "+table+" AS r WHERE position($1 in r::text) > 0", link), table)
	}

	support := bookstest.As(b.World, models.RoleSupportAgent)
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM audit_log WHERE action = 'CHECKOUT_LINK_SENT' AND entity = 'booking' AND entity_id = $1
		AND actor_id = $2 AND details = jsonb_build_object('number', 1, 'channels', '["EMAIL", "SMS"]'::jsonb, 'payment_transaction_id', $3::text)`,
		booking.ID, support.UserID, tx.ID.String()))

	_, err = b.sendCheckout(t, booking.ID, now.Add(2*time.Minute))
	requireTooMany(t, 3*time.Minute, err)

	_, err = b.sendCheckout(t, booking.ID, now.Add(-10*time.Second)) // it has waited for the first one, or its clock is behind
	requireTooMany(t, 5*time.Minute, err)

	for i := 2; i <= 5; i++ {
		now = now.Add(5 * time.Minute)
		sending, err = b.sendCheckout(t, booking.ID, now)
		require.NoError(t, err, i)
		require.Equal(t, i, sending.Sent)
	}

	require.Nil(t, sending.NextAt())

	_, err = b.sendCheckout(t, booking.ID, now.Add(5*time.Minute))
	requireTooMany(t, tx.ExpiresAt.Sub(now.Add(5*time.Minute)), err)
	require.Equal(t, 10, b.Count(t, "SELECT count(*) FROM notifications WHERE transaction_id = $1 AND kind = 'CHECKOUT_LINK'", tx.ID))

	_, err = b.DB.ExecContext(t.Context(), "UPDATE checkout_sendings SET sent = 6 WHERE booking_id = $1", booking.ID)
	require.ErrorContains(t, err, "checkout_sendings_most")
}

// TestSendCheckoutWithoutSMS: an SMS that would not be sent is not announced.
func TestSendCheckoutWithoutSMS(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.SMSCountries = []string{"971"}
	b := setup(t, p)
	booking := b.Book(t, b.Trip, 1)
	b.Open(t, booking, 1)

	sending, err := b.sendCheckout(t, booking.ID, time.Now())
	require.NoError(t, err)
	require.Len(t, sending.Messages, 1)
	require.Equal(t, models.NotifyEmail, sending.Messages[0].Channel)
}

// TestSendCheckoutOfNothingToPay: each case has its code, and none of them counts as a sending.
func TestSendCheckoutOfNothingToPay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid := b.Paid(t, 1)
	given := b.Book(t, b.Trip, 1)
	b.Open(t, given, 1)
	_, _, err := b.Store.Payments.CancelBooking(t.Context(), bookstest.As(b.World, models.RoleAdmin), given.ID, time.Now())
	require.NoError(t, err)

	bare := b.Book(t, b.Trip, 1)
	pageless := b.Book(t, b.Trip, 1)
	_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(pageless, 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)

	over := b.Book(t, b.Trip, 1)
	open := b.Open(t, over, 1)

	for name, c := range map[string]struct {
		booking uuid.UUID
		now     time.Time
		code    models.Code
	}{
		"paid":             {*paid.BookingID, time.Now(), models.CodeBookingNotPayable},
		"cancelled":        {given.ID, time.Now(), models.CodeBookingNotPayable},
		"over":             {over.ID, open.ExpiresAt, models.CodeBookingNotPayable},
		"no attempt":       {bare.ID, time.Now(), models.CodeNoOpenCheckout},
		"no page":          {pageless.ID, time.Now(), models.CodeNoOpenCheckout},
		"no such booking":  {uuid.New(), time.Now(), models.CodeNotFound},
		"no booking's own": {open.ID, time.Now(), models.CodeNotFound},
	} {
		_, err := b.sendCheckout(t, c.booking, c.now)
		require.Equal(t, c.code, models.CodeOf(err), "%s: %v", name, err)
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM checkout_sendings"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'CHECKOUT_LINK'"))
}

// TestSendCheckoutAtOnce: of many requests at once one sends, whatever else happens to the booking.
func TestSendCheckoutAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)

	const requests = 20

	booking := b.Book(t, b.Trip, 1)
	tx := b.Open(t, booking, 1)

	var sent, refused atomic.Int32

	bookstest.Parallel(requests, func(int) {
		_, err := b.sendCheckout(t, booking.ID, time.Now())

		switch models.CodeOf(err) {
		case models.CodeRateLimited:
			refused.Add(1)
		default:
			if err == nil {
				sent.Add(1)
			}
		}
	})

	require.EqualValues(t, 1, sent.Load())
	require.EqualValues(t, requests-1, refused.Load())
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE transaction_id = $1 AND kind = 'CHECKOUT_LINK'", tx.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'CHECKOUT_LINK_SENT'"))
}

// TestSendCheckoutRacesThePayment: a link is queued before the payment is settled, or not at all.
func TestSendCheckoutRacesThePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)
		tx := b.Open(t, booking, 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		var sendErr, settleErr error

		bookstest.Race(
			func() { _, sendErr = b.sendCheckout(t, booking.ID, time.Now()) },
			func() { _, settleErr = b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now()) },
		)
		require.NoError(t, settleErr)

		if sendErr != nil {
			bookstest.RequireCode(t, models.CodeBookingNotPayable, sendErr)
		}

		_, err := b.Store.Payments.CheckoutLink(t.Context(), tx.ID, time.Now())
		require.Equal(t, models.CodeNotFound, models.CodeOf(err), "what is queued is not sent any more")
	}
}

// TestSendCheckoutOnce: the answer is kept with its effect, and a request that has lost its key sends nothing.
func TestSendCheckoutOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	b.Open(t, booking, 1)

	send := func(claim uuid.UUID) error {
		_, err := b.Store.Payments.SendCheckout(t.Context(), bookstest.As(b.World, models.RoleSupportAgent), payments.SendCheckout{
			BookingID: booking.ID,
			Once: db.Once[payments.CheckoutSending]{Claim: claim, Answer: func(payments.CheckoutSending) (db.Answer, error) {
				return db.Answer{Status: 202, Body: []byte("{}")}, nil
			}},
		}, time.Now())

		return err
	}

	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, send(uuid.New()))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'CHECKOUT_LINK'"))

	key := b.Key()
	claim, err := b.Store.DB.ClaimKey(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.NoError(t, send(claim.ID))

	again, err := b.Store.DB.ClaimKey(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.Equal(t, 202, again.Answer.Status)
}

// TestExpiredHoldIsToldWhereTheLinkWent: who was sent the link hears of its end, on the same channels; the account's address does not.
func TestExpiredHoldIsToldWhereTheLinkWent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE users SET email_verified_at = now()")

	booking := b.Book(t, b.Trip, 2)
	tx := b.Open(t, booking, 1)
	_, err := b.sendCheckout(t, booking.ID, time.Now())
	require.NoError(t, err)

	other := b.Book(t, b.Trip, 1)
	unsent := b.Open(t, other, 1)

	for attempt, until := range map[*models.PaymentTransaction]time.Time{&tx: booking.HoldUntil, &unsent: other.HoldUntil} {
		b.Deliver(t, bookstest.Event(*attempt, models.EventPaymentExpired, nil))
		b.Settle(t, *attempt, until)
	}

	const told = `SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_FAILED' AND transaction_id = $1 AND recipient = $2
		AND data ->> 'expired' = 'true' AND data ->> 'unpaid' = 'true'`

	for _, to := range []string{"contact@rihla.test", "+966500000000"} {
		require.Equal(t, 1, b.Count(t, told, tx.ID, to), to)
		require.Zero(t, b.Count(t, told, unsent.ID, to), to)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_FAILED' AND transaction_id = $1", unsent.ID))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_FAILED' AND transaction_id = $1", tx.ID))
}
