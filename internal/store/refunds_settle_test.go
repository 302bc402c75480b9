package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func TestFullRefund(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 3) // 345.00
	r := b.ask(tx, "")
	b.reserve(t, r)

	require.Equal(t, models.SettledRefund{Status: models.RefundSucceeded, Queued: 2}, b.settleRefund(t, r, granted(r)))

	paid := b.transaction(t, tx.ID)
	require.Equal(t, models.TransactionPaid, paid.Status, "the refund is a transaction of its own")
	require.Equal(t, "345.00", paid.RefundedAmount.String())
	require.True(t, paid.RefundReservedAmount.IsZero())

	refund, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, refund.Status)
	require.NotNil(t, refund.CompletedAt)
	require.Equal(t, "re-"+r.ID.String(), *refund.GatewayRefundID)

	added := b.transaction(t, *refund.RefundTransactionID)
	require.Equal(t, models.RefundTransactionID(r.ID), added.ID)
	require.Equal(t, models.KindRefund, added.Kind)
	require.Equal(t, models.TransactionRefunded, added.Status)
	require.Equal(t, tx.ID, *added.ParentID)
	require.Equal(t, "345.00", added.Amount.String())
	require.Equal(t, "45.00", added.VATAmount.String())
	require.Equal(t, "0.15", added.VATRate.String())
	require.Equal(t, tx.UserID, added.UserID)

	records := b.records(t, tx)
	require.Len(t, records, 1)
	require.Equal(t, models.BalanceRefunded, records[0].BalanceStatus)
	require.Equal(t, "345.00", records[0].RefundedAmount.String())
	require.Equal(t, "345.00", records[0].GrossAmount.String())
	require.Equal(t, r.ID, *records[0].RefundID)

	require.Equal(t, models.BookingCancelled, b.bookingNow(t, *tx.BookingID).Status)
	require.Zero(t, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED' AND transaction_id = $1 AND data->>'amount' = '345.00'", added.ID))
	require.Equal(t, 3, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE refund_id = $1", r.ID))

	before := b.fingerprint(t)
	require.Equal(t, models.SettledRefund{Status: models.RefundSucceeded}, b.settleRefund(t, r, granted(r)))
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status, "a decision is final")
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, r, models.RefundResult{}).Status)
	require.Equal(t, before, b.fingerprint(t))
}

