package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// cancelling asks for passengers of the booking of a payment, by their positions, to be cancelled by the policy.
func (b *books) cancelling(tx models.PaymentTransaction, positions ...int) (models.RefundRequest, models.CancelOrder) {
	order := models.CancelOrder{ID: models.CancellationID(*tx.BookingID, uuid.NewString()), RefundBy: models.CancelByPolicy}
	for _, at := range positions {
		order.Passengers = append(order.Passengers, models.PassengerID(*tx.BookingID, at))
	}

	r := b.ByPolicy(tx)
	r.TransactionID = uuid.Nil

	return r, order
}

// cancel is cancelling, done so long before departure.
func (b *books) cancel(t *testing.T, tx models.PaymentTransaction, left time.Duration, positions ...int) refunds.Cancelled {
	t.Helper()

	r, order := b.cancelling(tx, positions...)
	done, err := b.Store.Refunds.Cancel(t.Context(), r, order, b.Trip.DepartureAt.Add(-left))
	require.NoError(t, err)

	return done
}

// settleCancelled has the gateway make the refund of a cancellation.
func (b *books) settleCancelled(t *testing.T, done refunds.Cancelled, result models.RefundResult) models.SettledRefund {
	t.Helper()

	settled, err := b.Store.Refunds.SettleRefund(t.Context(), done.Refund.ID, result, bookstest.Clock())
	require.NoError(t, err)

	return settled
}

// shownNow is a booking with its passengers' states.
func (b *books) shownNow(t *testing.T, id uuid.UUID) models.Booking {
	t.Helper()

	rows := []models.Booking{b.BookingNow(t, id)}
	require.NoError(t, bookings.WithCancelled(t.Context(), b.Store.DB, rows))

	return rows[0]
}

func (b *books) seatsTaken(t *testing.T) int {
	t.Helper()

	return b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID)
}

// One of three, then the others: the seats are free at once, the parts add up, and with the last passenger the booking is CANCELLED.
func TestPassengersAreCancelledOneByOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 3) // 345.00

	done := b.cancel(t, tx, 30*time.Hour, 2)
	require.Equal(t, models.CancellationDone, done.Cancellation.Status)
	require.Equal(t, "115.00", done.Cancellation.PaidAmount.String())
	require.Equal(t, "57.50", done.Refund.Amount.String())
	require.Equal(t, models.RefundPolicy, done.Refund.RefundType)
	require.Equal(t, models.RefundCustomerCancelled, done.Refund.Cause)

	booking := b.shownNow(t, *tx.BookingID)
	require.Equal(t, models.BookingConfirmed, booking.Status)
	require.Equal(t, 2, booking.Seats)
	require.Equal(t, []int{1, 3}, booking.LivePositions())
	require.Equal(t, 2, b.seatsTaken(t), "before the money is back")

	b.settleCancelled(t, done, bookstest.Granted(models.RefundRequest{ID: done.Refund.ID}))
	b.RequireBooks(t)

	done = b.cancel(t, tx, 30*time.Hour)
	require.Equal(t, "230.00", done.Cancellation.PaidAmount.String())
	require.Equal(t, "115.00", done.Refund.Amount.String())
	require.Equal(t, models.BookingCancelled, b.shownNow(t, *tx.BookingID).Status)
	require.Zero(t, b.seatsTaken(t))

	b.settleCancelled(t, done, bookstest.Granted(models.RefundRequest{ID: done.Refund.ID}))
	b.RequireBooks(t)
	require.Equal(t, "172.50", b.Transaction(t, tx.ID).RefundedAmount.String())

	r, order := b.cancelling(tx)
	_, err := b.Store.Refunds.Cancel(t.Context(), r, order, bookstest.Clock())
	bookstest.RequireCode(t, models.CodeInvalidState, err)
}

// requireFee holds what was kept of a booking against an amount.
func (b *books) requireFee(t *testing.T, tx models.PaymentTransaction, want string) {
	t.Helper()

	fee, err := b.Store.Refunds.FeeOf(t.Context(), *tx.BookingID)
	require.NoError(t, err)
	require.Equal(t, want, fee.String())
}

