package models_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func rateOf(tenThousandths int64) models.Rate {
	return models.MustRate(fmt.Sprintf("%d.%04d", tenThousandths/10_000, tenThousandths%10_000))
}

func TestRefundableAmount(t *testing.T) {
	t.Parallel()

	const none = "-"

	tests := []struct {
		name               string
		refunded, reserved string
		kind               models.RefundType
		asked              string
		want               string
		code               models.Code
	}{
		{"all of it", "0", "0", models.RefundFull, none, "115.00", ""},
		{"all that is left", "15.00", "0", models.RefundFull, none, "100.00", ""},
		{"full ignores an amount", "0", "0", models.RefundFull, "1", "115.00", ""},
		{"less what is reserved", "15.00", "40.00", models.RefundFull, none, "60.00", ""},
		{"everything is reserved", "15.00", "100.00", models.RefundFull, none, "", models.CodeRefundExceedsRemaining},
		{"everything has gone back", "115.00", "0", models.RefundFull, none, "", models.CodeBookingNotRefundable},
		{"a part", "0", "0", models.RefundPartial, "0.01", "0.01", ""},
		{"exactly what is left", "15.00", "40.00", models.RefundPartial, "60.00", "60.00", ""},
		{"a halala too much", "15.00", "40.00", models.RefundPartial, "60.01", "", models.CodeRefundExceedsRemaining},
		{"a part without an amount", "0", "0", models.RefundPartial, none, "", models.CodeValidation},
		{"nothing", "0", "0", models.RefundPartial, "0.00", "", models.CodeValidation},
		{"less than nothing", "0", "0", models.RefundPartial, "-1.00", "", models.CodeValidation},
		{"what the policy found", "0", "0", models.RefundPolicy, "57.50", "57.50", ""},
		{"a policy without an amount", "0", "0", models.RefundPolicy, none, "", models.CodeValidation},
		{"more than is left by policy", "100.00", "0", models.RefundPolicy, "57.50", "", models.CodeRefundExceedsRemaining},
		{"a part when everything has gone back", "115.00", "0", models.RefundPartial, "1", "", models.CodeBookingNotRefundable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tx := attempt(models.TransactionPaid, "", true)
			tx.RefundedAmount, tx.RefundReservedAmount = models.MustMoney(tt.refunded), models.MustMoney(tt.reserved)

			var asked *models.Money

			if tt.asked != none {
				m := models.MustMoney(tt.asked)
				asked = &m
			}

			got, err := models.RefundableAmount(tx, tt.kind, asked)
			if tt.code != "" {
				require.Equal(t, tt.code, models.CodeOf(err), "%v", err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, tt.want, got.String())
		})
	}
}

func TestRefundOfWhatWasNeverTaken(t *testing.T) {
	t.Parallel()

	for name, tx := range attemptStates() {
		_, err := models.RefundableAmount(tx, models.RefundFull, nil)
		if tx.CapturedAt != nil {
			require.NoError(t, err, name)

			continue
		}

		require.Equal(t, models.CodeBookingNotRefundable, models.CodeOf(err), name)
		require.True(t, tx.Remaining().IsZero(), name)
	}
}

func TestRefundTransactionStatus(t *testing.T) {
	t.Parallel()

	require.Equal(t, models.TransactionRefunded, models.RefundTransactionStatus(models.RefundFull, true))
	require.Equal(t, models.TransactionPartialRefund, models.RefundTransactionStatus(models.RefundPartial, false))
	require.Equal(t, models.TransactionPartialRefund, models.RefundTransactionStatus(models.RefundPartial, true), "the status goes by refund_type")
	require.Equal(t, models.TransactionPartialRefund, models.RefundTransactionStatus(models.RefundPolicy, false))
	require.Equal(t, models.TransactionRefunded, models.RefundTransactionStatus(models.RefundPolicy, true))
}

