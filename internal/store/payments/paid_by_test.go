package payments_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// paidBy pays an attempt by another method than was chosen.
func (b *books) paidBy(t *testing.T, tx models.PaymentTransaction, m models.PaymentMethod) models.PaymentTransaction {
	t.Helper()
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.PaymentMethod = m }))
	b.Settle(t, tx, time.Now())

	return b.Transaction(t, tx.ID)
}

func (b *books) requireBalance(t *testing.T, want string, account models.Account) {
	t.Helper()
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM (SELECT COALESCE(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0) AS m
		FROM ledger_transfers WHERE $1 IN (credit_account, debit_account)) AS s WHERE m = $2::numeric`, string(account), want),
		"%s is not %s", account, want)
}

// A card's invoice that was paid by SADAD cannot go back through the gateway: it is paid out from the bank, by a second person. The books
// are audited when the test ends.
func TestCardInvoicePaidBySadad(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.paidBy(t, b.Open(t, b.Book(t, b.Trip, 1), 1), models.MethodBillPayment)

	require.Equal(t, models.TransactionPaid, tx.Status)
	require.Equal(t, models.MethodCreditCard, tx.PaymentMethod)
	require.Equal(t, models.MethodBillPayment, *tx.PaidBy)
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_SUCCEEDED' AND data->>'payment_method' = 'bill_payment'"))

	shown, err := b.Store.Payments.ListTransactions(t.Context(), payments.TransactionFilter{})
	require.NoError(t, err)
	require.Len(t, shown.Items, 1)
	require.Equal(t, models.MethodBillPayment, *shown.Items[0].PaidBy)

	told, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)
	told = slices.DeleteFunc(told, func(e payments.TimelineEntry) bool { return e.Facts.PaidBy == "" })
	require.Len(t, told, 1)
	require.Equal(t, "The transaction went from PENDING to PAID, paid by Bill payment and not by Credit card as chosen", told[0].Summary)
	require.Equal(t, "bill_payment", told[0].Facts.PaidBy)

	r := b.Ask(tx, "")
	preview, err := b.Store.Refunds.PreviewRefund(t.Context(), r, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundByHand, preview.Channel)

	require.Equal(t, models.RefundByHand, b.Reserve(t, r).Channel)
	require.Equal(t, models.RefundPending, b.SettleRefund(t, r, models.RefundResult{}).Status)
	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{}).Status)

	b.requireBalance(t, "115.00", models.AccountBank)
	b.requireBalance(t, "-115.00", models.GatewayAccount(tx.Gateway))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM payment_transactions WHERE kind = 'REFUND' AND payment_method = 'credit_card'
		AND paid_by = 'bill_payment' AND vat_amount = 15`))
}

// A bill that was paid by mada goes back through the gateway that took it.
func TestBillPaidByMada(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.paidBy(t, b.Bill(t), models.MethodDebitNetwork)

	require.Equal(t, models.MethodBillPayment, tx.PaymentMethod)
	require.Equal(t, models.MethodDebitNetwork, *tx.PaidBy)

	r := b.Ask(tx, "")
	require.Equal(t, models.RefundByGateway, b.Reserve(t, r).Channel)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, bookstest.Granted(r)).Status)

	b.requireBalance(t, "0.00", models.AccountBank)
	b.requireBalance(t, "0.00", models.GatewayAccount(tx.Gateway))
}

// What is not said, is not known to the service, or is what was chosen, is not noted.
func TestPaidAsChosen(t *testing.T) {
	t.Parallel()

	for _, m := range []models.PaymentMethod{"", models.MethodCreditCard, "cowrie_shells"} {
		b := setup(t)
		tx := b.paidBy(t, b.Open(t, b.Book(t, b.Trip, 1), 1), m)
		require.Equal(t, models.TransactionPaid, tx.Status)
		require.Nil(t, tx.PaidBy, m)
		require.Equal(t, models.RefundByGateway, tx.RefundChannel())
	}
}

// Money that comes too late, or of another amount, goes back by what it came by, too.
func TestPaidOtherwiseAndNotSold(t *testing.T) {
	t.Parallel()

	t.Run("too late", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		tx := b.Lapsed(t, b.Trip, 1)
		b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", b.Trip.ID)
		tx = b.paidBy(t, tx, models.MethodBillPayment)

		require.True(t, tx.CameTooLate())
		require.Equal(t, models.RefundByHand, tx.RefundChannel())
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT' AND message LIKE '%manually%'"))
	})

	t.Run("another amount", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		tx := b.Bill(t)
		wrong := models.MustMoney("100.00")
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
			e.PaymentMethod, e.Amount = models.MethodDebitNetwork, &wrong
		}))
		b.Settle(t, tx, time.Now())

		tx = b.Transaction(t, tx.ID)
		require.True(t, tx.InSuspense())
		require.Equal(t, models.RefundByGateway, tx.RefundChannel())

		r := b.Ask(tx, "")
		r.TransactionID = tx.ID
		require.Equal(t, models.RefundByGateway, b.Reserve(t, r).Channel)
		require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, bookstest.Granted(r)).Status)
		b.requireBalance(t, "0.00", models.SuspenseAccount(tx.Gateway))
	})
}

// The database keeps what was noted with the money, and no refund goes another way.
func TestPaidByIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.paidBy(t, b.Open(t, b.Book(t, b.Trip, 1), 1), models.MethodBillPayment)

	for _, change := range []string{"NULL", "'wallet_a'"} {
		_, err := b.DB.ExecContext(t.Context(), "UPDATE payment_transactions SET paid_by = "+change+" WHERE id = $1", tx.ID)
		require.ErrorContains(t, err, "never changes")
	}

	open := b.Open(t, b.Book(t, b.Trip, 1), 1)
	_, err := b.DB.ExecContext(t.Context(), "UPDATE payment_transactions SET paid_by = 'wallet_a' WHERE id = $1", open.ID)
	require.ErrorContains(t, err, "transactions_paid_by", "nothing was taken yet")

	refund := b.Reserve(t, b.Ask(tx, "15.00"))
	_, err = b.DB.ExecContext(t.Context(), "UPDATE refunds SET channel = 'GATEWAY' WHERE id = $1", refund.ID)
	require.ErrorContains(t, err, "never changes")
	_, err = b.DB.ExecContext(t.Context(), `INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, channel, amount, currency, status,
		reason) SELECT gen_random_uuid(), payment_transaction_id, booking_id, refund_type, 'GATEWAY', 1, currency, status, reason FROM refunds
		WHERE id = $1`, refund.ID)
	require.ErrorContains(t, err, "does not go by GATEWAY")
}
