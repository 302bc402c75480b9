package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// refundOf is the attempt that a reserved refund takes its money from.
func (b *books) refundOf(t *testing.T, r models.RefundRequest) models.Refund {
	t.Helper()

	refund, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)

	return refund
}

// The automatic refund of a late payment is refused: finance staff can give the money back by hand.
func TestLatePaymentIsRefundedByHand(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	trip := b.trip(t, 3, nil)
	tx := b.lapsed(t, trip, 1)
	b.exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", trip.ID)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, tx, b.settle(t, tx, time.Now()), models.FailureExpired)

	late := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	b.reserve(t, late)
	require.Equal(t, models.RefundFailed,
		b.settleRefund(t, late, models.RefundResult{Status: models.RefundFailed, FailureReason: "account_closed"}).Status)
	b.requireIdentities(t)

	part, rest := b.giveBack(t, tx, "15.00"), b.ask(tx, "")
	require.Equal(t, tx.ID, b.refundOf(t, part).PaymentTransactionID)
	require.True(t, b.settle(t, tx, time.Now()).RefundOwed, "the rest")
	require.Equal(t, "100.00", b.reserve(t, rest).Amount.String())
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, rest, granted(rest)).Status)
	b.requireIdentities(t)

	require.Equal(t, tx.Amount.String(), b.transaction(t, tx.ID).RefundedAmount.String())
	require.False(t, b.settle(t, tx, time.Now()).RefundOwed)
	require.Empty(t, b.records(t, tx), "it was never a sale")
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, *tx.BookingID).Status)

	_, err := b.s.OrderRefund(t.Context(), b.ask(tx, ""), time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)
}

// Of two attempts that have taken money, the one that paid for the booking is given back first, and quoted.
func TestRefundPrefersThePaidAttempt(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)
	first := b.open(t, booking, 1)
	b.report(t, first, models.EventPaymentFailed)
	second := b.open(t, booking, 2)
	b.report(t, first, models.EventPaymentSucceeded)
	b.deliver(t, word(second, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, second, b.settle(t, second, time.Now()), models.FailureCancelled)

	quoted := func() string {
		q, err := b.s.RefundQuote(t.Context(), booking.ID, b.Trip.DepartureAt)
		require.NoError(t, err)

		return q.Amount.String()
	}
	require.Equal(t, "0.00", quoted(), "the policy gives nothing back at departure")

	for range 2 {
		require.Equal(t, first.ID, b.refundOf(t, b.giveBack(t, first, "57.50")).PaymentTransactionID)
	}

	require.Equal(t, models.BookingCancelled, b.bookingNow(t, booking.ID).Status)
	require.Equal(t, "115.00", quoted(), "of money that came too late all goes back")
	require.Equal(t, second.ID, b.refundOf(t, b.giveBack(t, first, "")).PaymentTransactionID)
	require.Equal(t, "115.00", b.transaction(t, second.ID).RefundedAmount.String())
}

// However often the reservation is tried, and whatever else has been refunded meanwhile, it is of the same attempt.
func TestReservedRefundKeepsItsAttempt(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)
	first := b.open(t, booking, 1)
	b.report(t, first, models.EventPaymentFailed)

	second, _, err := b.s.OpenPayment(t.Context(), b.attempt(booking, 2, models.MethodWalletB), time.Now)
	require.NoError(t, err)
	b.report(t, first, models.EventPaymentSucceeded)
	b.deliver(t, word(second, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, second, b.settle(t, second, time.Now()), models.FailureCancelled)

	r := b.ask(first, "")
	reserved := b.reserve(t, r)
	require.Equal(t, first.ID, reserved.PaymentTransactionID)
	require.Equal(t, first.ID, b.reserve(t, r).PaymentTransactionID)
}

// A late payment whose refund came to nothing is asked for by its id: the booking was paid otherwise, and keeps that payment.
func TestRefundOfTheNamedPayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)
	first := b.open(t, booking, 1)
	b.report(t, first, models.EventPaymentFailed)
	second := b.open(t, booking, 2)
	b.report(t, second, models.EventPaymentSucceeded)
	b.deliver(t, word(first, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, first, b.settle(t, first, time.Now()), models.FailureDeclined)

	late := models.RefundRequest{ID: models.RefundID(first.ID, "late"), TransactionID: first.ID, Type: models.RefundFull}
	b.reserve(t, late)
	b.settleRefund(t, late, models.RefundResult{Status: models.RefundFailed, FailureReason: "account_closed"})

	incident := slices.IndexFunc(b.incidents(t), func(i models.Incident) bool { return i.Kind == models.IncidentRefundFailed })
	require.Contains(t, b.incidents(t)[incident].Message, "payment_transaction_id")

	named := b.ask(first, "")
	named.TransactionID = first.ID
	b.reserve(t, named)

	other := named
	other.TransactionID = second.ID
	_, err := b.s.OrderRefund(t.Context(), other, time.Now())
	requireCode(t, models.CodeIdempotencyKeyReused, err)

	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, named, granted(named)).Status)
	b.requireIdentities(t)
	require.Equal(t, first.Amount.String(), b.transaction(t, first.ID).RefundedAmount.String())
	require.Equal(t, "0.00", b.transaction(t, second.ID).RefundedAmount.String())
	require.Equal(t, models.BookingConfirmed, b.bookingNow(t, booking.ID).Status)
}

func TestRefundOfAPaymentThatIsNotTheBookings(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx, foreign := b.paid(t, 1), b.paid(t, 1)
	done := b.giveBack(t, tx, "15.00")

	unpaid := b.open(t, b.book(t, b.Trip, 1), 1)

	tests := []struct {
		name    string
		booking models.PaymentTransaction
		named   uuid.UUID
		code    models.Code
	}{
		{"of another booking", tx, foreign.ID, models.CodeValidation},
		{"that does not exist", tx, uuid.New(), models.CodeValidation},
		{"that is a refund", tx, models.RefundTransactionID(done.ID), models.CodeValidation},
		{"that has not been paid", unpaid, unpaid.ID, models.CodeBookingNotRefundable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := b.ask(tt.booking, "")
			r.TransactionID = tt.named
			_, err := b.s.OrderRefund(t.Context(), r, time.Now())
			requireCode(t, tt.code, err)
		})
	}
}
