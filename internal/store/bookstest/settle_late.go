package bookstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// Lapsed is a booking whose attempt has expired with its hold: PAYMENT_FAILED, seats free.
func (b *Books) Lapsed(t *testing.T, trip models.Trip, seats int) models.PaymentTransaction {
	t.Helper()

	booking := b.Book(t, trip, seats)
	tx := b.Open(t, booking, 1)
	_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", booking.HoldUntil)
	require.NoError(t, err)
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, booking.ID).Status)

	return tx
}

// RequireOwed checks that the money of the attempt is a debt to its customer: captured, in an incident, no ledger entry.
func (b *Books) RequireOwed(t *testing.T, tx models.PaymentTransaction, s models.Settled, why models.FailureCode) {
	t.Helper()

	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionFailed, Failure: why, RefundOwed: true, NeedsReview: true}, s)
	require.NotNil(t, b.Transaction(t, tx.ID).CapturedAt)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM financial_records WHERE payment_transaction_id = $1", tx.ID))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'LATE_CAPTURE'
		AND amount = $2 AND credit_account = 'customer:refunds'`, tx.ID, tx.Amount.String()))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents
		WHERE payment_transaction_id = $1 AND kind = 'LATE_PAYMENT' AND status = 'OPEN'`, tx.ID))
}
