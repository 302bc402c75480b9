package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// disputeEvent is a gateway's message about a dispute of tx.
func disputeEvent(tx models.PaymentTransaction, kind models.DisputeKind, state models.DisputeState) models.WebhookEvent {
	event := models.EventPaymentDisputed
	if state != models.DisputeOpen {
		event = models.EventDisputeClosed
	}

	return bookstest.Event(tx, event, func(e *models.WebhookEvent) {
		due := time.Now().Add(72 * time.Hour)
		e.FailureReason = "fraudulent"
		e.Dispute = &models.DisputeNotice{ID: "dp_" + tx.ID.String(), Kind: kind, State: state, DueAt: &due}
	})
}

// actions are everything that would give money of a disputed payment out a second time.
func (b *books) actions(t *testing.T, tx models.PaymentTransaction) map[string]error {
	t.Helper()

	line := b.Records(t, tx)[0]
	ordered := b.Ask(tx, "10.00")

	return map[string]error{
		"refund":            bookstest.ErrorOf(b.Store.Refunds.OrderRefund(t.Context(), ordered, time.Now())),
		"preview":           bookstest.ErrorOf(b.Store.Refunds.PreviewRefund(t.Context(), b.Ask(tx, ""), time.Now())),
		"refund, policy":    bookstest.ErrorOf(b.Store.Refunds.PreviewRefund(t.Context(), b.ByPolicy(tx), time.Now())),
		"payout":            bookstest.ErrorOf(b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})),
		"payout of entries": bookstest.ErrorOf(b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: []uuid.UUID{line.ID}})),
	}
}

// TestNothingOfADisputedPaymentIsGivenOut: while the bank has the money, nothing is refunded, previewed or paid out, and each refusal names
// the incident. What the dispute comes to is in the incident and in the timeline.
func TestNothingOfADisputedPaymentIsGivenOut(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		kind    models.DisputeKind
		then    models.DisputeState
		during  bool // whether it is refused while the dispute is open
		after   bool // and when it is over
		message string
	}{
		"chargeback, won":  {models.DisputeChargeback, models.DisputeWon, true, false, "is won"},
		"chargeback, lost": {models.DisputeChargeback, models.DisputeLost, true, true, "is lost"},
		"inquiry, closed":  {models.DisputeInquiry, models.DisputeClosed, false, false, "is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.Paid(t, 1)
			incident := models.IncidentID(models.IncidentPaymentDisputed, tx.ID.String())

			require.True(t, b.Deliver(t, disputeEvent(tx, tt.kind, models.DisputeOpen)).Known)
			b.requireRefused(t, tx, tt.during, incident.String())

			require.True(t, b.Deliver(t, disputeEvent(tx, tt.kind, tt.then)).Known)
			b.Deliver(t, disputeEvent(tx, tt.kind, models.DisputeOpen)) // an older message comes late

			open := b.Incidents(t)
			require.Len(t, open, 1)
			require.Equal(t, incident, open[0].ID)
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM disputes WHERE state = $1 AND closed_at IS NOT NULL", tt.then))

			if tt.after {
				b.requireRefused(t, tx, true, incident.String())
				_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, incident, "The company bears it.")
				require.NoError(t, err)
			}

			story, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
			require.NoError(t, err)
			requireEvent(t, story, payments.EventDisputeOpened, string(tt.kind), string(models.DisputeOpen))
			requireEvent(t, story, payments.EventDisputeClosed, string(tt.kind), string(tt.then))

			b.requireRefused(t, tx, false, "")
		})
	}
}

func requireEvent(t *testing.T, all []payments.TimelineEntry, event payments.TimelineEvent, kind, state string) {
	t.Helper()

	n := 0

	for _, e := range all {
		if e.Event == event {
			n++

			require.Equal(t, kind, e.Facts.DisputeKind)
			require.Equal(t, state, e.Facts.ToStatus)
			require.NotNil(t, e.Facts.IncidentID)
		}
	}

	require.Equal(t, 1, n, event)
}

func (b *books) requireRefused(t *testing.T, tx models.PaymentTransaction, refused bool, incident string) {
	t.Helper()

	for what, err := range b.actions(t, tx) {
		if !refused {
			require.NoError(t, err, what)

			continue
		}

		bookstest.RequireCode(t, models.CodePaymentDisputed, err)

		var e *models.Error

		require.ErrorAs(t, err, &e, what)
		require.Equal(t, []string{incident}, e.EnglishDetails()["incident_id"], what)
	}
}

