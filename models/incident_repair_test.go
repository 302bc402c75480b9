package models_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestRepairOf(t *testing.T) {
	t.Parallel()

	taken, currency, now := models.MustMoney("1151.00"), "SAR", time.Now()
	suspense := models.PaymentTransaction{
		ID: uuid.New(), Kind: models.KindPayment, Status: models.TransactionFailed, Amount: models.MustMoney("1150.00"), Currency: "SAR",
		CapturedAmount: &taken, CapturedCurrency: &currency, SuspenseAt: &now,
	}
	with := func(edit func(*models.PaymentTransaction)) models.PaymentTransaction {
		t := suspense
		edit(&t)

		return t
	}
	reserved := with(func(t *models.PaymentTransaction) { t.RefundReservedAmount = taken })
	late := models.PaymentTransaction{
		ID: uuid.New(), Kind: models.KindPayment, Status: models.TransactionFailed, Amount: models.MustMoney("1150.00"), Currency: "SAR", CapturedAt: &now,
	}
	sold := models.PaymentTransaction{ID: uuid.New(), Kind: models.KindPayment, Status: models.TransactionPaid, Amount: taken, Currency: "SAR", CapturedAt: &now}
	refund := func(channel models.RefundChannel, status models.RefundStatus) *models.Refund {
		return &models.Refund{ID: uuid.New(), Channel: channel, Status: status, Amount: taken, Currency: "SAR"}
	}
	soldBack := sold
	soldBack.RefundedAmount = models.MustMoney("0.01")
	instead := func(status models.RefundStatus) *models.Refund {
		r, of := refund(models.RefundByHand, status), uuid.New()
		r.InsteadOf, r.Payout = &of, &models.RefundPayout{Decision: models.PayoutPaid}

		return r
	}
	returned := refund(models.RefundByGateway, models.RefundSucceeded)
	returned.ReturnedAt = &now

	for _, c := range []struct {
		name    string
		payment models.PaymentTransaction
		refund  *models.Refund
		kind    models.RepairKind
		state   models.RepairState
		amount  string
		named   bool
	}{
		{"money in suspense", suspense, nil, models.RepairRefundPayment, models.RepairDue, "1151.00", false},
		{"its refund has failed", suspense, refund(models.RefundByGateway, models.RefundFailed), models.RepairRefundPayment, models.RepairDue, "1151.00", false},
		{"its refund runs", reserved, refund(models.RefundByGateway, models.RefundPending), models.RepairRefundPayment, models.RepairUnderWay, "1151.00", true},
		{"its refund is a manual payout", reserved, refund(models.RefundByHand, models.RefundPending), models.RepairPayOutRefund, models.RepairDue, "1151.00", true},
		{
			"it has gone back", with(func(t *models.PaymentTransaction) { t.RefundedAmount = taken }), refund(models.RefundByGateway, models.RefundSucceeded),
			models.RepairRefundPayment, models.RepairDone, "1151.00", true,
		},
		{"money that came too late", late, nil, models.RepairRefundPayment, models.RepairDue, "1150.00", false},
		{"a refund that came back", sold, returned, models.RepairPayOutRefund, models.RepairDue, "1151.00", true},
		{"a sale", sold, nil, "", "", "", false},
		{"a sale's refund that its gateway did not make", sold, refund(models.RefundByGateway, models.RefundFailed), models.RepairPayOutRefund, models.RepairDue, "1151.00", true},
		{"its money has gone back otherwise", soldBack, refund(models.RefundByGateway, models.RefundFailed), "", "", "", false},
		{"a sale's refund that runs", sold, refund(models.RefundByGateway, models.RefundPending), "", "", "", false},
		{"it is paid out instead", sold, instead(models.RefundPending), models.RepairPayOutRefund, models.RepairUnderWay, "1151.00", true},
		{"it was paid out instead", soldBack, instead(models.RefundSucceeded), models.RepairPayOutRefund, models.RepairDone, "1151.00", true},
		{"a manual payout that was rejected", sold, refund(models.RefundByHand, models.RefundFailed), "", "", "", false},
	} {
		got := models.RepairOf(&c.payment, c.refund)
		if c.kind == "" {
			require.Nil(t, got, c.name)

			continue
		}

		require.Equal(t, []any{c.kind, c.state, c.amount, c.named}, []any{got.Kind, got.State, got.Amount.String(), got.RefundID != nil}, c.name)
		require.Equal(t, c.payment.ID, got.TransactionID)
	}
}
