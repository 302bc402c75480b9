package refunds_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

func TestOrderRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	r := b.Ask(tx, "40.00")
	reserved := b.Reserve(t, r)
	require.Equal(t, "40.00", reserved.Amount.String())

	ordered, err := b.Store.Refunds.OrderedRefund(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.ReservedRefund{
		Status: models.RefundPending, Amount: reserved.Amount, Gateway: models.GatewayA, Channel: models.RefundByGateway,
		Currency: models.Currency,
	}, ordered)

	got := b.Transaction(t, tx.ID)
	require.Equal(t, "40.00", got.RefundReservedAmount.String())
	require.True(t, got.RefundedAmount.IsZero())
	require.Equal(t, "75.00", got.Remaining().String())

	refund, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundPending, refund.Status)
	require.Equal(t, tx.ID, refund.PaymentTransactionID)
	require.Equal(t, tx.BookingID, refund.BookingID)
	require.Equal(t, b.Finance.UserID, *refund.RequestedBy)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED' AND entity_id = $1 AND actor_id = $2", r.ID, b.Finance.UserID))

	before := b.Fingerprint(t)
	again := b.Reserve(t, r)
	require.Equal(t, []any{reserved.ID, reserved.Amount, reserved.Status}, []any{again.ID, again.Amount, again.Status}, "the same id is the same refund")
	require.Equal(t, before, b.Fingerprint(t))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED'"))

	_, err = b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, "75.01"), time.Now())
	bookstest.RequireCode(t, models.CodeRefundExceedsRemaining, err)
	require.Equal(t, "75.00", b.Reserve(t, b.Ask(tx, "")).Amount.String(), "FULL is all that is left")
	_, err = b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, "0.01"), time.Now())
	bookstest.RequireCode(t, models.CodeRefundExceedsRemaining, err)
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status, "a reservation changes nothing yet")
}

func TestOrderRefundRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)

	open := b.Open(t, b.Book(t, b.Trip, 1), 1)
	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(open, ""), time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)

	b.Report(t, open, models.EventPaymentFailed)
	_, err = b.Store.Refunds.OrderRefund(t.Context(), b.Ask(open, ""), time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
	_, err = b.Store.Refunds.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), TransactionID: open.ID, Type: models.RefundFull}, time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)

	_, err = b.Store.Refunds.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), BookingID: uuid.New(), Type: models.RefundFull}, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Refunds.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), TransactionID: uuid.New(), Type: models.RefundFull}, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	paid := b.Paid(t, 1)
	noAmount := b.Ask(paid, "")
	noAmount.Type = models.RefundPartial
	_, err = b.Store.Refunds.OrderRefund(t.Context(), noAmount, time.Now())
	bookstest.RequireCode(t, models.CodeValidation, err)

	b.GiveBack(t, paid, "")
	_, err = b.Store.Refunds.OrderRefund(t.Context(), b.Ask(paid, ""), time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
	_, err = b.Store.Refunds.RefundByID(t.Context(), uuid.New())
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Refunds.SettleRefund(t.Context(), uuid.New(), models.RefundResult{Status: models.RefundSucceeded}, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// Where a check and a reservation are two steps, this pays the same money back twice.
func TestOrderRefundInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 20 {
		tx := b.Paid(t, 1)

		var won, lost, other atomic.Int32

		bookstest.Parallel(8, func(int) {
			r := b.Ask(tx, "69.00") // 60 %
			_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())

			if err == nil {
				won.Add(1)

				_, err = b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())
			}

			switch {
			case err == nil:
			case models.CodeOf(err) == models.CodeRefundExceedsRemaining:
				lost.Add(1)
			default:
				t.Log(err)
				other.Add(1)
			}
		})

		require.Zero(t, other.Load())
		require.EqualValues(t, 1, won.Load())
		require.EqualValues(t, 7, lost.Load())
		require.Equal(t, "69.00", b.Transaction(t, tx.ID).RefundedAmount.String())
		b.RequireBooks(t)
		b.GiveBack(t, tx, "") // frees the seat for the next round
	}
}

