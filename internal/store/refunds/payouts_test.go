package refunds_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

func turnedDown(refund uuid.UUID, why string) models.RefundPayout {
	return models.RefundPayout{RefundID: refund, Decision: models.PayoutRejected, Note: why}
}

func (b *books) refuseDecision(t *testing.T, code models.Code, d models.RefundPayout, by models.Role) {
	t.Helper()

	_, err := b.Store.Refunds.DecidePayout(t.Context(), b.As(by), d, time.Now())
	bookstest.RequireCode(t, code, err)
}

func TestRefundByHandIsPaidOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)
	r := b.Ask(tx, "15.00")
	require.Equal(t, models.RefundByHand, b.Reserve(t, r).Channel)

	waits, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.True(t, waits.NeedsPayout())

	// No gateway has a word in it.
	require.Equal(t, models.RefundPending, b.SettleRefund(t, r, bookstest.Granted(r)).Status)
	require.Equal(t, models.RefundPending, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status)

	b.refuseDecision(t, models.CodeForbidden, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin)

	tomorrow, before := models.DateIn(time.Now()).AddDays(1), models.DateIn(*tx.CapturedAt).AddDays(-1)
	for _, day := range []models.Date{tomorrow, before} {
		d := bookstest.PaidOut(r.ID, "TRF-1")
		d.PaidOutOn = &day
		b.refuseDecision(t, models.CodeValidation, d, models.RoleAdmin)
	}

	decided := b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.False(t, decided.NeedsPayout())
	require.Equal(t, models.DateIn(time.Now()), *decided.Payout.PaidOutOn)

	// The same again, by whomever, with or without the day; and nothing else.
	same := bookstest.PaidOut(r.ID, "TRF-1")
	same.PaidOutOn = decided.Payout.PaidOutOn
	require.Equal(t, decided.Payout.DecidedBy, b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleSuperAdmin).Payout.DecidedBy)
	b.Decide(t, same, models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, bookstest.PaidOut(r.ID, "TRF-2"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeForbidden, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin)

	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{}).Status)
	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	b.RequireBooks(t)
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND kind = 'REFUND_PAID' AND amount = 15.00
		AND debit_account = 'customer:refunds' AND credit_account = 'platform:bank'`, r.ID))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED'"))
	require.Empty(t, b.Incidents(t))

	entries, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Action: "REFUND_PAYOUT_CONFIRMED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.Equal(t, b.Users[models.RoleAdmin].ID, *entries.Items[0].ActorID)
	require.Contains(t, string(entries.Items[0].Details), `"payout_reference": "TRF-1"`)
}

// The payee may not confirm the payout, with any requester.
func TestRefundByHandOfOnesOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)
	r := b.Ask(tx, "15.00")
	b.Reserve(t, r)

	admin := b.Users[models.RoleAdmin].ID
	for _, own := range []string{
		"UPDATE payment_transactions SET user_id = $1 WHERE id = $2",
		"UPDATE bookings SET user_id = $1 WHERE id = (SELECT booking_id FROM payment_transactions WHERE id = $2)",
	} {
		b.Exec(t, own, admin, tx.ID)
		b.refuseDecision(t, models.CodeForbidden, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
		b.Exec(t, own, tx.UserID, tx.ID)
	}

	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
}

func TestRefundByHandIsRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)
	r := b.Ask(tx, "")
	b.Reserve(t, r)

	b.Decide(t, turnedDown(r.ID, "withdrawn"), models.RoleFinanceAdmin) // by who asked
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "for another reason"), models.RoleAdmin)
	require.Equal(t, models.SettledRefund{Status: models.RefundFailed}, b.SettleRefund(t, r, models.RefundResult{}))

	got, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, refunds.PayoutRejected, *got.FailureCode)
	require.Equal(t, "withdrawn", got.FailureReason)
	require.Empty(t, b.Incidents(t), "a person has ended it")
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, "115.00", new(b.Transaction(t, tx.ID)).Remaining().String(), "the reservation is released")

	again := b.Ask(tx, "")
	b.Reserve(t, again)
	b.Decide(t, bookstest.PaidOut(again.ID, "TRF-1"), models.RoleSuperAdmin)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, again, models.RefundResult{}).Status)
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
}

// A campaign has no booking whose owner could have been paid otherwise: its late payment goes back.
func TestPayoutOfALateCampaignPaymentIsNotRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today, today)
	tx := b.OpenCampaignBy(t, campaign, 1, models.MethodBillPayment)
	b.Exec(t, "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", campaign)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	require.True(t, b.Settle(t, tx, time.Now()).RefundOwed)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	require.Equal(t, models.RefundByHand, b.Reserve(t, r).Channel)

	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "keep it"), models.RoleAdmin)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM refund_payouts WHERE refund_id = $1", r.ID))

	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{}).Status)
	require.False(t, b.Settle(t, tx, time.Now()).RefundOwed)
}

func TestPayoutOfWhatGoesThroughAGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.Ask(b.Paid(t, 1), "10.00")
	require.Equal(t, models.RefundByGateway, b.Reserve(t, r).Channel)

	b.refuseDecision(t, models.CodeInvalidState, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeNotFound, bookstest.PaidOut(uuid.New(), "TRF-1"), models.RoleAdmin)
}

// Confirmations and rejections at the same moment: one decision counts, and the other callers get it.
func TestPayoutDecisionsRace(t *testing.T) {
	t.Parallel()
	b := setup(t)

	const rounds = 40

	paid := 0

	for i := range rounds {
		tx := b.PaidBill(t)
		r := b.Ask(tx, "40.00")
		b.Reserve(t, r)

		var (
			confirmed, rejected, settled error
			confirm                      = func() {
				_, confirmed = b.Store.Refunds.DecidePayout(t.Context(), b.As(models.RoleAdmin), bookstest.PaidOut(r.ID, "TRF-"+strconv.Itoa(i)), time.Now())
			}
			reject = func() {
				_, rejected = b.Store.Refunds.DecidePayout(t.Context(), b.As(models.RoleSuperAdmin), turnedDown(r.ID, "no"), time.Now())
			}
		)

		bookstest.Race(func() { bookstest.Race(confirm, reject) }, func() {
			_, settled = b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{}, time.Now())
		})
		require.NoError(t, settled)

		want := models.RefundSucceeded

		switch {
		case confirmed == nil && rejected != nil:
			bookstest.RequireCode(t, models.CodeInvalidState, rejected)

			paid++
		case rejected == nil && confirmed != nil:
			bookstest.RequireCode(t, models.CodeInvalidState, confirmed)

			want = models.RefundFailed
		default:
			require.Fail(t, "exactly one wins", "confirm: %v, reject: %v", confirmed, rejected)
		}

		require.Equal(t, want, b.SettleRefund(t, r, models.RefundResult{}).Status)
	}

	t.Logf("%d of %d were confirmed", paid, rounds)
	require.Equal(t, rounds, b.Count(t, "SELECT count(*) FROM refund_payouts"))
	require.Equal(t, paid, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE credit_account = 'platform:bank'"))
}

// What an older version would do, the database refuses.
func TestDatabaseHoldsRefundsToTheirWay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)
	r := b.Ask(tx, "40.00")
	b.Reserve(t, r)

	for name, statement := range map[string]string{
		"a bill through its gateway": "INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, amount) SELECT gen_random_uuid(), payment_transaction_id, booking_id, 'PARTIAL', 1 FROM refunds WHERE id = $1",
		"another way":                "UPDATE refunds SET channel = 'GATEWAY' WHERE id = $1",
		"nobody has decided":         "UPDATE refunds SET status = 'FAILED', failure_code = 'X', completed_at = now() WHERE id = $1",
		"a gateway's id":             "UPDATE refunds SET gateway_refund_id = 're' WHERE id = $1",
		"its own confirmation":       "INSERT INTO refund_payouts (refund_id, decision, payout_reference, paid_out_on, decided_by, decided_at) SELECT id, 'PAID_OUT', 'x', '2026-11-01', requested_by, now() FROM refunds WHERE id = $1",
	} {
		_, err := b.DB.ExecContext(t.Context(), statement, r.ID)
		require.Error(t, err, name)
	}
}

func TestLateMoneyOfABillIsPaidOutByHand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Bill(t)
	_, _, err := b.Store.Payments.CancelBooking(t.Context(), db.Actor{UserID: tx.UserID, Role: models.RoleEndUser}, *tx.BookingID, time.Now())
	require.NoError(t, err)
	b.Report(t, tx, models.EventPaymentSucceeded)

	r := models.RefundRequest{ID: models.RefundID(tx.ID, "late"), TransactionID: tx.ID, Type: models.RefundFull}
	require.Equal(t, models.RefundByHand, b.Reserve(t, r).Channel)
	require.Equal(t, r.ID, *b.Incidents(t)[0].RefundID, "the incident names its refund")
	require.Contains(t, b.Incidents(t)[0].Message, "manually", "nothing goes back unless a person reads this")

	// Anybody with the role may decide: the service itself has asked. The money stays owed.
	b.Decide(t, turnedDown(r.ID, "no account number"), models.RoleFinanceAdmin)
	require.Equal(t, models.SettledRefund{Status: models.RefundFailed, NeedsReview: true}, b.SettleRefund(t, r, models.RefundResult{}))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'REFUND_FAILED' AND refund_id = $1", r.ID))

	again := b.Ask(tx, "")
	require.Equal(t, models.RefundByHand, b.Reserve(t, again).Channel)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT' AND refund_id = $1", again.ID))
	b.Decide(t, bookstest.PaidOut(again.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, again, models.RefundResult{}).Status)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND credit_account = 'platform:bank' AND amount = 115", again.ID))
}

// A refund event for a manual refund may mean that the gateway refunded, too.
func TestGatewayEventAboutARefundByHand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)
	r := b.Ask(tx, "")
	b.Reserve(t, r)

	said := bookstest.Event(tx, models.EventRefundSucceeded, nil)
	said.MerchantReference = r.ID.String()
	stored := b.Deliver(t, said)
	require.True(t, stored.Known)
	require.False(t, stored.Deliver || stored.Duplicate)
	require.Equal(t, models.IncidentRefundFailed, b.Incidents(t)[0].Kind)

	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{}).Status)

	said.ID, said.WebhookID = models.NewID(), "another"
	require.False(t, b.Deliver(t, said).Duplicate, "that it says the same as finance staff makes it no less odd")
}

// Refunds that wait for people for days are none that were left behind, however many there are; decided ones are.
func TestSweepOfRefundsByHand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)

	waiting := make([]models.RefundRequest, 6)
	for i := range waiting {
		waiting[i] = b.Ask(tx, "1.00")
		b.Reserve(t, waiting[i])
	}

	left := b.Ask(b.Paid(t, 1), "1.00")
	b.Reserve(t, left)

	later := time.Now().Add(time.Hour)
	stale, _, err := b.Store.Payments.StaleRefunds(t.Context(), time.Minute, time.Minute, db.SweepCursor{}, 1, later)
	require.NoError(t, err)
	require.Len(t, stale, 1)
	require.Equal(t, left.ID, stale[0].ID, "older ones that wait for people do not keep it back")

	none, err := b.Store.Refunds.DecidedPayouts(t.Context(), time.Minute, 10, later)
	require.NoError(t, err)
	require.Empty(t, none)

	for _, r := range waiting[:3] {
		b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	}

	fresh, err := b.Store.Refunds.DecidedPayouts(t.Context(), time.Minute, 10, time.Now())
	require.NoError(t, err)
	require.Empty(t, fresh, "the API is still at it")

	// One at a time, and none of them is settled: each gets its turn all the same.
	seen := map[uuid.UUID]bool{}

	require.Eventually(t, func() bool {
		found, err := b.Store.Refunds.DecidedPayouts(t.Context(), time.Minute, 1, later)
		require.NoError(t, err)

		for _, r := range found {
			seen[r.ID] = true
		}

		return len(seen) == 3
	}, 20*time.Second, time.Millisecond)
}

func TestListOfRefundsThatNeedAPayout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidBill(t)

	asked := make([]models.RefundRequest, 3)
	for i := range asked {
		asked[i] = b.Ask(tx, "1.00")
		b.Reserve(t, asked[i])
	}

	byGateway := b.Ask(b.Paid(t, 1), "1.00")
	b.Reserve(t, byGateway)
	b.Decide(t, bookstest.PaidOut(asked[0].ID, "TRF-1"), models.RoleAdmin)
	b.Decide(t, turnedDown(asked[1].ID, "no"), models.RoleAdmin)
	b.SettleRefund(t, asked[1], models.RefundResult{})

	list := func(f refunds.RefundFilter) (ids []uuid.UUID) {
		f.Page = db.Page{Number: 1, PerPage: 10, Sort: []db.Sort{{Field: "created_at"}}}
		l, err := b.Store.Refunds.ListRefunds(t.Context(), f)
		require.NoError(t, err)

		for _, r := range l.Items {
			require.Equal(t, r.ID == asked[0].ID || r.ID == asked[1].ID, r.Payout != nil)

			ids = append(ids, r.ID)
		}

		return ids
	}

	require.Equal(t, []uuid.UUID{asked[2].ID}, list(refunds.RefundFilter{NeedsPayout: new(true)}))
	require.Equal(t, []uuid.UUID{asked[0].ID, asked[1].ID, byGateway.ID}, list(refunds.RefundFilter{NeedsPayout: new(false)}))
	require.Equal(t, []uuid.UUID{asked[0].ID, asked[1].ID, asked[2].ID}, list(refunds.RefundFilter{Channel: models.RefundByHand}))
	require.Len(t, list(refunds.RefundFilter{}), 4)
}
