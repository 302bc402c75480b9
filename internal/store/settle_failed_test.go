package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func (b *books) incidents(t *testing.T) []models.Incident {
	t.Helper()

	l, err := b.s.ListIncidents(t.Context(), store.IncidentFilter{})
	require.NoError(t, err)

	return l.Items
}

func eventsOf(i models.Incident) []any { return i.Details["events"].([]any) }

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
			b := setupBooks(t)
			booking := b.book(t, b.Trip, 1)
			tx := b.open(t, booking, 1)
			wrong := word(tx, models.EventPaymentSucceeded, tt.edit)
			b.deliver(t, wrong)

			require.Equal(t, models.Settled{
				Moved: true, Status: models.TransactionFailed, Failure: tt.want, NeedsReview: true, Mismatch: tt.took,
			}, b.settle(t, tx, time.Now()))
			require.Equal(t, "INCIDENT", b.outcome(t, wrong))
			require.Nil(t, b.transaction(t, tx.ID).CapturedAt)
			require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, booking.ID).Status)
			require.Zero(t, b.count(t, "SELECT count(*) FROM financial_records"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE kind <> 'SUSPENSE_CAPTURE'"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM notifications"))

			incidents := b.incidents(t)
			require.Len(t, incidents, 1)
			require.Equal(t, string(tt.want), string(incidents[0].Kind))
			require.Equal(t, models.IncidentOpen, incidents[0].Status)
			require.Equal(t, tx.ID, *incidents[0].PaymentTransactionID)
			require.Equal(t, booking.ID, *incidents[0].BookingID)
			require.Equal(t, "payment/"+tx.ID.String(), incidents[0].WorkflowID)
			require.Len(t, eventsOf(incidents[0]), 1)

			// Final: whatever comes later is only added to the incident (contract §5).
			later := []models.WebhookEvent{
				word(tx, models.EventPaymentSucceeded, nil), word(tx, models.EventPaymentFailed, nil),
				word(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Currency = "EUR" }),
				word(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { m := models.MustMoney("1.00"); e.Amount = &m }),
			}
			for i, e := range later {
				require.True(t, b.deliver(t, e).Deliver)
				s := b.settle(t, tx, time.Now())
				require.Equal(t, models.TransactionFailed, s.Status)
				require.Equal(t, tt.want, s.Failure)
				require.False(t, s.RefundOwed)
				require.Equal(t, "INCIDENT", b.outcome(t, e))

				incidents := b.incidents(t)
				require.Len(t, incidents, 1, "one incident for the attempt")
				require.Len(t, eventsOf(incidents[0]), 2+i)
			}

			// The customer may try again with another attempt, once the money has gone back.
			r := b.askBack(tx)
			if b.reserve(t, r).Channel == models.RefundByHand {
				b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
			}

			b.settleRefund(t, r, granted(r))
			b.report(t, b.open(t, booking, 2), models.EventPaymentSucceeded)
			require.Equal(t, models.BookingConfirmed, b.bookingNow(t, booking.ID).Status)
		})
	}
}

func TestSettleMismatchAfterPayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	e := word(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { m := models.MustMoney("1.00"); e.Amount = &m })
	require.True(t, b.deliver(t, e).Deliver)

	s := b.settle(t, tx, time.Now())
	require.Equal(t, models.TransactionPaid, s.Status, "what was paid stays paid")
	require.True(t, s.NeedsReview)
	require.Len(t, b.incidents(t), 1)
	require.Contains(t, b.incidents(t)[0].Message, "nothing has changed")
	require.NotContains(t, b.incidents(t)[0].Message, "not confirmed")
}

