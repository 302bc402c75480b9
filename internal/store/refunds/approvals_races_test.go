package refunds_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// The same in parallel: however the requests meet, no more than the limit is ordered without an approval.
func TestPartsInParallelNeedAnApproval(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())

	for range 10 {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)
		bookstest.Parallel(6, func(int) {
			if _, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, "19.00"), time.Now()); err != nil {
				t.Error(err)
			}
		})
		require.Equal(t, 2, b.Count(t, `SELECT count(*) FROM refunds WHERE payment_transaction_id = $1 AND approval_until IS NULL`, tx.ID))
		require.Equal(t, 4, b.Count(t, `SELECT count(*) FROM refunds WHERE payment_transaction_id = $1 AND approval_pending`, tx.ID))
	}
}

// TestApprovalRaces approves, rejects, withdraws, ends the wait, sends, settles and cancels the booking at the same moment. One decision
// counts, all agree with it, and nothing is sent without an approval.
func TestApprovalRaces(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())

	came := map[models.ApprovalDecision]int{}

	for range *rounds {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)

		r := b.Ask(tx, "60.00")
		// Its time is over between now and then: the clocks of the racers are on both sides.
		ordered, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now().Add(-models.MaxApprovalWait+time.Minute))
		require.NoError(t, err)

		until := *ordered.ApprovalUntil
		decide := func(by models.Role, d models.RefundApproval) func() {
			return func() {
				_, err := b.Store.Refunds.DecideApproval(t.Context(), b.As(by), d, until.Add(-time.Second))
				if err != nil && models.CodeOf(err) != models.CodeInvalidState {
					t.Error(err)
				}
			}
		}
		racers := []func(){
			decide(models.RoleAdmin, bookstest.Approved(r.ID)),
			decide(models.RoleFinanceAdmin, bookstest.Disapproved(r.ID, "withdrawn")),
			decide(models.RoleSuperAdmin, bookstest.Disapproved(r.ID, "no")),
			func() {
				if _, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundPending}, until); err != nil {
					t.Error(err)
				}
			},
			func() {
				sent, err := b.send(t, r)
				if sent && b.Count(t, "SELECT count(*) FROM refund_approvals WHERE refund_id = $1 AND decision = 'APPROVED'", r.ID) == 0 {
					t.Error("sent without an approval", err)
				}
			},
			func() { // what is paid is not cancelled, whatever becomes of its refund
				_, _, err := b.Store.Payments.CancelBooking(t.Context(), bookstest.As(b.World, models.RoleEndUser), *tx.BookingID, until)
				if models.CodeOf(err) != models.CodeInvalidState {
					t.Error("cancelled", err)
				}
			},
		}
		bookstest.Parallel(len(racers), func(i int) { racers[i]() })

		got := b.refundNow(t, r)
		require.NotNil(t, got.Approval)
		came[got.Approval.Decision]++

		settled, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), until)
		require.NoError(t, err)
		require.Equal(t, got.Approval.Decision == models.ApprovalApproved, settled.Status == models.RefundSucceeded)
		require.True(t, new(b.Transaction(t, tx.ID)).RefundReservedAmount.IsZero())

		want := "0.00"
		if settled.Status == models.RefundSucceeded {
			want = "60.00"
		}

		require.Equal(t, want, b.Transaction(t, tx.ID).RefundedAmount.String())
	}

	t.Logf("%v", came)
}
