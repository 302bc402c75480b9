package refunds_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// The automatic refund of a late payment is refused: finance staff can give the money back themselves.
func TestLatePaymentIsRefundedByHand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 3, nil)
	tx := b.Lapsed(t, trip, 1)
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", trip.ID)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureExpired)

	late := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	b.Reserve(t, late)
	require.Equal(t, models.RefundFailed,
		b.SettleRefund(t, late, models.RefundResult{Status: models.RefundFailed, FailureReason: "account_closed"}).Status)
	b.RequireBooks(t)

	part, rest := b.GiveBack(t, tx, "15.00"), b.Ask(tx, "")
	require.Equal(t, tx.ID, b.RefundOf(t, part).PaymentTransactionID)
	require.True(t, b.Settle(t, tx, time.Now()).RefundOwed, "the rest")
	require.Equal(t, "100.00", b.Reserve(t, rest).Amount.String())
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, rest, bookstest.Granted(rest)).Status)
	b.RequireBooks(t)

	require.Equal(t, tx.Amount.String(), b.Transaction(t, tx.ID).RefundedAmount.String())
	require.False(t, b.Settle(t, tx, time.Now()).RefundOwed)
	require.Empty(t, b.Records(t, tx), "it was never a sale")
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, *tx.BookingID).Status)

	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, ""), time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
}

// Of two attempts that have taken money, the one that paid for the booking is given back first, and quoted.
func TestRefundPrefersThePaidAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)
	b.Report(t, first, models.EventPaymentFailed)
	second := b.Open(t, booking, 2)
	b.Report(t, first, models.EventPaymentSucceeded)
	b.Deliver(t, bookstest.Event(second, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, second, b.Settle(t, second, time.Now()), models.FailureCancelled)

	quoted := func() string {
		q, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, booking.ID, b.Trip.DepartureAt)
		require.NoError(t, err)

		return q.Amount.String()
	}
	require.Equal(t, "0.00", quoted(), "the policy gives nothing back at departure")

	for range 2 {
		require.Equal(t, first.ID, b.RefundOf(t, b.GiveBack(t, first, "57.50")).PaymentTransactionID)
	}

	require.Equal(t, models.BookingCancelled, b.BookingNow(t, booking.ID).Status)
	require.Equal(t, "115.00", quoted(), "of money that came too late all goes back")
	require.Equal(t, second.ID, b.RefundOf(t, b.GiveBack(t, first, "")).PaymentTransactionID)
	require.Equal(t, "115.00", b.Transaction(t, second.ID).RefundedAmount.String())
}

// However often the reservation is tried, and whatever else has been refunded meanwhile, it is of the same attempt.
func TestReservedRefundKeepsItsAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)
	b.Report(t, first, models.EventPaymentFailed)

	second, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 2, models.MethodWalletB), time.Now)
	require.NoError(t, err)
	b.Report(t, first, models.EventPaymentSucceeded)
	b.Deliver(t, bookstest.Event(second, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, second, b.Settle(t, second, time.Now()), models.FailureCancelled)

	r := b.Ask(first, "")
	reserved := b.Reserve(t, r)
	require.Equal(t, first.ID, reserved.PaymentTransactionID)
	require.Equal(t, first.ID, b.Reserve(t, r).PaymentTransactionID)
}

// A late payment whose refund came to nothing is asked for by its id: the booking was paid otherwise, and keeps that payment.
func TestRefundOfTheNamedPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)
	b.Report(t, first, models.EventPaymentFailed)
	second := b.Open(t, booking, 2)
	b.Report(t, second, models.EventPaymentSucceeded)
	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, first, b.Settle(t, first, time.Now()), models.FailureDeclined)

	late := models.RefundRequest{ID: models.RefundID(first.ID, "late"), TransactionID: first.ID, Type: models.RefundFull}
	b.Reserve(t, late)
	b.SettleRefund(t, late, models.RefundResult{Status: models.RefundFailed, FailureReason: "account_closed"})

	incident := slices.IndexFunc(b.Incidents(t), func(i models.Incident) bool { return i.Kind == models.IncidentRefundFailed })
	require.Contains(t, b.Incidents(t)[incident].Message, "payment_transaction_id")

	named := b.Ask(first, "")
	named.TransactionID = first.ID
	b.Reserve(t, named)

	other := named
	other.TransactionID = second.ID
	_, err := b.Store.Refunds.OrderRefund(t.Context(), other, time.Now())
	bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)

	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, named, bookstest.Granted(named)).Status)
	b.RequireBooks(t)
	require.Equal(t, first.Amount.String(), b.Transaction(t, first.ID).RefundedAmount.String())
	require.Equal(t, "0.00", b.Transaction(t, second.ID).RefundedAmount.String())
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
}

func TestRefundOfAPaymentThatIsNotTheBookings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, foreign := b.Paid(t, 1), b.Paid(t, 1)
	done := b.GiveBack(t, tx, "15.00")

	unpaid := b.Open(t, b.Book(t, b.Trip, 1), 1)

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

			r := b.Ask(tt.booking, "")
			r.TransactionID = tt.named
			_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
			bookstest.RequireCode(t, tt.code, err)
		})
	}
}
