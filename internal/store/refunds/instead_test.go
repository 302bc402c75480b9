package refunds_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// failed is a refund of the payment that its gateway has refused.
func (b *books) failed(t *testing.T, tx models.PaymentTransaction, amount string) models.RefundRequest {
	t.Helper()

	r := b.Ask(tx, amount)
	b.Reserve(t, r)
	require.Equal(t, models.RefundFailed, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed, FailureReason: "no"}).Status)

	return r
}

// late is money that came for a trip which does not run any more.
func (b *books) late(t *testing.T) models.PaymentTransaction {
	t.Helper()

	trip := b.InsertTrip(t, 3, nil)
	tx := b.Lapsed(t, trip, 1)
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", trip.ID)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureExpired)

	return tx
}

func (b *books) settleInstead(t *testing.T, r models.Refund) {
	t.Helper()

	s, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{}, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, s.Status)
}

// TestPayoutOfARefundThatTheGatewayRefused: a second person pays it out of the bank, once; what the gateway refused stays refused.
func TestPayoutOfARefundThatTheGatewayRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.failed(t, tx, "15.00")

	b.refuseDecision(t, models.CodeForbidden, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin) // who asked for it
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)

	paid := b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, r.ID, *paid.InsteadOf)
	require.Equal(t, models.RefundByHand, paid.Channel)
	require.Equal(t, "15.00", paid.Amount.String())

	require.Equal(t, paid.ID, b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin).ID, "the same again")
	b.refuseDecision(t, models.CodeInvalidState, bookstest.PaidOut(r.ID, "TRF-2"), models.RoleAdmin)
	b.settleInstead(t, paid)
	require.Equal(t, paid.ID, b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin).ID, "and after it was settled")

	was, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundFailed, was.Status)
	now := b.Transaction(t, tx.ID)
	require.Equal(t, "15.00", now.RefundedAmount.String())
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'REFUND_PAID' AND credit_account = 'platform:bank' AND amount = 15"))
}

// TestPayoutOfLateMoneyThatTheGatewayRefused: it is owed, and has no requester.
func TestPayoutOfLateMoneyThatTheGatewayRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.late(t)

	r, err := b.Store.Refunds.OrderLateRefund(t.Context(), tx.ID, time.Now())
	require.NoError(t, err)

	_, err = b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundFailed}, time.Now())
	require.NoError(t, err)

	b.settleInstead(t, b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin))
	now := b.Transaction(t, tx.ID)
	require.Equal(t, "0.00", now.Remaining().String())
}

// TestOwedRefundsNeedAPayout: a refund that its gateway did not make is in the list of payouts while it is owed.
func TestOwedRefundsNeedAPayout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r, other := b.failed(t, tx, "15.00"), b.failed(t, tx, "101.00")
	listed := func(needs bool) (ids []uuid.UUID) {
		list, err := b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{NeedsPayout: &needs})
		require.NoError(t, err)

		for _, r := range list.Items {
			require.Equal(t, needs, r.NeedsPayout() || r.Owed)

			ids = append(ids, r.ID)
		}

		return ids
	}

	require.ElementsMatch(t, []uuid.UUID{r.ID, other.ID}, listed(true))
	require.Empty(t, listed(false))

	paid := b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Empty(t, listed(true), "one is decided, and of the other there is not enough left")
	b.settleInstead(t, paid)
	require.Len(t, listed(false), 3)

	// Who has looked at it and wants nothing paid resolves the incident.
	again := b.failed(t, tx, "1.00")
	require.Equal(t, []uuid.UUID{again.ID}, listed(true))
	b.Exec(t, "UPDATE incidents SET status = 'RESOLVED', resolved_at = now() WHERE refund_id = $1", again.ID)
	require.Empty(t, listed(true))

	one, err := b.Store.Refunds.RefundByID(t.Context(), other.ID)
	require.NoError(t, err)
	require.False(t, one.Owed)
}

// TestPayoutInsteadAtOnce: of many who confirm at once, and of another refund of the same money, one goes back.
func TestPayoutInsteadAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.failed(t, tx, "115.00")

	var all sync.WaitGroup

	ids, errs := make([]uuid.UUID, 6), make([]error, 6)
	for i := range ids {
		all.Go(func() {
			var out models.Refund

			out, errs[i] = b.Store.Refunds.DecidePayout(t.Context(), b.As(models.RoleAdmin), bookstest.PaidOut(r.ID, "TRF-1"), time.Now())
			ids[i] = out.ID
		})
	}

	all.Wait()

	for i := range ids {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], ids[i])
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds WHERE instead_of IS NOT NULL"))

	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, "1.00"), time.Now())
	bookstest.RequireCode(t, models.CodeRefundExceedsRemaining, err)
}

// TestNoPayoutInsteadOfWhatWentBack: when the money was refunded otherwise since, or the gateway gave it back after all, nothing is paid.
func TestNoPayoutInsteadOfWhatWentBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.failed(t, tx, "115.00")
	b.GiveBack(t, tx, "1.00")
	b.refuseDecision(t, models.CodeRefundExceedsRemaining, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
}

// TestAccountGone: at first an account may be missing by mistake; then its refunds fail, with an incident, and can be paid out.
func TestAccountGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "15.00")
	b.Reserve(t, r)

	for range 2 {
		gone, err := b.Store.Refunds.AccountGone(t.Context(), r.ID, models.AccountGatewayA)
		require.NoError(t, err)
		require.False(t, gone)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'REFUND_FAILED' AND status = 'OPEN' AND refund_id = $1", r.ID))
	b.Exec(t, "UPDATE refunds SET account_gone_at = now() - interval '11 minutes' WHERE id = $1", r.ID)

	gone, err := b.Store.Refunds.AccountGone(t.Context(), r.ID, models.AccountGatewayA)
	require.NoError(t, err)
	require.True(t, gone)

	require.Equal(t, models.RefundFailed, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds WHERE id = $1 AND failure_code = 'ACCOUNT_GONE'", r.ID))
	b.settleInstead(t, b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin))
}
