package cancellations_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/cancellations"
	"rihla/models"
)

// Many act on one booking at once: approve, reject, withdraw, cancel for the customer, refund in full and by the policy. Each booking is cancelled
// once or not at all, the seats and the money agree, and no caller gets an error of the database.
func TestEverybodyActsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.early()

	for range 25 {
		tx := b.Paid(t, 2)
		r := b.ask(t, *tx.BookingID, now, 1)

		decide := func(by models.Role, to models.CancellationRequestStatus) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := b.Store.Cancellations.Decide(ctx, b.As(by), cancellations.Decision{RequestID: r.ID, To: to, Note: "n"}, now)

				return err
			}
		}

		acts := []func(context.Context) error{
			decide(models.RoleFinanceAdmin, models.CancellationApproved), decide(models.RoleAdmin, models.CancellationApproved),
			decide(models.RoleAdmin, models.CancellationRejected), decide(models.RoleEndUser, models.CancellationWithdrawn),
			func(ctx context.Context) error {
				_, err := b.Store.Refunds.OrderRefund(ctx, b.ByPolicy(tx), now)

				return err
			},
			func(ctx context.Context) error {
				_, err := b.Store.Refunds.OrderRefund(ctx, b.Ask(tx, ""), now)

				return err
			},
			func(ctx context.Context) error {
				order := b.ByPolicy(tx)
				order.ID = models.RefundID(*tx.BookingID, uuid.NewString())
				_, err := b.Store.Refunds.Cancel(ctx, order, models.CancelOrder{
					ID: models.CancellationID(*tx.BookingID, uuid.NewString()), RefundBy: models.CancelUnpaid,
				}, now)

				return err
			},
		}

		bookstest.AllAtOnce(t, acts, models.CodeInvalidState, models.CodeBookingNotRefundable, models.CodeRefundExceedsRemaining)

		b.settleAll(t, *tx.BookingID)
	}

	b.RequireBooks(t)
}

// settleAll has the gateway make all refunds of a booking.
func (b *books) settleAll(t *testing.T, booking uuid.UUID) {
	t.Helper()

	rows, err := b.Store.Refunds.OfBooking(t.Context(), booking)
	require.NoError(t, err)

	for _, r := range rows {
		_, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(models.RefundRequest{ID: r.ID}), bookstest.Clock())
		require.NoError(t, err)
	}
}