// Small refunds side by side, settled side by side: they come to exactly the payment and not a halala more.
func TestRefundsInParallelAddUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1) // 115.00

	var won, lost, other atomic.Int32

	bookstest.Parallel(16, func(int) {
		r := b.Ask(tx, "11.50")

		_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
		if models.CodeOf(err) == models.CodeRefundExceedsRemaining || models.CodeOf(err) == models.CodeBookingNotRefundable {
			lost.Add(1)

			return
		}

		_, settleErr := b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())
		if err != nil || settleErr != nil {
			t.Log(err, settleErr)
			other.Add(1)
		}

		won.Add(1)
	})

	require.Zero(t, other.Load())
	require.EqualValues(t, 10, won.Load())
	require.EqualValues(t, 6, lost.Load())

	got := b.Transaction(t, tx.ID)
	require.True(t, got.RefundedAmount.Equal(got.Amount))
	require.True(t, got.RefundReservedAmount.IsZero())
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 10, b.Count(t, "SELECT count(*) FROM financial_records WHERE balance_status = 'REFUNDED'"))
}

func TestTheSameRefundInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 5 {
		tx := b.Paid(t, 1)
		r := b.Ask(tx, "")

		var queued, failed atomic.Int64

		bookstest.Parallel(8, func(int) {
			_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
			s, err2 := b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())

			if err != nil || err2 != nil || s.Status != models.RefundSucceeded {
				t.Log(s, err, err2)
				failed.Add(1)
			}

			queued.Add(int64(s.Queued))
		})

		require.Zero(t, failed.Load())
		require.EqualValues(t, 2, queued.Load())
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds WHERE payment_transaction_id = $1", tx.ID))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE parent_id = $1", tx.ID))
	}
}

func TestRefundReasonAndGatewayID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask(b.Paid(t, 1), "10.00")
	r.Reason = "Plans changed"
	b.Reserve(t, r)

	require.NoError(t, b.Store.Refunds.SaveGatewayRefund(t.Context(), r.ID, "re-1"))

	got, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "Plans changed", got.Reason)
	require.Equal(t, "re-1", *got.GatewayRefundID)

	// Decided without the gateway's id: the one that is known stays.
	b.SettleRefund(t, r, models.RefundResult{Status: models.RefundSucceeded})
	got, err = b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "re-1", *got.GatewayRefundID)
}

func TestListRefunds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := b.Paid(t, 1), b.Paid(t, 1)
	small := b.GiveBack(t, first, "1.00")
	b.Reserve(t, b.Ask(first, "2.00"))
	b.GiveBack(t, second, "3.00")

	l, err := b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{BookingID: *first.BookingID})
	require.NoError(t, err)
	require.EqualValues(t, 2, l.Total)

	l, err = b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{Status: models.RefundSucceeded, Page: db.Page{Number: 1, PerPage: 10, Sort: []db.Sort{{Field: "amount"}}}})
	require.NoError(t, err)
	require.Len(t, l.Items, 2)
	require.Equal(t, small.ID, l.Items[0].ID)

	_, err = b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{Page: db.Page{Sort: []db.Sort{{Field: "reason"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

// A bound of who has typed no code lately counts for what the refund comes to, whatever its type; what is ordered stays so.
func TestOrderAtMost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	at := models.MustMoney("100.00")

	for _, r := range []models.RefundRequest{b.Ask(tx, ""), b.ByPolicy(tx), b.Ask(tx, "100.01")} {
		r.AtMost = &at
		before := b.Fingerprint(t)
		_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
		bookstest.RequireCode(t, models.CodeStepUpRequired, err)
		require.Equal(t, before, b.Fingerprint(t))
	}

	r := b.Ask(tx, "100.00")
	r.AtMost = &at
	b.Reserve(t, r)

	less := models.MustMoney("1.00")
	r.AtMost = &less
	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err, "the same request again orders nothing")
}

// A bound counts what the requester has ordered of the payment before, so that no parts get around it, at once or one after another; what
// failed, and what others have ordered, does not count.
func TestOrderAtMostInParts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, at := b.Paid(t, 1), models.MustMoney("50.00")

	order := func(by uuid.UUID, amount string) error {
		r := b.Ask(tx, amount)
		r.RequestedBy, r.AtMost = &by, &at

		_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())

		return err
	}
	one, other := b.Users[models.RoleFinanceAdmin].ID, b.Users[models.RoleAdmin].ID

	var ordered atomic.Int32

	bookstest.Parallel(6, func(int) {
		switch err := order(one, "20.00"); {
		case err == nil:
			ordered.Add(1)
		case models.CodeOf(err) != models.CodeStepUpRequired:
			t.Error(err)
		}
	})

	require.EqualValues(t, 2, ordered.Load())
	bookstest.RequireCode(t, models.CodeStepUpRequired, order(one, "10.01"))
	require.NoError(t, order(one, "10.00"))
	require.NoError(t, order(other, "50.00"))
}