func TestSettleMismatchOfALateSuccess(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)
	tx := b.open(t, booking, 1)
	b.report(t, tx, models.EventPaymentFailed)

	wrong := word(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { m := models.MustMoney("1.00"); e.Amount = &m })
	stored := b.deliver(t, wrong)
	require.True(t, stored.Deliver && stored.Ended)

	s := b.settle(t, tx, time.Now())
	require.Equal(t, models.FailureAmountMismatch, s.Failure, "a mismatch is final, whatever the attempt had failed by")
	require.True(t, s.NeedsReview)
	require.False(t, s.RefundOwed)

	right := word(tx, models.EventPaymentSucceeded, nil)
	b.deliver(t, right)
	require.Equal(t, models.TransactionFailed, b.settle(t, tx, time.Now()).Status)
	require.Equal(t, "INCIDENT", b.outcome(t, right))
	require.Len(t, b.incidents(t), 1)
	require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, booking.ID).Status)
}

func TestSettleDeclined(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 2)
	tx := b.open(t, booking, 1)
	e := word(tx, models.EventPaymentFailed, nil)
	b.deliver(t, e)

	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionFailed, Failure: models.FailureDeclined}, b.settle(t, tx, time.Now()))

	got := b.transaction(t, tx.ID)
	require.Equal(t, "Do not honour.", got.FailureReason)
	require.Nil(t, got.CapturedAt)
	require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, booking.ID).Status, "the hold lasts: the customer may try again")
	require.Equal(t, 2, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Zero(t, b.count(t, "SELECT count(*) FROM notifications")+len(b.incidents(t)))

	again := word(tx, models.EventPaymentFailed, nil)
	require.True(t, b.deliver(t, again).Duplicate)
	require.Equal(t, "DUPLICATE", b.outcome(t, again))
}

func TestSettleDeclinedAfterTheHold(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 2)
	tx := b.open(t, booking, 1)
	b.deliver(t, word(tx, models.EventPaymentExpired, nil))

	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionFailed, Failure: models.FailureExpired}, b.settle(t, tx, booking.HoldUntil))
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, booking.ID).Status)
	require.Zero(t, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Zero(t, b.count(t, "SELECT count(*) FROM notifications"), "nobody has paid, and the account's address is not verified")
}

func TestFailAtOnce(t *testing.T) {
	t.Parallel()
	p := store.DefaultPolicies()
	p.FailAtOnce = true
	b := setupBooksWith(t, p)

	declined := b.book(t, b.Trip, 1)
	b.report(t, b.open(t, declined, 1), models.EventPaymentFailed)
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, declined.ID).Status)

	// Cancelling an attempt to try another method is no failure.
	replaced := b.book(t, b.Trip, 1)
	s, err := b.s.EndPayment(t.Context(), b.open(t, replaced, 1).ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)
	require.Equal(t, models.FailureCancelled, s.Failure)
	require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, replaced.ID).Status)

	wrong := b.book(t, b.Trip, 1)
	tx := b.open(t, wrong, 1)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Currency = "USD" }))
	b.settle(t, tx, time.Now())
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, wrong.ID).Status)
	require.Equal(t, 1, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

func TestEndPayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for _, why := range []models.FailureCode{models.FailureCancelled, models.FailureGatewayRejected, models.FailureExpired} {
		booking := b.book(t, b.Trip, 1)
		tx := b.open(t, booking, 1)
		s, err := b.s.EndPayment(t.Context(), tx.ID, why, "words", time.Now())
		require.NoError(t, err)
		require.Equal(t, models.Settled{Moved: true, Gateway: tx.Gateway, Status: models.TransactionFailed, Failure: why}, s)
		require.Equal(t, "words", b.transaction(t, tx.ID).FailureReason)
		require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, booking.ID).Status, why)

		before := b.fingerprint(t)
		s, err = b.s.EndPayment(t.Context(), tx.ID, models.FailureExpired, "other", time.Now())
		require.NoError(t, err)
		require.Equal(t, why, s.Failure, "the first reason stays")
		require.Equal(t, before, b.fingerprint(t))
	}

	booking := b.book(t, b.Trip, 1)
	tx := b.open(t, booking, 1)
	_, err := b.s.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", booking.HoldUntil)
	require.NoError(t, err)
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, booking.ID).Status)
}
