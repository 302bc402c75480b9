package bookstest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// Ask is a request to give back part of a booking's payment, or all that is left when amount is empty.
func (b *Books) Ask(tx models.PaymentTransaction, amount string) models.RefundRequest {
	r := models.RefundRequest{
		ID: models.RefundID(*tx.BookingID, uuid.NewString()), BookingID: *tx.BookingID, Type: models.RefundFull,
		RequestedBy: &b.Finance.UserID, Role: b.Finance.Role, RequestID: "req-1",
	}
	if amount != "" {
		m := models.MustMoney(amount)
		r.Type, r.Amount = models.RefundPartial, &m
	}

	return r
}

// Reserve orders a refund, which reserves its amount.
func (b *Books) Reserve(t *testing.T, r models.RefundRequest) models.Refund {
	t.Helper()

	reserved, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundPending, reserved.Status)

	return reserved
}

// Granted is a gateway's result of a refund that succeeded.
func Granted(r models.RefundRequest) models.RefundResult {
	return models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re-" + r.ID.String()}
}

// SettleRefund settles a refund with a gateway's result.
func (b *Books) SettleRefund(t *testing.T, r models.RefundRequest, result models.RefundResult) models.SettledRefund {
	t.Helper()

	s, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, result, time.Now())
	require.NoError(t, err)

	return s
}

// GiveBack refunds from beginning to end.
func (b *Books) GiveBack(t *testing.T, tx models.PaymentTransaction, amount string) models.RefundRequest {
	t.Helper()

	r := b.Ask(tx, amount)
	b.Reserve(t, r)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, Granted(r)).Status)

	return r
}

// Records are the ledger entries of a payment's booking, oldest first.
func (b *Books) Records(t *testing.T, tx models.PaymentTransaction) []models.FinancialRecord {
	t.Helper()

	l, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{
		BookingID: *tx.BookingID, Page: db.Page{Number: 1, PerPage: 100, Sort: []db.Sort{{Field: "created_at"}}},
	})
	require.NoError(t, err)

	return l.Items
}
