package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/internal/store/refunds"
	"rihla/models"
)

func TestFullRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 3) // 345.00
	r := b.Ask(tx, "")
	b.Reserve(t, r)

	require.Equal(t, models.SettledRefund{Status: models.RefundSucceeded, Queued: 2}, b.SettleRefund(t, r, bookstest.Granted(r)))

	paid := b.Transaction(t, tx.ID)
	require.Equal(t, models.TransactionPaid, paid.Status, "the refund is a transaction of its own")
	require.Equal(t, "345.00", paid.RefundedAmount.String())
	require.True(t, paid.RefundReservedAmount.IsZero())

	refund, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, refund.Status)
	require.NotNil(t, refund.CompletedAt)
	require.Equal(t, "re-"+r.ID.String(), *refund.GatewayRefundID)

	added := b.Transaction(t, *refund.RefundTransactionID)
	require.Equal(t, models.RefundTransactionID(r.ID), added.ID)
	require.Equal(t, models.KindRefund, added.Kind)
	require.Equal(t, models.TransactionRefunded, added.Status)
	require.Equal(t, tx.ID, *added.ParentID)
	require.Equal(t, "345.00", added.Amount.String())
	require.Equal(t, "45.00", added.VATAmount.String())
	require.Equal(t, "0.15", added.VATRate.String())
	require.Equal(t, tx.UserID, added.UserID)

	records := b.Records(t, tx)
	require.Len(t, records, 1)
	require.Equal(t, models.BalanceRefunded, records[0].BalanceStatus)
	require.Equal(t, "345.00", records[0].RefundedAmount.String())
	require.Equal(t, "345.00", records[0].GrossAmount.String())
	require.Equal(t, r.ID, *records[0].RefundID)

	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED' AND transaction_id = $1 AND data->>'amount' = '345.00'", added.ID))
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE refund_id = $1", r.ID))

	before := b.Fingerprint(t)
	require.Equal(t, models.SettledRefund{Status: models.RefundSucceeded}, b.SettleRefund(t, r, bookstest.Granted(r)))
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status, "a decision is final")
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{}).Status)
	require.Equal(t, before, b.Fingerprint(t))
}

func TestPartialRefundsAddUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1) // 115.00, commission 11.50, VAT 15.00

	// By themselves they contain VAT of 0.01, 0.01 and 14.99, which the documents say; the entries have 15.00 together.
	for i, amount := range []string{"0.04", "0.04", "114.92"} {
		r := b.GiveBack(t, tx, amount)
		last := i == 2

		refund, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
		require.NoError(t, err)
		require.Equal(t, models.TransactionPartialRefund, b.Transaction(t, *refund.RefundTransactionID).Status)

		status := models.BookingConfirmed
		if last {
			status = models.BookingCancelled
		}

		require.Equal(t, status, b.BookingNow(t, *tx.BookingID).Status)
		require.Equal(t, last, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID) == 0)
	}

	records := b.Records(t, tx)
	require.Len(t, records, 3)

	numbers := map[string]bool{}

	for i, r := range records {
		require.Equal(t, models.BalanceRefunded, r.BalanceStatus)
		numbers[r.TransactionNumber] = true

		if i > 0 {
			require.Equal(t, records[i-1].ID, *r.SplitFrom)
		}
	}

	require.Len(t, numbers, 3, "every entry has a number of its own")
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM (SELECT sum(gross_amount) AS g, sum(platform_commission_amount) AS c, sum(net_amount) AS n,
		sum(vat_amount) AS v, sum(refunded_amount) AS r FROM financial_records) AS s WHERE g = 115 AND c = 11.50 AND n = 103.50 AND v = 15 AND r = 115`))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM (SELECT sum(vat_amount) AS v FROM payment_transactions WHERE kind = 'REFUND') AS s WHERE v = 15.01"))
}

func TestRefundAfterThePayout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	ref, day := "PO-1", models.DateIn(time.Now())
	mark := ledger.MarkTransfer{Reference: &ref, Date: &day}

	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, b.Records(t, tx)[0].ID, mark)
	require.NoError(t, err)
	b.RequireBooks(t)

	part := b.GiveBack(t, tx, "38.33")
	records := b.Records(t, tx)
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

	require.Equal(t, ref, *refunded.PayoutReference, "a refunded entry keeps its payout")
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
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, clawback.ID, ledger.MarkTransfer{})
	require.NoError(t, err)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT' AND amount = 34.50 AND credit_account = $1",
		models.PayableAccount(b.Provider.ID)))
	b.RequireBooks(t)

	b.GiveBack(t, tx, "")
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM financial_records WHERE kind = 'CLAWBACK'"))
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
}

func TestRefundThatTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "")
	b.Reserve(t, r)

	require.Equal(t, models.SettledRefund{Status: models.RefundFailed, NeedsReview: true},
		b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed, FailureReason: "No."}))

	refund, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundFailed, refund.Status)
	require.Equal(t, refunds.RefundFailedAtGateway, *refund.FailureCode)
	require.Equal(t, "No.", refund.FailureReason)
	require.NotNil(t, refund.CompletedAt)
	require.Nil(t, refund.RefundTransactionID)

	got := b.Transaction(t, tx.ID)
	require.True(t, got.RefundReservedAmount.IsZero() && got.RefundedAmount.IsZero())
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, models.BalanceInCurrent, b.Records(t, tx)[0].BalanceStatus)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED'"))

	incidents := b.Incidents(t)
	require.Len(t, incidents, 1)
	require.Equal(t, models.IncidentRefundFailed, incidents[0].Kind)
	require.Equal(t, r.ID, *incidents[0].RefundID)

	before := b.Fingerprint(t)
	require.Equal(t, models.RefundFailed, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status)
	require.Equal(t, before, b.Fingerprint(t))

	b.GiveBack(t, tx, "") // another try is another refund
}

func TestUndecidedRefundChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask(b.Paid(t, 1), "10.00")
	b.Reserve(t, r)
	before := b.Fingerprint(t)

	for _, result := range []models.RefundResult{{}, {Status: models.RefundPending, GatewayRefundID: "re-1"}} {
		require.Equal(t, models.SettledRefund{Status: models.RefundPending}, b.SettleRefund(t, r, result))
	}

	require.Equal(t, before, b.Fingerprint(t))
}

func TestRefundOfALatePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 1, nil)
	tx := b.Lapsed(t, trip, 1)
	b.Book(t, trip, 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	require.True(t, b.Settle(t, tx, time.Now()).RefundOwed)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	require.Equal(t, tx.Amount.String(), b.Reserve(t, r).Amount.String())
	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_REQUESTED'"), "nobody asked for it")

	require.Equal(t, models.SettledRefund{Status: models.RefundSucceeded, Queued: 2}, b.SettleRefund(t, r, bookstest.Granted(r)))
	require.False(t, b.Settle(t, tx, time.Now()).RefundOwed)
	require.Equal(t, models.TransactionFailed, b.Transaction(t, tx.ID).Status)
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 1, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID), "the other customer's seat")
	require.Empty(t, b.Records(t, tx))
}

func TestRefundOfALateCampaignPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today, today)
	tx := b.OpenCampaign(t, campaign, 1)
	b.Exec(t, "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", campaign)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	require.True(t, b.Settle(t, tx, time.Now()).RefundOwed)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	b.Reserve(t, r)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, bookstest.Granted(r)).Status)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds WHERE ad_campaign_id = $1 AND booking_id IS NULL", campaign))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'CAMPAIGN_REFUNDED'"))
}

// Refunds, payouts and repeated settlements of one payment at once: no lock order deadlocks, and the books hold.
func TestSettlementsRefundsAndPayoutsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 5 {
		tx := b.Paid(t, 2)
		line := b.Records(t, tx)[0].ID
		errs := make([]error, 12)

		bookstest.Parallel(len(errs), func(i int) {
			switch i % 3 {
			case 0:
				r := b.Ask(tx, "20.00")
				if _, errs[i] = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now()); errs[i] == nil {
					_, errs[i] = b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())
				}
			case 1:
				_, errs[i] = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line, ledger.MarkTransfer{})
				if models.CodeOf(errs[i]) == models.CodeRecordNotTransferable {
					errs[i] = nil // a refund was first
				}
			default:
				if _, errs[i] = b.Store.Inbox.StoreEvent(t.Context(), bookstest.Event(tx, models.EventPaymentSucceeded, nil), time.Now()); errs[i] == nil {
					_, errs[i] = b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
				}
			}
		})

		for _, err := range errs {
			require.NoError(t, err)
		}

		require.Equal(t, "80.00", b.Transaction(t, tx.ID).RefundedAmount.String())
	}
}

func TestRefundEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "10.00")
	b.Reserve(t, r)

	event := func(kind models.EventType) models.WebhookEvent {
		return bookstest.Event(tx, kind, func(e *models.WebhookEvent) {
			e.MerchantReference, e.GatewayRefundID = r.ID.String(), "re-"+r.ID.String()
		})
	}

	first := event(models.EventRefundSucceeded)
	stored := b.Deliver(t, first)
	require.True(t, stored.Known && stored.Deliver)
	require.Equal(t, models.Delivery{
		EventID: first.ID, TransactionID: tx.ID, RefundID: r.ID, BookingID: *tx.BookingID, Channel: models.ChannelGatewayA,
	}, stored.Delivery)

	b.Settle(t, tx, time.Now())
	require.Empty(t, b.Outcome(t, first), "a payment's settlement leaves a refund's events alone")

	b.SettleRefund(t, r, models.RefundResult{})
	require.Empty(t, b.Outcome(t, first), "an undecided refund keeps its events")
	b.SettleRefund(t, r, bookstest.Granted(r))
	require.Equal(t, "APPLIED", b.Outcome(t, first))

	again := event(models.EventRefundSucceeded)
	require.True(t, b.Deliver(t, again).Duplicate)
	require.Equal(t, "DUPLICATE", b.Outcome(t, again))

	for name, e := range map[string]models.WebhookEvent{
		"of another checkout": bookstest.Event(tx, models.EventRefundSucceeded, func(e *models.WebhookEvent) {
			e.MerchantReference, e.CheckoutID = r.ID.String(), "ref-other"
		}),
		"of nothing": bookstest.Event(tx, models.EventRefundFailed, func(e *models.WebhookEvent) {
			e.MerchantReference, e.CheckoutID = uuid.NewString(), "ref-other"
		}),
		"on another channel": bookstest.Event(tx, models.EventRefundSucceeded, func(e *models.WebhookEvent) {
			e.MerchantReference, e.Channel = r.ID.String(), models.ChannelWalletB
		}),
	} {
		require.False(t, b.Deliver(t, e).Known, name)
		require.Equal(t, "INCIDENT", b.Outcome(t, e), name)
	}
}

// The message of a refund says that the booking stays, unless nothing is left of it.
func TestRefundMessageSaysThatTheBookingStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	stays := func() int {
		return b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED' AND data->>'booking_stays' = 'true'")
	}

	b.GiveBack(t, tx, "10.00")
	require.Equal(t, 2, stays(), "by mail and SMS")

	b.GiveBack(t, tx, "105.00")
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 2, stays())
}
