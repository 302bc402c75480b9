package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// bill makes a booking of one seat with the open attempt of a bill.
func (b *books) bill(t *testing.T) models.PaymentTransaction {
	t.Helper()

	n := b.request(b.Trip, 1)
	n.Method = models.MethodBillPayment
	booking, err := b.s.CreateBooking(t.Context(), n)
	require.NoError(t, err)

	tx, _, err := b.s.OpenPayment(t.Context(), models.Attempt{
		BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodBillPayment,
	}, time.Now)
	require.NoError(t, err)
	require.NoError(t, b.s.SaveCheckout(t.Context(), tx.ID, "ref-"+tx.ID.String(), "https://gateway.test/"))

	return tx
}

func (b *books) paidBill(t *testing.T) models.PaymentTransaction {
	t.Helper()

	tx := b.bill(t)
	b.report(t, tx, models.EventPaymentSucceeded)

	return b.transaction(t, tx.ID)
}

func (b *books) as(role models.Role) store.Actor {
	return store.Actor{UserID: b.Users[role].ID, Role: role, RequestID: "req-payout"}
}

func paidOut(refund uuid.UUID, reference string) models.RefundPayout {
	return models.RefundPayout{RefundID: refund, Decision: models.PayoutPaid, Reference: &reference}
}

func turnedDown(refund uuid.UUID, why string) models.RefundPayout {
	return models.RefundPayout{RefundID: refund, Decision: models.PayoutRejected, Note: why}
}

func (b *books) decide(t *testing.T, d models.RefundPayout, by models.Role) models.Refund {
	t.Helper()

	r, err := b.s.DecidePayout(t.Context(), d, b.as(by), time.Now())
	require.NoError(t, err)

	return r
}

func (b *books) refuseDecision(t *testing.T, code models.Code, d models.RefundPayout, by models.Role) {
	t.Helper()

	_, err := b.s.DecidePayout(t.Context(), d, b.as(by), time.Now())
	requireCode(t, code, err)
}