func TestSplitForRefund(t *testing.T) {
	t.Parallel()

	tx := attempt(models.TransactionPaid, "", true)
	tx.CommissionRate = models.MustRate("0.10")
	line := models.Sale(tx, "Winter in AlUla")
	line.TransactionNumber = "RH-2026-000001"
	refund := uuid.New()

	t.Run("in full", func(t *testing.T) {
		t.Parallel()

		s := models.SplitForRefund(line, refund, line.GrossAmount, models.GatewayAccount(tx.Gateway), paidAt)
		require.Nil(t, s.Rest)
		require.Nil(t, s.Clawback)
		require.Equal(t, models.BalanceRefunded, s.Refunded.BalanceStatus)
		require.True(t, s.Refunded.RefundedAmount.Equal(line.GrossAmount))
		require.Equal(t, refund, *s.Refunded.RefundID)
		require.Equal(t, line.ID, s.Refunded.ID)
		require.Len(t, s.Transfers, 3)
	})

	t.Run("in part", func(t *testing.T) {
		t.Parallel()

		s := models.SplitForRefund(line, refund, models.MustMoney("38.33"), models.GatewayAccount(tx.Gateway), paidAt)
		require.Equal(t, "3.83", s.Refunded.PlatformCommissionAmount.String())
		require.Equal(t, "34.50", s.Refunded.NetAmount.String())
		require.Equal(t, "5.00", s.Refunded.VATAmount.String())
		require.NotNil(t, s.Rest)
		require.Equal(t, "76.67", s.Rest.GrossAmount.String())
		require.Equal(t, "7.67", s.Rest.PlatformCommissionAmount.String())
		require.Equal(t, line.ID, *s.Rest.SplitFrom)
		require.Empty(t, s.Rest.TransactionNumber, "it gets a number of its own")
		require.Nil(t, s.Rest.RefundID)
		require.True(t, s.Rest.RefundedAmount.IsZero())
		require.Equal(t, models.BalanceInCurrent, s.Rest.BalanceStatus)
		require.Nil(t, s.Clawback, "the provider has not been paid yet")
	})

	t.Run("after the payout", func(t *testing.T) {
		t.Parallel()

		ref, day := "PO-1", models.NewDate(2026, 3, 2)
		out := line
		out.BalanceStatus, out.TransferredAt, out.PayoutReference, out.PayoutDate = models.BalanceTransferred, &paidAt, &ref, &day

		s := models.SplitForRefund(out, refund, models.MustMoney("38.33"), models.GatewayAccount(tx.Gateway), paidAt)
		require.Equal(t, &ref, s.Refunded.PayoutReference, "a refunded entry keeps its payout")
		require.Equal(t, &paidAt, s.Refunded.TransferredAt)
		require.Equal(t, models.BalanceTransferred, s.Rest.BalanceStatus)
		require.Equal(t, &ref, s.Rest.PayoutReference)
		require.Equal(t, &day, s.Rest.PayoutDate)
		require.Equal(t, &paidAt, s.Rest.TransferredAt)

		require.NotNil(t, s.Clawback)
		require.Equal(t, models.RecordClawback, s.Clawback.Kind)
		require.Equal(t, "-34.50", s.Clawback.GrossAmount.String())
		require.Equal(t, "-34.50", s.Clawback.NetAmount.String())
		require.True(t, s.Clawback.PlatformCommissionAmount.IsZero())
		require.Equal(t, models.BalanceInCurrent, s.Clawback.BalanceStatus)
		require.Nil(t, s.Clawback.TransferredAt)
		require.Equal(t, "Claw-back of RH-2026-000001", s.Clawback.Details)

		moved := models.PayoutTransfer(s.Clawback, 0)
		require.Len(t, moved, 1)
		require.Equal(t, models.PaidOutAccount(tx.ProviderID), moved[0].DebitAccount, "it moves the other way")
		require.Equal(t, "34.50", moved[0].Amount.String())
	})
}

func TestRefundLeavesFee(t *testing.T) {
	t.Parallel()

	half, whole := 50, 100

	for _, tt := range []struct {
		refund models.Refund
		want   bool
	}{
		{models.Refund{RefundType: models.RefundPolicy, PolicyPercent: &half, Status: models.RefundPending}, true},
		{models.Refund{RefundType: models.RefundPolicy, PolicyPercent: &half, Status: models.RefundSucceeded}, true},
		{models.Refund{RefundType: models.RefundPolicy, PolicyPercent: &half, Status: models.RefundFailed}, false},
		{models.Refund{RefundType: models.RefundPolicy, PolicyPercent: &whole, Status: models.RefundSucceeded}, false},
		{models.Refund{RefundType: models.RefundFull, Status: models.RefundSucceeded}, false},
		{models.Refund{RefundType: models.RefundPartial, Status: models.RefundSucceeded}, false},
	} {
		require.Equal(t, tt.want, tt.refund.LeavesFee(), "%+v", tt.refund)
	}

	q := models.RefundQuote{Remaining: models.MustMoney("100.00")}
	q.Amount = models.MustMoney("50.00")
	require.True(t, q.LeavesFee())
	q.Amount = q.Remaining
	require.False(t, q.LeavesFee())
}
