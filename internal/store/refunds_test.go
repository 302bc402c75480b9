package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// ask is a request to give back part of a booking's payment, or all that is left when amount is empty.
func (b *books) ask(tx models.PaymentTransaction, amount string) models.RefundRequest {
	r := models.RefundRequest{
		ID: models.RefundID(*tx.BookingID, uuid.NewString()), BookingID: *tx.BookingID, Type: models.RefundFull,
		RequestedBy: &b.finance.UserID, Role: b.finance.Role, RequestID: "req-1",
	}
	if amount != "" {
		m := models.MustMoney(amount)
		r.Type, r.Amount = models.RefundPartial, &m
	}

	return r
}

func (b *books) reserve(t *testing.T, r models.RefundRequest) models.Refund {
	t.Helper()

	reserved, err := b.s.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundPending, reserved.Status)

	return reserved
}

func granted(r models.RefundRequest) models.RefundResult {
	return models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re-" + r.ID.String()}
}

func (b *books) settleRefund(t *testing.T, r models.RefundRequest, result models.RefundResult) models.SettledRefund {
	t.Helper()

	s, err := b.s.SettleRefund(t.Context(), r.ID, result, time.Now())
	require.NoError(t, err)

	return s
}

// giveBack refunds from beginning to end, and checks the books afterwards.
func (b *books) giveBack(t *testing.T, tx models.PaymentTransaction, amount string) models.RefundRequest {
	t.Helper()

	r := b.ask(tx, amount)
	b.reserve(t, r)
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, r, granted(r)).Status)
	b.requireIdentities(t)

	return r
}

func (b *books) records(t *testing.T, tx models.PaymentTransaction) []models.FinancialRecord {
	t.Helper()

	l, err := b.s.ListRecords(t.Context(), store.RecordFilter{
		BookingID: *tx.BookingID, Page: store.Page{Number: 1, PerPage: 100, Sort: []store.Sort{{Field: "created_at"}}},
	})
	require.NoError(t, err)

	return l.Items
}

func TestOrderRefund(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)

	r := b.ask(tx, "40.00")
	reserved := b.reserve(t, r)
	require.Equal(t, "40.00", reserved.Amount.String())

	ordered, err := b.s.OrderedRefund(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.ReservedRefund{
		Status: models.RefundPending, Amount: reserved.Amount, Gateway: models.ProviderGatewayA, Channel: models.RefundByGateway,
		Currency: models.Currency,
	}, ordered)

	got := b.transaction(t, tx.ID)
	require.Equal(t, "40.00", got.RefundReservedAmount.String())
	require.True(t, got.RefundedAmount.IsZero())
	require.Equal(t, "75.00", got.Remaining().String())

	refund, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundPending, refund.Status)
	require.Equal(t, tx.ID, refund.PaymentTransactionID)
	require.Equal(t, tx.BookingID, refund.BookingID)
	require.Equal(t, b.finance.UserID, *refund.RequestedBy)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED' AND entity_id = $1 AND actor_id = $2", r.ID, b.finance.UserID))

	before := b.fingerprint(t)
	again := b.reserve(t, r)
	require.Equal(t, []any{reserved.ID, reserved.Amount, reserved.Status}, []any{again.ID, again.Amount, again.Status}, "the same id is the same refund")
	require.Equal(t, before, b.fingerprint(t))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED'"))

	_, err = b.s.OrderRefund(t.Context(), b.ask(tx, "75.01"), time.Now())
	requireCode(t, models.CodeRefundExceedsRemaining, err)
	require.Equal(t, "75.00", b.reserve(t, b.ask(tx, "")).Amount.String(), "FULL is all that is left")
	_, err = b.s.OrderRefund(t.Context(), b.ask(tx, "0.01"), time.Now())
	requireCode(t, models.CodeRefundExceedsRemaining, err)
	require.Equal(t, models.BookingConfirmed, b.bookingNow(t, *tx.BookingID).Status, "a promise changes nothing yet")
}

func TestOrderRefundRefusals(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	open := b.open(t, b.book(t, b.Trip, 1), 1)
	_, err := b.s.OrderRefund(t.Context(), b.ask(open, ""), time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)

	b.report(t, open, models.EventPaymentFailed)
	_, err = b.s.OrderRefund(t.Context(), b.ask(open, ""), time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)
	_, err = b.s.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), TransactionID: open.ID, Type: models.RefundFull}, time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)

	_, err = b.s.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), BookingID: uuid.New(), Type: models.RefundFull}, time.Now())
	requireCode(t, models.CodeNotFound, err)
	_, err = b.s.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), TransactionID: uuid.New(), Type: models.RefundFull}, time.Now())
	requireCode(t, models.CodeNotFound, err)

	paid := b.paid(t, 1)
	noAmount := b.ask(paid, "")
	noAmount.Type = models.RefundPartial
	_, err = b.s.OrderRefund(t.Context(), noAmount, time.Now())
	requireCode(t, models.CodeValidation, err)

	b.giveBack(t, paid, "")
	_, err = b.s.OrderRefund(t.Context(), b.ask(paid, ""), time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)
	_, err = b.s.RefundByID(t.Context(), uuid.New())
	requireCode(t, models.CodeNotFound, err)
	_, err = b.s.SettleRefund(t.Context(), uuid.New(), models.RefundResult{Status: models.RefundSucceeded}, time.Now())
	requireCode(t, models.CodeNotFound, err)
}

