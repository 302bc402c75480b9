package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/models"
)

func TestSettlePaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 3)
	tx := b.Open(t, booking, 1)
	e := bookstest.Event(tx, models.EventPaymentSucceeded, nil)

	stored := b.Deliver(t, e)
	require.True(t, stored.Known && stored.Deliver)
	require.False(t, stored.Duplicate || stored.Ended)

	at := time.Now().UTC().Truncate(time.Millisecond)
	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionPaid, Queued: 2}, b.Settle(t, tx, at))

	got := b.Transaction(t, tx.ID)
	require.Equal(t, models.TransactionPaid, got.Status)
	require.Nil(t, got.FailureCode)
	require.WithinDuration(t, e.OccurredAt, *got.CapturedAt, time.Microsecond, "when the gateway took it, not when it was processed")
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
	require.Equal(t, 3, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Equal(t, "APPLIED", b.Outcome(t, e))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM webhook_events WHERE processed_at IS NULL"))

	records, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{})
	require.NoError(t, err)
	require.Len(t, records.Items, 1)

	r := records.Items[0]
	require.Equal(t, models.RecordSale, r.Kind)
	require.Regexp(t, `^RH-\d{4}-\d{6}$`, r.TransactionNumber)
	require.Equal(t, tx.ID, r.PaymentTransactionID)
	require.Equal(t, booking.ID, *r.BookingID)
	require.Equal(t, b.Provider.ID, r.ProviderID)
	require.Equal(t, "345.00", r.GrossAmount.String())
	require.Equal(t, "34.50", r.PlatformCommissionAmount.String())
	require.Equal(t, "310.50", r.NetAmount.String())
	require.Equal(t, "45.00", r.VATAmount.String())
	require.Equal(t, b.Trip.Title, r.TripTitle)
	require.Equal(t, models.DateIn(e.OccurredAt), r.RecordDate)
	require.Equal(t, "0.10", r.CommissionRate.String())
	require.Equal(t, models.BalanceInCurrent, r.BalanceStatus)

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND record_id = $2 AND refund_id IS NULL", tx.ID, r.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'SALE_NET' AND amount = 310.50 AND debit_account = 'gateway:gateway_a' AND credit_account = $1",
		models.PayableAccount(b.Provider.ID)))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'SALE_COMMISSION' AND amount = 34.50 AND credit_account = 'platform:commission'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_SUCCEEDED' AND channel = 'EMAIL' AND recipient = 'contact@rihla.test' AND locale = 'en' AND status = 'PENDING'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'PAYMENT_SUCCEEDED' AND channel = 'SMS' AND recipient = '+966500000000' AND data->>'amount' = '345.00'"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM transaction_state_changes WHERE from_status = 'PENDING' AND to_status = 'PAID'"))
}

func TestSettleAgainChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 2)
	before := b.Fingerprint(t)

	require.Equal(t, models.Settled{Status: models.TransactionPaid}, b.Settle(t, tx, time.Now()))

	for _, kind := range []models.EventType{models.EventPaymentSucceeded, models.EventPaymentFailed, models.EventPaymentExpired} {
		e := bookstest.Event(tx, kind, nil)
		stored := b.Deliver(t, e)
		require.True(t, stored.Known)
		require.False(t, stored.Deliver, "no workflow has to hear of it")
		require.Equal(t, models.Settled{Status: models.TransactionPaid}, b.Settle(t, tx, time.Now()))
	}

	ended, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", time.Now())
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, ended.Status, "what was paid does not expire")
	require.Equal(t, before, b.Fingerprint(t))

	_, err = b.Store.Payments.SettlePayment(t.Context(), uuid.New(), time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Payments.EndPayment(t.Context(), uuid.New(), models.FailureExpired, "", time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// The rate is that of the opening, as the VAT rate is: what is agreed with the company meanwhile is for later payments.
func TestSettleUsesTheCommissionOfTheOpening(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE providers SET commission_rate = 0.1234 WHERE id = $1", b.Provider.ID)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Exec(t, "UPDATE providers SET commission_rate = 0.5 WHERE id = $1", b.Provider.ID)
	b.Report(t, tx, models.EventPaymentSucceeded)
	require.Equal(t, "0.1234", b.Transaction(t, tx.ID).CommissionRate.String())
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM financial_records WHERE platform_commission_amount = 14.19 AND net_amount = 100.81"))
}

// A webhook may come before the gateway's reference is saved, and the checkout may never be saved at all.
func TestSettleBeforeTheCheckoutIsSaved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(b.Book(t, b.Trip, 1), 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)

	b.Report(t, tx, models.EventPaymentSucceeded)

	got := b.Transaction(t, tx.ID)
	require.Equal(t, models.TransactionPaid, got.Status)
	require.NotNil(t, got.Reference, "a refund has to name the checkout")
	require.Equal(t, "ref-"+tx.ID.String(), *got.Reference)

	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/x",
	}))
	require.Equal(t, models.TransactionPaid, b.Transaction(t, tx.ID).Status)
}

func TestSettleSeveralEventsInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	declined, paid, again := bookstest.Event(tx, models.EventPaymentFailed, nil), bookstest.Event(tx, models.EventPaymentSucceeded, nil), bookstest.Event(tx, models.EventPaymentSucceeded, nil)

	for _, e := range []models.WebhookEvent{declined, paid, again} {
		b.Deliver(t, e)
	}

	s := b.Settle(t, tx, time.Now())
	require.Equal(t, models.TransactionPaid, s.Status, "one checkout can fail and then succeed")
	require.Equal(t, 2, s.Queued)
	require.Equal(t, "APPLIED", b.Outcome(t, declined))
	require.Equal(t, "APPLIED", b.Outcome(t, paid))
	require.Equal(t, "DUPLICATE", b.Outcome(t, again))
}

func TestSettleHundredAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 2), 1)

	var queued, failed atomic.Int64

	bookstest.Parallel(100, func(int) {
		_, err := b.Store.Inbox.StoreEvent(t.Context(), bookstest.Event(tx, models.EventPaymentSucceeded, nil), time.Now())
		if err != nil {
			t.Log(err)
			failed.Add(1)
		}

		s, err := b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
		if err != nil || s.Status != models.TransactionPaid {
			t.Log(s, err)
			failed.Add(1)
		}

		queued.Add(int64(s.Queued))
	})

	require.Zero(t, failed.Load())
	require.EqualValues(t, 2, queued.Load(), "only rows really inserted are counted")
	require.Equal(t, 100, b.Count(t, "SELECT count(*) FROM webhook_events WHERE processed_at IS NOT NULL"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events WHERE outcome = 'APPLIED'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM financial_records"))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM ledger_transfers"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE channel = 'EMAIL'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE channel = 'SMS'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM transaction_state_changes WHERE to_status = 'PAID'"))
	require.Equal(t, 2, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

func TestSettleCampaign(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())

	tests := []struct {
		name         string
		starts, ends models.Date
		want         string
	}{
		{"from today", today, today.AddDays(3), "ACTIVE"},
		{"from tomorrow", today.AddDays(1), today.AddDays(3), "SCHEDULED"},
	}
	for _, tt := range tests {
		campaign := b.Campaign(t, tt.starts, tt.ends)
		tx := b.OpenCampaign(t, campaign, 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
		require.Equal(t, models.Settled{Moved: true, Status: models.TransactionPaid, Campaign: campaign, Queued: 2}, b.Settle(t, tx, time.Now()), tt.name)
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = $2", campaign, tt.want), tt.name)
		require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM financial_records WHERE ad_campaign_id = $1 AND kind = 'ADVERTISING'
			AND gross_amount = 1200 AND platform_commission_amount = 1200 AND net_amount = 0 AND vat_amount = 200 AND details = 'Ad campaign for trip Test Trip (Spring)'`, campaign))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'ADVERTISING' AND amount = 1000 AND debit_account = 'gateway:wallet_b'", tx.ID))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'ADVERTISING_VAT' AND amount = 200", tx.ID))
		require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE transaction_id = $1 AND kind = 'CAMPAIGN_PAID' AND recipient IN ($2, $3)",
			tx.ID, b.Provider.Email, b.Provider.Phone))
	}

	late := b.Campaign(t, today, today)
	tx := b.OpenCampaign(t, late, 1)
	b.Exec(t, "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", late)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	s := b.Settle(t, tx, time.Now())
	require.True(t, s.RefundOwed && s.NeedsReview)
	require.Equal(t, uuid.Nil, s.Campaign, "nothing is advertised for a deleted campaign")
}

func TestLedgerIsAppendOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Paid(t, 1)

	for _, query := range []string{
		"UPDATE ledger_transfers SET amount = amount + 1", "UPDATE ledger_transfers SET kind = kind",
		"DELETE FROM ledger_transfers", "TRUNCATE ledger_transfers", "TRUNCATE ledger_transfers CASCADE",
		"TRUNCATE payment_transactions CASCADE",
	} {
		_, err := b.DB.ExecContext(t.Context(), query)
		require.ErrorContains(t, err, "append-only", query)
	}

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM ledger_transfers"))
}