func TestPartialRefundsAddUp(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1) // 115.00, commission 11.50, VAT 15.00

	// Each share of the VAT for itself would round to 0.01, 0.01 and 14.99.
	for i, amount := range []string{"0.04", "0.04", "114.92"} {
		r := b.giveBack(t, tx, amount)
		last := i == 2

		refund, err := b.s.RefundByID(t.Context(), r.ID)
		require.NoError(t, err)
		require.Equal(t, models.TransactionPartialRefund, b.transaction(t, *refund.RefundTransactionID).Status)

		status := models.BookingConfirmed
		if last {
			status = models.BookingCancelled
		}

		require.Equal(t, status, b.bookingNow(t, *tx.BookingID).Status)
		require.Equal(t, last, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID) == 0)
	}

	records := b.records(t, tx)
	require.Len(t, records, 3)

	numbers := map[string]bool{}

	for i, r := range records {
		require.Equal(t, models.BalanceRefunded, r.BalanceStatus)
		numbers[r.TransactionNumber] = true

		if i > 0 {
			require.Equal(t, records[i-1].ID, *r.SplitFrom)
		}
	}

	require.Len(t, numbers, 3, "every line has a number of its own")
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM (SELECT sum(gross_amount) AS g, sum(platform_commission_amount) AS c, sum(net_amount) AS n,
		sum(vat_amount) AS v, sum(refunded_amount) AS r FROM financial_records) AS s WHERE g = 115 AND c = 11.50 AND n = 103.50 AND v = 15 AND r = 115`))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM (SELECT sum(vat_amount) AS v FROM payment_transactions WHERE kind = 'REFUND') AS s WHERE v = 15"))
}

func TestRefundAfterThePayout(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	ref, day := "PO-1", models.DateIn(time.Now())
	mark := store.MarkTransfer{Reference: &ref, Date: &day}

	_, err := b.s.MarkTransferred(t.Context(), b.records(t, tx)[0].ID, mark, b.finance)
	require.NoError(t, err)
	b.requireIdentities(t)

	part := b.giveBack(t, tx, "38.33")
	records := b.records(t, tx)
	require.Len(t, records, 3)

	var refunded, rest, clawback models.FinancialRecord

	for _, r := range records {
		switch {
		case r.Kind == models.RecordClawback:
			clawback = r
		case r.BalanceStatus == models.BalanceRefunded:
			refunded = r
		default:
			rest = r
		}
	}

	require.Equal(t, ref, *refunded.PayoutReference, "a refunded line keeps its payout")
	require.NotNil(t, refunded.TransferredAt)
	require.Equal(t, models.BalanceTransferred, rest.BalanceStatus)
	require.Equal(t, ref, *rest.PayoutReference)
	require.Equal(t, day, *rest.PayoutDate)
	require.NotNil(t, rest.TransferredAt)
	require.Equal(t, "76.67", rest.GrossAmount.String())
	require.Equal(t, "-34.50", clawback.NetAmount.String())
	require.Equal(t, "-34.50", clawback.GrossAmount.String())
	require.Equal(t, models.BalanceInCurrent, clawback.BalanceStatus)
	require.Equal(t, part.ID, *clawback.RefundID)

	// The claw-back is netted with the next payout.
	_, err = b.s.MarkTransferred(t.Context(), clawback.ID, store.MarkTransfer{}, b.finance)
	require.NoError(t, err)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT' AND amount = 34.50 AND credit_account = $1",
		models.PayableAccount(b.Provider.ID)))
	b.requireIdentities(t)

	b.giveBack(t, tx, "")
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM financial_records WHERE kind = 'CLAWBACK'"))
	require.Equal(t, models.BookingCancelled, b.bookingNow(t, *tx.BookingID).Status)
}

func TestRefundThatTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	r := b.ask(tx, "")
	b.reserve(t, r)

	require.Equal(t, models.SettledRefund{Status: models.RefundFailed, NeedsReview: true},
		b.settleRefund(t, r, models.RefundResult{Status: models.RefundFailed, FailureReason: "No."}))

	refund, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundFailed, refund.Status)
	require.Equal(t, store.RefundFailedAtGateway, *refund.FailureCode)
	require.Equal(t, "No.", refund.FailureReason)
	require.NotNil(t, refund.CompletedAt)
	require.Nil(t, refund.RefundTransactionID)

	got := b.transaction(t, tx.ID)
	require.True(t, got.RefundReservedAmount.IsZero() && got.RefundedAmount.IsZero())
	require.Equal(t, models.BookingConfirmed, b.bookingNow(t, *tx.BookingID).Status)
	require.Equal(t, models.BalanceInCurrent, b.records(t, tx)[0].BalanceStatus)
	require.Zero(t, b.count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED'"))

	incidents := b.incidents(t)
	require.Len(t, incidents, 1)
	require.Equal(t, models.IncidentRefundFailed, incidents[0].Kind)
	require.Equal(t, r.ID, *incidents[0].RefundID)

	before := b.fingerprint(t)
	require.Equal(t, models.RefundFailed, b.settleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status)
	require.Equal(t, before, b.fingerprint(t))

	b.giveBack(t, tx, "") // another try is another refund
}

func TestUndecidedRefundChangesNothing(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	r := b.ask(b.paid(t, 1), "10.00")
	b.reserve(t, r)
	before := b.fingerprint(t)

	for _, result := range []models.RefundResult{{}, {Status: models.RefundPending, GatewayRefundID: "re-1"}} {
		require.Equal(t, models.SettledRefund{Status: models.RefundPending}, b.settleRefund(t, r, result))
	}

	require.Equal(t, before, b.fingerprint(t))
}

func TestRefundOfALatePayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	trip := b.trip(t, 1, nil)
	tx := b.lapsed(t, trip, 1)
	b.book(t, trip, 1)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	require.True(t, b.settle(t, tx, time.Now()).RefundOwed)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	require.Equal(t, tx.Amount.String(), b.reserve(t, r).Amount.String())
	require.Zero(t, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED'"), "nobody asked for it")

	require.Equal(t, models.SettledRefund{Status: models.RefundSucceeded, Queued: 2}, b.settleRefund(t, r, granted(r)))
	require.False(t, b.settle(t, tx, time.Now()).RefundOwed)
	require.Equal(t, models.TransactionFailed, b.transaction(t, tx.ID).Status)
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 1, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID), "the other customer's seat")
	require.Empty(t, b.records(t, tx))
}

func TestRefundOfALateCampaignPayment(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	today := models.DateIn(time.Now())
	campaign := b.campaign(t, today, today)
	tx := b.openCampaign(t, campaign, 1)
	b.exec(t, "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", campaign)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	require.True(t, b.settle(t, tx, time.Now()).RefundOwed)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	b.reserve(t, r)
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, r, granted(r)).Status)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM refunds WHERE ad_campaign_id = $1 AND booking_id IS NULL", campaign))
}

// Refunds, payouts and repeated settlements of one payment at once: no lock order deadlocks, and the books hold.
func TestSettlementsRefundsAndPayoutsAtOnce(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 5 {
		tx := b.paid(t, 2)
		line := b.records(t, tx)[0].ID
		errs := make([]error, 12)

		parallel(len(errs), func(i int) {
			switch i % 3 {
			case 0:
				r := b.ask(tx, "20.00")
				if _, errs[i] = b.s.OrderRefund(t.Context(), r, time.Now()); errs[i] == nil {
					_, errs[i] = b.s.SettleRefund(t.Context(), r.ID, granted(r), time.Now())
				}
			case 1:
				_, errs[i] = b.s.MarkTransferred(t.Context(), line, store.MarkTransfer{}, b.finance)
				if models.CodeOf(errs[i]) == models.CodeRecordNotTransferable {
					errs[i] = nil // a refund was first
				}
			default:
				if _, errs[i] = b.s.StoreEvent(t.Context(), word(tx, models.EventPaymentSucceeded, nil), time.Now()); errs[i] == nil {
					_, errs[i] = b.s.SettlePayment(t.Context(), tx.ID, time.Now())
				}
			}
		})

		for _, err := range errs {
			require.NoError(t, err)
		}

		require.Equal(t, "80.00", b.transaction(t, tx.ID).RefundedAmount.String())
		b.requireIdentities(t)
	}
}

func TestRefundEvents(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	r := b.ask(tx, "10.00")
	b.reserve(t, r)

	event := func(kind models.EventType) models.WebhookEvent {
		return word(tx, kind, func(e *models.WebhookEvent) {
			e.MerchantReference, e.GatewayRefundID = r.ID.String(), "re-"+r.ID.String()
		})
	}

	first := event(models.EventRefundSucceeded)
	stored := b.deliver(t, first)
	require.True(t, stored.Known && stored.Deliver)
	require.Equal(t, models.Delivery{
		EventID: first.ID, TransactionID: tx.ID, RefundID: r.ID, BookingID: *tx.BookingID, Channel: models.ChannelGatewayA,
	}, stored.Delivery)

	b.settle(t, tx, time.Now())
	require.Empty(t, b.outcome(t, first), "a payment's settlement leaves a refund's events alone")

	b.settleRefund(t, r, models.RefundResult{})
	require.Empty(t, b.outcome(t, first), "an undecided refund keeps its events")
	b.settleRefund(t, r, granted(r))
	require.Equal(t, "APPLIED", b.outcome(t, first))

	again := event(models.EventRefundSucceeded)
	require.True(t, b.deliver(t, again).Duplicate)
	require.Equal(t, "DUPLICATE", b.outcome(t, again))

	for name, e := range map[string]models.WebhookEvent{
		"of another checkout": word(tx, models.EventRefundSucceeded, func(e *models.WebhookEvent) {
			e.MerchantReference, e.CheckoutID = r.ID.String(), "ref-other"
		}),
		"of no refund":          word(tx, models.EventRefundFailed, func(e *models.WebhookEvent) { e.MerchantReference = uuid.NewString() }),
		"with the payment's id": word(tx, models.EventRefundFailed, nil),
		"on another channel": word(tx, models.EventRefundSucceeded, func(e *models.WebhookEvent) {
			e.MerchantReference, e.Channel = r.ID.String(), models.ChannelWalletB
		}),
	} {
		require.False(t, b.deliver(t, e).Known, name)
		require.Equal(t, "INCIDENT", b.outcome(t, e), name)
	}
}
