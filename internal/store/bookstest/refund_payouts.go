package bookstest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// Bill makes a booking of one seat with the open attempt of a bill.
func (b *Books) Bill(t *testing.T) models.PaymentTransaction {
	t.Helper()

	n := b.Request(b.Trip, 1)
	n.Method = models.MethodBillPayment
	booking, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
	require.NoError(t, err)

	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), models.Attempt{
		BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodBillPayment,
	}, time.Now)
	require.NoError(t, err)
	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/",
	}))

	return tx
}

// PaidBill is a booking's payment by bill, paid.
func (b *Books) PaidBill(t *testing.T) models.PaymentTransaction {
	t.Helper()

	tx := b.Bill(t)
	b.Report(t, tx, models.EventPaymentSucceeded)

	return b.Transaction(t, tx.ID)
}

// As is a user of the world with the role.
func (b *Books) As(role models.Role) db.Actor {
	return db.Actor{UserID: b.Users[role].ID, Role: role, RequestID: "req-payout"}
}

// PaidOut is the confirmation of a manual payout.
func PaidOut(refund uuid.UUID, reference string) models.RefundPayout {
	return models.RefundPayout{RefundID: refund, Decision: models.PayoutPaid, Reference: &reference}
}

// Decide confirms or rejects a manual payout.
func (b *Books) Decide(t *testing.T, d models.RefundPayout, by models.Role) models.Refund {
	t.Helper()

	r, err := b.Store.Refunds.DecidePayout(t.Context(), b.As(by), d, time.Now())
	require.NoError(t, err)

	return r
}
