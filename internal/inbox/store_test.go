package inbox_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestStoreEventTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	e := bookstest.Event(tx, models.EventPaymentSucceeded, nil)

	first := b.Deliver(t, e)
	require.True(t, first.Deliver)
	require.Equal(t, models.Delivery{
		EventID: e.ID, TransactionID: tx.ID, BookingID: *tx.BookingID, Channel: models.ChannelGatewayA,
	}, first.Delivery)

	again := e
	again.ID = models.NewID()
	second := b.Deliver(t, again)
	require.True(t, second.Known && second.Duplicate)
	require.False(t, second.Deliver)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events"))

	// A webhook id belongs to its channel; on another one it is another event, and about nothing known there.
	foreign := e
	foreign.ID, foreign.Channel = models.NewID(), models.ChannelWalletA
	third := b.Deliver(t, foreign)
	require.False(t, third.Known || third.Duplicate || third.Deliver)
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM webhook_events"))
}

func TestStoreEventInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	e := bookstest.Event(tx, models.EventPaymentSucceeded, nil)

	var delivered, duplicates, failed atomic.Int32

	bookstest.Parallel(30, func(int) {
		mine := e
		mine.ID = models.NewID()

		stored, err := b.Store.Inbox.StoreEvent(t.Context(), mine, time.Now())

		switch {
		case err != nil:
			failed.Add(1)
		case stored.Deliver:
			delivered.Add(1)
		case stored.Duplicate:
			duplicates.Add(1)
		}
	})

	require.Zero(t, failed.Load())
	require.EqualValues(t, 1, delivered.Load())
	require.EqualValues(t, 29, duplicates.Load())
}

func TestStoreEventAboutNothingKnown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

	unknown := map[string]func(*models.WebhookEvent){
		"a reference of nobody":         func(e *models.WebhookEvent) { e.MerchantReference = uuid.NewString() },
		"a reference that is no id":     func(e *models.WebhookEvent) { e.MerchantReference = "order-1" },
		"no reference":                  func(e *models.WebhookEvent) { e.MerchantReference = "" },
		"another checkout":              func(e *models.WebhookEvent) { e.CheckoutID = "ref-other" },
		"another company's channel":     func(e *models.WebhookEvent) { e.Channel = models.ChannelWalletB },
		"another method of the company": func(e *models.WebhookEvent) { e.Channel = models.ChannelBillPayment },
	}
	for name, edit := range unknown {
		e := bookstest.Event(tx, models.EventPaymentSucceeded, edit)
		stored := b.Deliver(t, e)
		require.False(t, stored.Known || stored.Deliver, name)
		require.Equal(t, "INCIDENT", b.Outcome(t, e), name)
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events WHERE webhook_id = $1 AND transaction_id IS NULL AND processed_at IS NOT NULL", e.WebhookID), name)
	}

	incidents := b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_REFERENCE'")
	require.Equal(t, 4, incidents, "one per channel and checkout")
	require.Equal(t, models.TransactionPending, b.Transaction(t, tx.ID).Status)

	again := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.CheckoutID = "ref-other" })
	b.Deliver(t, again)
	b.Deliver(t, again)
	require.Equal(t, incidents, b.Count(t, "SELECT count(*) FROM incidents"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE jsonb_array_length(details->'events') = 2 AND details->'events'->1->>'webhook_id' = $1", again.WebhookID),
		"a further event is added once")
}

// The transaction that a refund has added is none that a gateway's payment event can be about.
func TestStoreEventAboutARefundTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.GiveBack(t, tx, "10.00")
	e := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
		e.MerchantReference, e.CheckoutID = models.RefundTransactionID(r.ID).String(), "re-"+r.ID.String()
	})
	require.False(t, b.Deliver(t, e).Known)
}