// What is kept adds up over the cancellations that are done, and is not what went back otherwise.
func TestFeesOfABooking(t *testing.T) {
	t.Parallel()
	b := setup(t, limitOf("150.00"))
	tx := b.Paid(t, 3)
	b.requireFee(t, tx, "0.00")

	b.cancel(t, tx, 30*time.Hour, 1)
	b.requireFee(t, tx, "57.50")

	r, order := b.cancelling(tx, 2)
	order.RefundBy = models.CancelUnpaid
	_, err := b.Store.Refunds.Cancel(t.Context(), r, order, b.Trip.DepartureAt.Add(-time.Hour))
	require.NoError(t, err)
	b.requireFee(t, tx, "172.50")

	b.GiveBack(t, tx, "15.00")
	b.requireFee(t, tx, "172.50")

	done := b.cancel(t, tx, 80*time.Hour) // over the limit, with what went back before
	require.Equal(t, models.CancellationPending, done.Cancellation.Status)
	b.requireFee(t, tx, "172.50")

	whole := b.Paid(t, 1)
	b.cancel(t, whole, time.Hour)
	b.requireFee(t, whole, "115.00")
}

// At 0 % nothing goes back, and the seats are free all the same.
func TestCancellingTooLateFreesTheSeats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 2)

	done := b.cancel(t, tx, time.Hour)
	require.Nil(t, done.Refund)
	part := done.Cancellation.Part()
	require.Equal(t, "230.00", part.Fee().String())
	require.Equal(t, models.BookingCancelled, b.shownNow(t, *tx.BookingID).Status)
	require.Zero(t, b.seatsTaken(t))
	b.RequireBooks(t)
}

func TestStaffNameWhatGoesBack(t *testing.T) {
	t.Parallel()

	amount := models.MustMoney("200.01")

	for _, c := range []struct {
		by     models.CancelRefund
		amount *models.Money
		refund string // empty: none
		kind   models.RefundType
	}{
		{models.CancelUnpaid, nil, "", ""},
		{models.CancelInFull, nil, "345.00", models.RefundFull},
		{models.CancelByAmount, &amount, "200.01", models.RefundPartial},
	} {
		t.Run(string(c.by), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.Paid(t, 3)

			r, order := b.cancelling(tx)
			order.RefundBy, order.Amount = c.by, c.amount

			done, err := b.Store.Refunds.Cancel(t.Context(), r, order, b.Trip.DepartureAt.Add(-time.Hour))
			require.NoError(t, err)
			require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)

			again, err := b.Store.Refunds.Cancel(t.Context(), r, order, b.Trip.DepartureAt)
			require.NoError(t, err)
			require.Equal(t, done.Cancellation.RefundAmount.String(), again.Cancellation.RefundAmount.String())
			require.Equal(t, done.Refund == nil, again.Refund == nil)

			if c.refund == "" {
				require.Nil(t, done.Refund)
				b.RequireBooks(t)

				return
			}

			require.Equal(t, c.refund, done.Refund.Amount.String())
			require.Equal(t, c.kind, done.Refund.RefundType)
			b.settleCancelled(t, done, bookstest.Granted(models.RefundRequest{ID: done.Refund.ID}))
			b.RequireBooks(t)
		})
	}
}

// A gateway that refuses does not bring the seats back: the money is owed, and paid out by a second person.
func TestRefusedRefundOfACancellation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	done := b.cancel(t, tx, 80*time.Hour)

	settled := b.settleCancelled(t, done, models.RefundResult{Status: models.RefundFailed, FailureReason: "account closed"})
	require.Equal(t, models.RefundPending, settled.Status)
	require.True(t, settled.TurnedManual)
	require.True(t, settled.NeedsReview)

	again := b.settleCancelled(t, done, models.RefundResult{Status: models.RefundFailed, FailureReason: "account closed"})
	require.Equal(t, models.RefundPending, again.Status, "a second answer changes nothing")

	r, err := b.Store.Refunds.RefundByID(t.Context(), done.Refund.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundByHand, r.Channel)
	require.True(t, r.NeedsPayout())
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
	require.Zero(t, b.seatsTaken(t))
	require.Equal(t, "115.00", b.Transaction(t, tx.ID).RefundReservedAmount.String())
	require.Len(t, b.Incidents(t), 1)
	b.RequireBooks(t)

	reference := "SARIE-1"
	b.Decide(t, models.RefundPayout{RefundID: r.ID, Decision: models.PayoutPaid, Reference: &reference}, models.RoleAdmin)
	settled = b.settleCancelled(t, done, models.RefundResult{Status: models.RefundPending})
	require.Equal(t, models.RefundSucceeded, settled.Status)
	b.RequireBooks(t)
}