func TestRefundByHandIsPaidOut(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)
	r := b.ask(tx, "15.00")
	require.Equal(t, models.RefundByHand, b.reserve(t, r).Channel)

	waits, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.True(t, waits.NeedsPayout())

	// No gateway has a word in it.
	require.Equal(t, models.RefundPending, b.settleRefund(t, r, granted(r)).Status)
	require.Equal(t, models.RefundPending, b.settleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status)

	b.refuseDecision(t, models.CodeForbidden, paidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin)

	tomorrow, before := models.DateIn(time.Now()).AddDays(1), models.DateIn(*tx.CapturedAt).AddDays(-1)
	for _, day := range []models.Date{tomorrow, before} {
		d := paidOut(r.ID, "TRF-1")
		d.PaidOutOn = &day
		b.refuseDecision(t, models.CodeValidation, d, models.RoleAdmin)
	}

	decided := b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.False(t, decided.NeedsPayout())
	require.Equal(t, models.DateIn(time.Now()), *decided.Payout.PaidOutOn)

	// The same again, by whomever, with or without the day; and nothing else.
	same := paidOut(r.ID, "TRF-1")
	same.PaidOutOn = decided.Payout.PaidOutOn
	require.Equal(t, decided.Payout.DecidedBy, b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleSuperAdmin).Payout.DecidedBy)
	b.decide(t, same, models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, paidOut(r.ID, "TRF-2"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeForbidden, paidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin)

	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, r, models.RefundResult{}).Status)
	b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
	b.requireIdentities(t)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND kind = 'REFUND_PAID' AND amount = 15.00
		AND debit_account = 'customer:refunds' AND credit_account = 'platform:bank'`, r.ID))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED'"))
	require.Empty(t, b.incidents(t))

	entries, err := b.s.ListAudit(t.Context(), store.AuditFilter{Action: "REFUND_PAYOUT_CONFIRMED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.Equal(t, b.Users[models.RoleAdmin].ID, *entries.Items[0].ActorID)
	require.Contains(t, string(entries.Items[0].Details), `"payout_reference": "TRF-1"`)
}

// Who gets the money does not say that it was paid, whoever has asked for it.
func TestRefundByHandOfOnesOwn(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)
	r := b.ask(tx, "15.00")
	b.reserve(t, r)

	admin := b.Users[models.RoleAdmin].ID
	for _, own := range []string{
		"UPDATE payment_transactions SET user_id = $1 WHERE id = $2",
		"UPDATE bookings SET user_id = $1 WHERE id = (SELECT booking_id FROM payment_transactions WHERE id = $2)",
	} {
		b.exec(t, own, admin, tx.ID)
		b.refuseDecision(t, models.CodeForbidden, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
		b.exec(t, own, tx.UserID, tx.ID)
	}

	b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
}

func TestRefundByHandIsRejected(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)
	r := b.ask(tx, "")
	b.reserve(t, r)

	b.decide(t, turnedDown(r.ID, "withdrawn"), models.RoleFinanceAdmin) // by who asked
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "for another reason"), models.RoleAdmin)
	require.Equal(t, models.SettledRefund{Status: models.RefundFailed}, b.settleRefund(t, r, models.RefundResult{}))

	got, err := b.s.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, store.PayoutRejected, *got.FailureCode)
	require.Equal(t, "withdrawn", got.FailureReason)
	require.Empty(t, b.incidents(t), "a person has ended it")
	require.Equal(t, models.BookingConfirmed, b.bookingNow(t, *tx.BookingID).Status)
	require.Equal(t, "115.00", new(b.transaction(t, tx.ID)).Remaining().String(), "the promise is given back")

	again := b.ask(tx, "")
	b.reserve(t, again)
	b.decide(t, paidOut(again.ID, "TRF-1"), models.RoleSuperAdmin)
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, again, models.RefundResult{}).Status)
	require.Equal(t, models.BookingCancelled, b.bookingNow(t, *tx.BookingID).Status)
}

func TestPayoutOfWhatGoesThroughAGateway(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	r := b.ask(b.paid(t, 1), "10.00")
	require.Equal(t, models.RefundByGateway, b.reserve(t, r).Channel)

	b.refuseDecision(t, models.CodeInvalidState, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeNotFound, paidOut(uuid.New(), "TRF-1"), models.RoleAdmin)
}

// Confirmations and rejections at the same moment: one decision counts, and everybody else hears of it.
func TestPayoutDecisionsRace(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	const rounds = 40

	paid := 0

	for i := range rounds {
		tx := b.paidBill(t)
		r := b.ask(tx, "40.00")
		b.reserve(t, r)

		var (
			confirmed, rejected, settled error
			confirm                      = func() {
				_, confirmed = b.s.DecidePayout(t.Context(), paidOut(r.ID, "TRF-"+strconv.Itoa(i)), b.as(models.RoleAdmin), time.Now())
			}
			reject = func() {
				_, rejected = b.s.DecidePayout(t.Context(), turnedDown(r.ID, "no"), b.as(models.RoleSuperAdmin), time.Now())
			}
		)

		race(func() { race(confirm, reject) }, func() { _, settled = b.s.SettleRefund(t.Context(), r.ID, models.RefundResult{}, time.Now()) })
		require.NoError(t, settled)

		want := models.RefundSucceeded

		switch {
		case confirmed == nil && rejected != nil:
			requireCode(t, models.CodeInvalidState, rejected)

			paid++
		case rejected == nil && confirmed != nil:
			requireCode(t, models.CodeInvalidState, confirmed)

			want = models.RefundFailed
		default:
			require.Fail(t, "exactly one wins", "confirm: %v, reject: %v", confirmed, rejected)
		}

		require.Equal(t, want, b.settleRefund(t, r, models.RefundResult{}).Status)
	}

	t.Logf("%d of %d were confirmed", paid, rounds)
	require.Equal(t, rounds, b.count(t, "SELECT count(*) FROM refund_payouts"))
	require.Equal(t, paid, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE credit_account = 'platform:bank'"))
}

// What an older version would do, the database refuses.
func TestDatabaseHoldsRefundsToTheirWay(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)
	r := b.ask(tx, "40.00")
	b.reserve(t, r)

	for name, statement := range map[string]string{
		"a bill through its gateway": "INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, amount) SELECT gen_random_uuid(), payment_transaction_id, booking_id, 'PARTIAL', 1 FROM refunds WHERE id = $1",
		"another way":                "UPDATE refunds SET channel = 'GATEWAY' WHERE id = $1",
		"nobody has decided":         "UPDATE refunds SET status = 'FAILED', failure_code = 'X', completed_at = now() WHERE id = $1",
		"a gateway's id":             "UPDATE refunds SET gateway_refund_id = 're' WHERE id = $1",
		"its own confirmation":       "INSERT INTO refund_payouts (refund_id, decision, payout_reference, paid_out_on, decided_by, decided_at) SELECT id, 'PAID_OUT', 'x', '2026-11-01', requested_by, now() FROM refunds WHERE id = $1",
	} {
		_, err := b.db.ExecContext(t.Context(), statement, r.ID)
		require.Error(t, err, name)
	}
}

func TestLateMoneyOfABillIsPaidOutByHand(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.bill(t)
	_, _, err := b.s.CancelBooking(t.Context(), *tx.BookingID, store.Actor{UserID: tx.UserID, Role: models.RoleEndUser}, time.Now())
	require.NoError(t, err)
	b.report(t, tx, models.EventPaymentSucceeded)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	require.Equal(t, models.RefundByHand, b.reserve(t, r).Channel)
	require.Equal(t, r.ID, *b.incidents(t)[0].RefundID, "the incident names its refund")
	require.Contains(t, b.incidents(t)[0].Message, "by hand", "nothing goes back unless a person reads this")

	// Anybody with the role may decide: the service itself has asked. The money stays owed.
	b.decide(t, turnedDown(r.ID, "no account number"), models.RoleFinanceAdmin)
	require.Equal(t, models.SettledRefund{Status: models.RefundFailed, NeedsReview: true}, b.settleRefund(t, r, models.RefundResult{}))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM incidents WHERE kind = 'REFUND_FAILED' AND refund_id = $1", r.ID))

	again := b.ask(tx, "")
	require.Equal(t, models.RefundByHand, b.reserve(t, again).Channel)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT' AND refund_id = $1", again.ID))
	b.decide(t, paidOut(again.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, again, models.RefundResult{}).Status)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND credit_account = 'platform:bank' AND amount = 115", again.ID))
}

// A gateway that speaks of a refund which it was never asked for may have given the money back, too.
func TestGatewayEventAboutARefundByHand(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)
	r := b.ask(tx, "")
	b.reserve(t, r)

	said := word(tx, models.EventRefundSucceeded, nil)
	said.MerchantReference = r.ID.String()
	stored := b.deliver(t, said)
	require.True(t, stored.Known)
	require.False(t, stored.Deliver || stored.Duplicate)
	require.Equal(t, models.IncidentRefundFailed, b.incidents(t)[0].Kind)

	b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.settleRefund(t, r, models.RefundResult{}).Status)

	said.ID, said.WebhookID = models.NewID(), "another"
	require.False(t, b.deliver(t, said).Duplicate, "that it says the same as finance staff makes it no less odd")
}

// Refunds that wait for people for days are none that were left behind, however many there are; decided ones are.
func TestSweepOfRefundsByHand(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)

	waiting := make([]models.RefundRequest, 6)
	for i := range waiting {
		waiting[i] = b.ask(tx, "1.00")
		b.reserve(t, waiting[i])
	}

	left := b.ask(b.paid(t, 1), "1.00")
	b.reserve(t, left)

	later := time.Now().Add(time.Hour)
	stale, _, err := b.s.StaleRefunds(t.Context(), time.Minute, time.Minute, store.Turn{}, 1, later)
	require.NoError(t, err)
	require.Len(t, stale, 1)
	require.Equal(t, left.ID, stale[0].ID, "older ones that wait for people do not keep it back")

	none, err := b.s.DecidedPayouts(t.Context(), time.Minute, 10, later)
	require.NoError(t, err)
	require.Empty(t, none)

	for _, r := range waiting[:3] {
		b.decide(t, paidOut(r.ID, "TRF-1"), models.RoleAdmin)
	}

	fresh, err := b.s.DecidedPayouts(t.Context(), time.Minute, 10, time.Now())
	require.NoError(t, err)
	require.Empty(t, fresh, "the API is still at it")

	// One at a time, and none of them is settled: each gets its turn all the same.
	seen := map[uuid.UUID]bool{}

	require.Eventually(t, func() bool {
		found, err := b.s.DecidedPayouts(t.Context(), time.Minute, 1, later)
		require.NoError(t, err)

		for _, r := range found {
			seen[r.ID] = true
		}

		return len(seen) == 3
	}, 20*time.Second, time.Millisecond)
}

func TestListOfRefundsThatNeedAPayout(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paidBill(t)

	asked := make([]models.RefundRequest, 3)
	for i := range asked {
		asked[i] = b.ask(tx, "1.00")
		b.reserve(t, asked[i])
	}

	byGateway := b.ask(b.paid(t, 1), "1.00")
	b.reserve(t, byGateway)
	b.decide(t, paidOut(asked[0].ID, "TRF-1"), models.RoleAdmin)
	b.decide(t, turnedDown(asked[1].ID, "no"), models.RoleAdmin)
	b.settleRefund(t, asked[1], models.RefundResult{})

	list := func(f store.RefundFilter) (ids []uuid.UUID) {
		f.Page = store.Page{Number: 1, PerPage: 10, Sort: []store.Sort{{Field: "created_at"}}}
		l, err := b.s.ListRefunds(t.Context(), f)
		require.NoError(t, err)

		for _, r := range l.Items {
			require.Equal(t, r.ID == asked[0].ID || r.ID == asked[1].ID, r.Payout != nil)

			ids = append(ids, r.ID)
		}

		return ids
	}

	require.Equal(t, []uuid.UUID{asked[2].ID}, list(store.RefundFilter{NeedsPayout: new(true)}))
	require.Equal(t, []uuid.UUID{asked[0].ID, asked[1].ID, byGateway.ID}, list(store.RefundFilter{NeedsPayout: new(false)}))
	require.Equal(t, []uuid.UUID{asked[0].ID, asked[1].ID, asked[2].ID}, list(store.RefundFilter{Channel: models.RefundByHand}))
	require.Len(t, list(store.RefundFilter{}), 4)
}