// Where a check and a reservation are two steps, this pays the same money back twice.
func TestOrderRefundInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 20 {
		tx := b.paid(t, 1)

		var won, lost, other atomic.Int32

		parallel(8, func(int) {
			r := b.ask(tx, "69.00") // 60 %
			_, err := b.s.OrderRefund(t.Context(), r, time.Now())

			if err == nil {
				won.Add(1)

				_, err = b.s.SettleRefund(t.Context(), r.ID, granted(r), time.Now())
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
		require.Equal(t, "69.00", b.transaction(t, tx.ID).RefundedAmount.String())
		b.requireIdentities(t)
		b.giveBack(t, tx, "") // frees the seat for the next round
	}
}

// Small refunds side by side, settled side by side: they come to exactly the payment and not a halala more.
func TestRefundsInParallelAddUp(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1) // 115.00

	var won, lost, other atomic.Int32

	parallel(16, func(int) {
		r := b.ask(tx, "11.50")

		_, err := b.s.OrderRefund(t.Context(), r, time.Now())
		if models.CodeOf(err) == models.CodeRefundExceedsRemaining || models.CodeOf(err) == models.CodeBookingNotRefundable {
			lost.Add(1)

			return
		}

		_, settleErr := b.s.SettleRefund(t.Context(), r.ID, granted(r), time.Now())
		if err != nil || settleErr != nil {
			t.Log(err, settleErr)
			other.Add(1)
		}

		won.Add(1)
	})

	require.Zero(t, other.Load())
	require.EqualValues(t, 10, won.Load())
	require.EqualValues(t, 6, lost.Load())

	got := b.transaction(t, tx.ID)
	require.True(t, got.RefundedAmount.Equal(got.Amount))
	require.True(t, got.RefundReservedAmount.IsZero())
	require.Equal(t, models.BookingCancelled, b.bookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 10, b.count(t, "SELECT count(*) FROM financial_records WHERE balance_status = 'REFUNDED'"))
}

func TestTheSameRefundInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 5 {
		tx := b.paid(t, 1)
		r := b.ask(tx, "")

		var queued, failed atomic.Int64

		parallel(8, func(int) {
			_, err := b.s.OrderRefund(t.Context(), r, time.Now())
			s, err2 := b.s.SettleRefund(t.Context(), r.ID, granted(r), time.Now())

			if err != nil || err2 != nil || s.Status != models.RefundSucceeded {
				t.Log(s, err, err2)
				failed.Add(1)
			}

			queued.Add(int64(s.Queued))
		})

		require.Zero(t, failed.Load())
		require.EqualValues(t, 2, queued.Load())
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM refunds WHERE payment_transaction_id = $1", tx.ID))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payment_transactions WHERE parent_id = $1", tx.ID))
		b.requireIdentities(t)
	}
}

func TestRefundReasonAndGatewayID(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	r := b.ask(b.paid(t, 1), "10.00")
	r.Reason = "Plans changed"
	b.reserve(t, r)

	require.NoError(t, b.s.SaveGatewayRefund(t.Context(), r.ID, "re-1"))

	got, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "Plans changed", got.Reason)
	require.Equal(t, "re-1", *got.GatewayRefundID)

	// Decided without the gateway's id: the one that is known stays.
	b.settleRefund(t, r, models.RefundResult{Status: models.RefundSucceeded})
	got, err = b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "re-1", *got.GatewayRefundID)
}

func TestListRefunds(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	first, second := b.paid(t, 1), b.paid(t, 1)
	small := b.giveBack(t, first, "1.00")
	b.reserve(t, b.ask(first, "2.00"))
	b.giveBack(t, second, "3.00")

	l, err := b.s.ListRefunds(t.Context(), store.RefundFilter{BookingID: *first.BookingID})
	require.NoError(t, err)
	require.EqualValues(t, 2, l.Total)

	l, err = b.s.ListRefunds(t.Context(), store.RefundFilter{Status: models.RefundSucceeded, Page: store.Page{Number: 1, PerPage: 10, Sort: []store.Sort{{Field: "amount"}}}})
	require.NoError(t, err)
	require.Len(t, l.Items, 2)
	require.Equal(t, small.ID, l.Items[0].ID)

	_, err = b.s.ListRefunds(t.Context(), store.RefundFilter{Page: store.Page{Sort: []store.Sort{{Field: "reason"}}}})
	requireCode(t, models.CodeValidation, err)
}