func TestStoreEventOfEveryMethodOnItsChannel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, m := range []models.PaymentMethod{
		models.MethodCreditCard, models.MethodDebitNetwork, models.MethodWalletA, models.MethodWalletB, models.MethodBillPayment,
	} {
		booking := b.Book(t, b.Trip, 1)
		tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1, m), time.Now)
		require.NoError(t, err)

		for _, c := range models.AllChannels() {
			e := bookstest.Event(tx, models.EventPaymentFailed, func(e *models.WebhookEvent) { e.Channel = c })
			require.Equal(t, c == m.Channel(), b.Deliver(t, e).Known, "%s on %s", m, c)
		}
	}
}

// TestEventsOnTheChannelOfTheAccount: where a gateway reports all methods on one channel no other channel resolves them, and what was
// opened at the backup account is reported on that one's.
func TestEventsOnTheChannelOfTheAccount(t *testing.T) {
	t.Parallel()

	policies := models.DefaultPolicies()
	policies.Routes.OneChannel = map[models.Gateway]bool{models.GatewayA: true, models.GatewayWalletB: true}
	b := bookstest.NewBooks(t, policies)

	for _, m := range models.PaymentMethods() {
		for _, backup := range []bool{false, true} {
			tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(b.Book(t, b.Trip, 1), 1, m), time.Now)
			require.NoError(t, err)

			want := models.Channel(m.Gateway())

			if backup {
				moved, err := b.Store.Payments.MoveToBackup(t.Context(), &tx)
				require.NoError(t, err)
				require.True(t, moved)

				want = m.Gateway().BackupChannel()
			}

			for _, c := range models.AllChannels() {
				e := bookstest.Event(tx, models.EventPaymentFailed, func(e *models.WebhookEvent) { e.Channel = c })
				require.Equal(t, c == want, b.Deliver(t, e).Known, "%s on %s, want %s", m, c, want)
			}
		}
	}
}

// TestMoveToBackupOnlyBeforeAnythingWasSent: the database holds it too.
func TestMoveToBackupOnlyBeforeAnythingWasSent(t *testing.T) {
	t.Parallel()
	b := setup(t)

	opened := b.Open(t, b.Book(t, b.Trip, 1), 1)
	moved, err := b.Store.Payments.MoveToBackup(t.Context(), &opened)
	require.NoError(t, err)
	require.False(t, moved, "it has a checkout")

	sent, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(b.Book(t, b.Trip, 1), 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)
	_, err = b.Store.Payments.NoteOpeningAnswer(t.Context(), sent.ID, models.SentUnknown, time.Minute)
	require.NoError(t, err)

	for _, tx := range []models.PaymentTransaction{opened, sent} {
		_, err = b.DB.ExecContext(t.Context(), "UPDATE payment_transactions SET channel = 'gateway_a_backup' WHERE id = $1", tx.ID)
		require.ErrorContains(t, err, "stays at the account")
	}
}

// TestMethodsThatTheCompanyDoesNotTake: a booking, and an attempt of one that was made before, are refused before anything is held
// or opened.
func TestMethodsThatTheCompanyDoesNotTake(t *testing.T) {
	t.Parallel()

	policies := models.DefaultPolicies()
	policies.Methods = models.Methods{
		models.MethodCreditCard: {}, models.MethodBillPayment: {MinAmount: models.MustMoney("5000.00")}, models.MethodWalletB: {MaxAmount: models.MustMoney("1.00")},
	}
	b := bookstest.NewBooks(t, policies)
	booked := b.Book(t, b.Trip, 1)

	for method, code := range map[models.PaymentMethod]models.Code{
		models.MethodWalletA: models.CodeMethodNotAvailable, models.MethodBillPayment: models.CodeValidation, models.MethodWalletB: models.CodeValidation,
	} {
		_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booked, 1, method), time.Now)
		require.Equal(t, code, models.CodeOf(err), method)
		require.Equal(t, code, models.CodeOf(b.Store.Payments.CheckMethod(method, booked.Amount)))
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM payment_transactions"))
	b.Open(t, booked, 1)
}