// A refund above the limit cancels when a second person approves it, and not at all when it is rejected.
func TestCancellationWaitsForItsApproval(t *testing.T) {
	t.Parallel()

	for _, decision := range []models.ApprovalDecision{models.ApprovalApproved, models.ApprovalRejected} {
		t.Run(string(decision), func(t *testing.T) {
			t.Parallel()

			p := models.DefaultPolicies()
			p.Approval.Above = models.MustMoney("200.00")
			b := setup(t, p)
			tx := b.Paid(t, 3)

			done := b.cancel(t, tx, 80*time.Hour, 1, 2)
			require.Equal(t, models.CancellationPending, done.Cancellation.Status)
			require.Equal(t, 3, b.seatsTaken(t))

			r, order := b.cancelling(tx, 3)
			_, err := b.Store.Refunds.Cancel(t.Context(), r, order, bookstest.Clock())
			bookstest.RequireCode(t, models.CodeInvalidState, err)

			b.DecideApproval(t, models.RefundApproval{RefundID: done.Refund.ID, Decision: decision, Note: "as agreed"}, models.RoleAdmin)
			b.settleCancelled(t, done, models.RefundResult{Status: models.RefundPending})

			booking := b.shownNow(t, *tx.BookingID)
			require.Equal(t, models.BookingConfirmed, booking.Status)

			if decision == models.ApprovalApproved {
				require.Equal(t, 1, booking.Seats)
				require.Equal(t, 1, b.seatsTaken(t))
				b.settleCancelled(t, done, bookstest.Granted(models.RefundRequest{ID: done.Refund.ID}))
			} else {
				require.Equal(t, 3, booking.Seats)
				require.Equal(t, 3, b.seatsTaken(t))
				b.cancel(t, tx, 80*time.Hour, 3)
			}

			b.RequireBooks(t)
		})
	}
}

// While a refund waits for its approval no passenger is cancelled: it reserves what would go back for them. Rejected, it leaves them all of it.
func TestNothingIsCancelledWhileARefundWaits(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.Approval.Above = models.MustMoney("200.00")
	b := setup(t, p)
	tx := b.Paid(t, 3)

	full, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, ""), bookstest.Clock())
	require.NoError(t, err)

	r, order := b.cancelling(tx, 1)
	early := b.Trip.DepartureAt.Add(-80 * time.Hour)
	_, err = b.Store.Refunds.Cancel(t.Context(), r, order, early)
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	require.Equal(t, 3, b.seatsTaken(t))

	byPolicy := b.Ask(tx, "")
	byPolicy.Type, byPolicy.Amount = models.RefundPolicy, nil
	_, err = b.Store.Refunds.OrderRefund(t.Context(), byPolicy, early)
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
	require.ErrorContains(t, err, "waiting for approval")

	b.DecideApproval(t, models.RefundApproval{RefundID: full.ID, Decision: models.ApprovalRejected, Note: "by mistake"}, models.RoleAdmin)
	_, err = b.Store.Refunds.SettleRefund(t.Context(), full.ID, models.RefundResult{Status: models.RefundPending}, bookstest.Clock())
	require.NoError(t, err)

	done, err := b.Store.Refunds.Cancel(t.Context(), r, order, early)
	require.NoError(t, err)
	require.Equal(t, "115.00", done.Refund.Amount.String())
	require.Equal(t, 2, b.seatsTaken(t))

	rest, err := b.Store.Refunds.OrderRefund(t.Context(), byPolicy, early)
	require.NoError(t, err)
	require.Equal(t, "230.00", rest.Amount.String(), "the whole share of those who are left")
	b.RequireBooks(t)
}

// One side bears a refund alone: the other one's balance stays where it was.
func TestWhoBearsARefund(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		bearer  models.RefundBearer
		payable string // of the company, after all of 1,000.00 went back; it was 900.00
	}{
		{models.BearProportionally, "0.00"}, {models.BearByPlatform, "900.00"}, {models.BearByProvider, "-100.00"},
	} {
		for _, paidOut := range []bool{false, true} {
			t.Run(string(c.bearer), func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				tx := b.PaidFor(t, "1000.00")

				if paidOut {
					_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, b.Records(t, tx)[0].ID, ledger.MarkTransfer{})
					require.NoError(t, err)
				}

				r := b.Ask(tx, "")
				r.Bearer = c.bearer
				b.Reserve(t, r)
				b.SettleRefund(t, r, bookstest.Granted(r))
				b.RequireBooks(t)

				require.Equal(t, c.payable, b.sumOfNets(t, paidOut))
			})
		}
	}
}

// sumOfNets is what is owed to the company, with what was paid out to it.
func (b *books) sumOfNets(t *testing.T, withPaidOut bool) string {
	t.Helper()

	var sum models.Money

	require.NoError(t, b.DB.QueryRowContext(t.Context(),
		"SELECT coalesce(sum(net_amount), 0) FROM financial_records WHERE balance_status = 'IN_CURRENT_BALANCE' OR $1 AND transferred_at IS NOT NULL",
		withPaidOut).Scan(&sum))

	return sum.String()
}