// TestRefundOrderedBeforeTheDisputeIsNotSent: it was in order when it was ordered; while the bank has the money it waits, and is sent when the
// dispute is won. So does a manual payout.
func TestRefundOrderedBeforeTheDisputeIsNotSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "10.00")
	b.Reserve(t, r)
	b.Deliver(t, disputeEvent(tx, models.DisputeChargeback, models.DisputeOpen))

	send := func() (int, error) {
		n, _, err := b.Store.Refunds.BeginRefundSend(t.Context(), r.ID, refunds.SendRules{Settle: time.Minute})

		return n, err
	}

	n, err := send()
	require.Zero(t, n)
	bookstest.RequireCode(t, models.CodePaymentDisputed, err)

	b.Deliver(t, disputeEvent(tx, models.DisputeChargeback, models.DisputeWon))

	n, err = send()
	require.NoError(t, err)
	require.Equal(t, 1, n)

	bill := b.PaidBill(t)
	owed := b.Ask(bill, "10.00")
	b.Reserve(t, owed)
	b.Deliver(t, disputeEvent(bill, models.DisputeChargeback, models.DisputeOpen))
	b.refuseDecision(t, models.CodePaymentDisputed, bookstest.PaidOut(owed.ID, "TRF-1"), models.RoleAdmin)
	b.Decide(t, turnedDown(owed.ID, "disputed"), models.RoleAdmin)
}

// TestRefundRacesTheDispute: whichever comes first under the payment's lock, the refund is either ordered before the dispute and waits, or
// refused for it; it is never sent while the bank has the money.
func TestRefundRacesTheDispute(t *testing.T) {
	t.Parallel()
	b := setup(t)

	bothOrders(t, func(ahead time.Duration) bool {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)

		var ordered, told error

		r := b.Ask(tx, "10.00")

		bookstest.RaceAhead(
			ahead,
			func() { _, ordered = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now()) },
			func() {
				_, told = b.Store.Inbox.StoreEvent(t.Context(), disputeEvent(tx, models.DisputeChargeback, models.DisputeOpen), time.Now())
			},
		)
		require.NoError(t, told)

		if ordered != nil {
			bookstest.RequireCode(t, models.CodePaymentDisputed, ordered)

			return false
		}

		n, _, err := b.Store.Refunds.BeginRefundSend(t.Context(), r.ID, refunds.SendRules{Settle: time.Minute})
		require.Zero(t, n)
		bookstest.RequireCode(t, models.CodePaymentDisputed, err)

		return true
	})
}

// TestPayoutRacesTheDispute: an entry is either paid out before the dispute is noted, or not at all.
func TestPayoutRacesTheDispute(t *testing.T) {
	t.Parallel()
	b := setup(t)

	bothOrders(t, func(ahead time.Duration) bool {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)
		line := b.Records(t, tx)[0]

		var marked, told error

		bookstest.RaceAhead(
			ahead,
			func() {
				_, marked = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})
			},
			func() {
				_, told = b.Store.Inbox.StoreEvent(t.Context(), disputeEvent(tx, models.DisputeChargeback, models.DisputeOpen), time.Now())
			},
		)
		require.NoError(t, told)

		if marked != nil {
			bookstest.RequireCode(t, models.CodePaymentDisputed, marked)
		}

		require.Equal(t, marked == nil, b.Records(t, tx)[0].BalanceStatus == models.BalanceTransferred)

		return marked == nil
	})
}

// TestDisputeThatNamesThePaymentAlone: the company's id of the payment, kept from its success, is all that a chargeback says.
func TestDisputeThatNamesThePaymentAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.GatewayPaymentID = "8ac7a4a1" }))
	b.Settle(t, tx, time.Now())

	e := disputeEvent(tx, models.DisputeChargeback, models.DisputeOpen)
	e.MerchantReference, e.CheckoutID = "", "8ac7a4a1"
	require.True(t, b.Deliver(t, e).Known)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM disputes WHERE payment_transaction_id = $1", tx.ID))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_REFERENCE'"))

	// Messages that name nothing known have an incident for each thing that they name.
	for _, id := range []string{"other-1", "other-2"} {
		unknown := disputeEvent(tx, models.DisputeChargeback, models.DisputeOpen)
		unknown.MerchantReference, unknown.CheckoutID = "", id
		require.False(t, b.Deliver(t, unknown).Known)
	}

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_REFERENCE'"))
}
