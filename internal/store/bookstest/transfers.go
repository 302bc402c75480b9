package bookstest

import (
	"errors"
	"testing"
	"time"

	"rihla/models"
)

// RefundNow is refund for a goroutine.
func (b *Books) RefundNow(t *testing.T, tx models.PaymentTransaction, part string) error {
	t.Helper()

	r := models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundPartial, Amount: Amount(part),
		RequestedBy: &b.Finance.UserID, Role: b.Finance.Role,
	}
	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	_, settled := b.Store.Refunds.SettleRefund(t.Context(), r.ID,
		models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "gw-" + r.ID.String()}, time.Now())

	return errors.Join(err, settled)
}