// A type that this service does not know is stored and has no effect, whatever it is about; a person is asked what it means.
func TestStoreEventOfUnknownType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

	for name, edit := range map[string]func(*models.WebhookEvent){
		"about an attempt": nil,
		"about something else": func(e *models.WebhookEvent) {
			e.MerchantReference, e.CheckoutID, e.Amount, e.Currency = "payout-7", "", nil, ""
		},
	} {
		e := bookstest.Event(tx, "checkout.viewed", edit)
		stored := b.Deliver(t, e)
		require.True(t, stored.Known, name)
		require.False(t, stored.Deliver || stored.Duplicate, name)
		require.Equal(t, "IGNORED", b.Outcome(t, e), name)
		require.True(t, b.Deliver(t, e).Duplicate, name)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents"), "one per channel and type")
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_EVENT' AND status = 'OPEN'
		AND details->>'type' = 'checkout.viewed' AND payment_transaction_id IS NULL`))
	require.Equal(t, models.TransactionPending, b.Transaction(t, tx.ID).Status)

	b.Exec(t, "UPDATE incidents SET status = 'RESOLVED', resolved_at = now()")
	b.Deliver(t, bookstest.Event(tx, "checkout.viewed", nil))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents WHERE status = 'OPEN'"), "somebody has decided about the type")
	b.Deliver(t, bookstest.Event(tx, "checkout.shared", nil))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE status = 'OPEN'"))
}

func TestUnprocessedEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := b.Open(t, b.Book(t, b.Trip, 1), 1)
	declined := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Report(t, declined, models.EventPaymentFailed)
	paid := b.Paid(t, 1)
	r := b.Ask(paid, "10.00")
	b.Reserve(t, r)

	waiting := bookstest.Event(open, models.EventPaymentSucceeded, nil)
	late := bookstest.Event(declined, models.EventPaymentSucceeded, nil)
	refund := bookstest.Event(paid, models.EventRefundSucceeded, func(e *models.WebhookEvent) { e.MerchantReference = r.ID.String() })

	for _, e := range []models.WebhookEvent{waiting, late, refund, bookstest.Event(paid, models.EventPaymentFailed, nil), bookstest.Event(open, "checkout.viewed", nil)} {
		b.Deliver(t, e)
	}

	soon := time.Now().Add(time.Minute)
	none, _, err := b.Store.Inbox.UnprocessedEvents(t.Context(), 3*time.Second, db.SweepCursor{}, 10, time.Now())
	require.NoError(t, err)
	require.Empty(t, none, "the relay is given its time")

	found, _, err := b.Store.Inbox.UnprocessedEvents(t.Context(), 3*time.Second, db.SweepCursor{}, 10, soon)
	require.NoError(t, err)
	require.Equal(t, []models.Delivery{
		{EventID: waiting.ID, TransactionID: open.ID, BookingID: *open.BookingID, Channel: models.ChannelGatewayA},
		{EventID: late.ID, TransactionID: declined.ID, BookingID: *declined.BookingID, Channel: models.ChannelGatewayA, Ended: true},
		{EventID: refund.ID, TransactionID: paid.ID, RefundID: r.ID, BookingID: *paid.BookingID, Channel: models.ChannelGatewayA},
	}, found, "oldest first; what changed nothing is not among them")

	found, _, err = b.Store.Inbox.UnprocessedEvents(t.Context(), 3*time.Second, db.SweepCursor{}, 2, soon)
	require.NoError(t, err)
	require.Len(t, found, 2)

	b.Settle(t, open, time.Now())
	b.Settle(t, declined, time.Now())
	b.SettleRefund(t, r, bookstest.Granted(r))
	found, _, err = b.Store.Inbox.UnprocessedEvents(t.Context(), 3*time.Second, db.SweepCursor{}, 10, soon)
	require.NoError(t, err)
	require.Empty(t, found)
}

// What the gateway says when asked is settled like what it says by itself, and asking twice is no second event.
func TestPolledEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

	for range 2 {
		e := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.WebhookID = models.PolledEventID(&tx, "paid") })
		_, err := b.Store.Inbox.StoreEvent(t.Context(), e, time.Now())
		require.NoError(t, err)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events"))
	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)

	// The webhook that was thought lost comes after all.
	require.True(t, b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil)).Duplicate)
}
