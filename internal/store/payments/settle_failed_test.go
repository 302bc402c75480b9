package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

func TestSettleMismatch(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		edit func(*models.WebhookEvent)
		want models.FailureCode
		took string // in suspense; nothing when no amount was named
	}{
		{
			"amount", func(e *models.WebhookEvent) { m := models.MustMoney("114.99"); e.Amount = &m }, models.FailureAmountMismatch,
			"Expected 115.00 SAR, the gateway took 114.99 SAR.",
		},
		{"no amount", func(e *models.WebhookEvent) { e.Amount = nil }, models.FailureAmountMismatch, ""},
		{
			"currency", func(e *models.WebhookEvent) { e.Currency = "USD" }, models.FailureCurrencyMismatch,
			"Expected 115.00 SAR, the gateway took 115.00 USD.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			booking := b.Book(t, b.Trip, 1)
			tx := b.Open(t, booking, 1)
			wrong := bookstest.Event(tx, models.EventPaymentSucceeded, tt.edit)
			b.Deliver(t, wrong)

			require.Equal(t, models.Settled{
				Moved: true, Status: models.TransactionFailed, Failure: tt.want, NeedsReview: true, Mismatch: tt.took,
			}, b.Settle(t, tx, time.Now()))
			require.Equal(t, "INCIDENT", b.Outcome(t, wrong))
			require.Nil(t, b.Transaction(t, tx.ID).CapturedAt)
			require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, booking.ID).Status)
			require.Zero(t, b.Count(t, "SELECT count(*) FROM financial_records"))
			require.Zero(t, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind <> 'SUSPENSE_CAPTURE'"))
			require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"))

			incidents := b.Incidents(t)
			require.Len(t, incidents, 1)
			require.Equal(t, string(tt.want), string(incidents[0].Kind))
			require.Equal(t, models.IncidentOpen, incidents[0].Status)
			require.Equal(t, tx.ID, *incidents[0].PaymentTransactionID)
			require.Equal(t, booking.ID, *incidents[0].BookingID)
			require.Equal(t, models.PaymentWorkflowID(tx.ID), incidents[0].WorkflowID)
			require.Len(t, bookstest.EventsOf(incidents[0]), 1)

			// Final: whatever comes later is only added to the incident (rules: late.mismatch).
			later := []models.WebhookEvent{
				bookstest.Event(tx, models.EventPaymentSucceeded, nil), bookstest.Event(tx, models.EventPaymentFailed, nil),
				bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Currency = "EUR" }),
				bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { m := models.MustMoney("1.00"); e.Amount = &m }),
			}
			for i, e := range later {
				require.True(t, b.Deliver(t, e).Deliver)
				s := b.Settle(t, tx, time.Now())
				require.Equal(t, models.TransactionFailed, s.Status)
				require.Equal(t, tt.want, s.Failure)
				require.False(t, s.RefundOwed)
				require.Equal(t, "INCIDENT", b.Outcome(t, e))

				incidents := b.Incidents(t)
				require.Len(t, incidents, 1, "one incident for the attempt")
				require.Len(t, bookstest.EventsOf(incidents[0]), 2+i)
			}

			// The customer may try again with another attempt, once the money has gone back.
			r := b.askBack(tx)
			if b.Reserve(t, r).Channel == models.RefundByHand {
				b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
			}

			b.SettleRefund(t, r, bookstest.Granted(r))
			b.Report(t, b.Open(t, booking, 2), models.EventPaymentSucceeded)
			require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
		})
	}
}

func TestSettleMismatchAfterPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	e := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { m := models.MustMoney("1.00"); e.Amount = &m })
	require.True(t, b.Deliver(t, e).Deliver)

	s := b.Settle(t, tx, time.Now())
	require.Equal(t, models.TransactionPaid, s.Status, "what was paid stays paid")
	require.True(t, s.NeedsReview)
	require.Len(t, b.Incidents(t), 1)
	require.Contains(t, b.Incidents(t)[0].Message, "Nothing has changed")
	require.NotContains(t, b.Incidents(t)[0].Message, "not confirmed")
}

func TestSettleMismatchOfALateSuccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	tx := b.Open(t, booking, 1)
	b.Report(t, tx, models.EventPaymentFailed)

	wrong := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { m := models.MustMoney("1.00"); e.Amount = &m })
	stored := b.Deliver(t, wrong)
	require.True(t, stored.Deliver && stored.Ended)

	s := b.Settle(t, tx, time.Now())
	require.Equal(t, models.FailureAmountMismatch, s.Failure, "a mismatch is final, whatever the attempt had failed by")
	require.True(t, s.NeedsReview)
	require.False(t, s.RefundOwed)

	right := bookstest.Event(tx, models.EventPaymentSucceeded, nil)
	b.Deliver(t, right)
	require.Equal(t, models.TransactionFailed, b.Settle(t, tx, time.Now()).Status)
	require.Equal(t, "INCIDENT", b.Outcome(t, right))
	require.Len(t, b.Incidents(t), 1)
	require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, booking.ID).Status)
}

func TestSettleDeclined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 2)
	tx := b.Open(t, booking, 1)
	e := bookstest.Event(tx, models.EventPaymentFailed, nil)
	b.Deliver(t, e)

	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionFailed, Failure: models.FailureDeclined}, b.Settle(t, tx, time.Now()))

	got := b.Transaction(t, tx.ID)
	require.Equal(t, "Do not honour.", got.FailureReason)
	require.Nil(t, got.CapturedAt)
	require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, booking.ID).Status, "the hold lasts: the customer may try again")
	require.Equal(t, 2, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications")+len(b.Incidents(t)))

	again := bookstest.Event(tx, models.EventPaymentFailed, nil)
	require.True(t, b.Deliver(t, again).Duplicate)
	require.Equal(t, "DUPLICATE", b.Outcome(t, again))
}

func TestSettleDeclinedAfterTheHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 2)
	tx := b.Open(t, booking, 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentExpired, nil))

	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionFailed, Failure: models.FailureExpired}, b.Settle(t, tx, booking.HoldUntil))
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, booking.ID).Status)
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"), "nobody has paid, and the account's address is not verified")
}

func TestFailAtOnce(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.FailAtOnce = true
	b := setup(t, p)

	declined := b.Book(t, b.Trip, 1)
	b.Report(t, b.Open(t, declined, 1), models.EventPaymentFailed)
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, declined.ID).Status)

	// Cancelling an attempt to try another method is no failure.
	replaced := b.Book(t, b.Trip, 1)
	s, err := b.Store.Payments.EndPayment(t.Context(), b.Open(t, replaced, 1).ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)
	require.Equal(t, models.FailureCancelled, s.Failure)
	require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, replaced.ID).Status)

	wrong := b.Book(t, b.Trip, 1)
	tx := b.Open(t, wrong, 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Currency = "USD" }))
	b.Settle(t, tx, time.Now())
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, wrong.ID).Status)
	require.Equal(t, 1, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

func TestEndPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, why := range []models.FailureCode{models.FailureCancelled, models.FailureGatewayRejected, models.FailureExpired} {
		booking := b.Book(t, b.Trip, 1)
		tx := b.Open(t, booking, 1)
		s, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, why, "words", time.Now())
		require.NoError(t, err)
		require.Equal(t, models.Settled{
			Moved: true, Gateway: tx.Gateway, Booking: *tx.BookingID, Status: models.TransactionFailed, Failure: why,
		}, s)
		require.Equal(t, "words", b.Transaction(t, tx.ID).FailureReason)
		require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, booking.ID).Status, why)

		before := b.Fingerprint(t)
		s, err = b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureExpired, "other", time.Now())
		require.NoError(t, err)
		require.Equal(t, why, s.Failure, "the first reason stays")
		require.Equal(t, before, b.Fingerprint(t))
	}

	booking := b.Book(t, b.Trip, 1)
	tx := b.Open(t, booking, 1)
	_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", booking.HoldUntil)
	require.NoError(t, err)
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, booking.ID).Status)
}
