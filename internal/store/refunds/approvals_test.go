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

// waiting is a refund of 60.00 that needs an approval, asked for by finance staff.
func (b *books) waiting(t *testing.T, tx models.PaymentTransaction) models.RefundRequest {
	t.Helper()

	r := b.Ask(tx, "60.00")
	ordered := b.Reserve(t, r)
	require.True(t, ordered.NeedsApproval())
	require.WithinDuration(t, time.Now().Add(models.MaxApprovalWait), *ordered.ApprovalUntil, time.Minute)

	return r
}

func (b *books) refuseApproval(t *testing.T, code models.Code, d models.RefundApproval, by models.Role) {
	t.Helper()

	_, err := b.Store.Refunds.DecideApproval(t.Context(), b.As(by), d, time.Now())
	bookstest.RequireCode(t, code, err)
}

func (b *books) refundNow(t *testing.T, r models.RefundRequest) models.Refund {
	t.Helper()

	got, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)

	return got
}

// send begins to send the refund, and reports whether it may be sent.
func (b *books) send(t *testing.T, r models.RefundRequest) (bool, error) {
	t.Helper()

	n, _, err := b.Store.Refunds.BeginRefundSend(t.Context(), r.ID, refunds.SendRules{Settle: time.Minute})

	return n > 0, err
}

// refuseAtGateway has the gateway refuse the refund.
func (b *books) refuseAtGateway(t *testing.T, refund uuid.UUID) {
	t.Helper()

	settled := b.SettleRefund(t, models.RefundRequest{ID: refund}, models.RefundResult{Status: models.RefundFailed})
	require.Equal(t, models.RefundFailed, settled.Status)
}

func TestRefundIsApproved(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	tx := b.Paid(t, 1)
	r := b.waiting(t, tx)

	// Until then the amount is reserved, nothing is sent and no gateway has a word in it.
	require.Equal(t, "55.00", new(b.Transaction(t, tx.ID)).Remaining().String())
	require.Equal(t, models.SettledRefund{Status: models.RefundPending}, b.SettleRefund(t, r, bookstest.Granted(r)))
	require.Equal(t, models.RefundPending, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed}).Status)

	_, err := b.send(t, r)
	require.ErrorContains(t, err, "the refund is not approved")

	order, err := b.Store.Refunds.OrderedRefund(t.Context(), r.ID)
	require.NoError(t, err)
	require.NotNil(t, order.ApprovalUntil)
	require.False(t, order.ApprovalDecided)

	b.refuseApproval(t, models.CodeForbidden, bookstest.Approved(r.ID), models.RoleFinanceAdmin)
	b.refuseApproval(t, models.CodeNotFound, bookstest.Approved(uuid.New()), models.RoleAdmin)

	d := bookstest.Approved(r.ID)
	d.Note = "compared with the letter"
	require.False(t, new(b.DecideApproval(t, d, models.RoleAdmin)).NeedsApproval())

	// The same again by the same person, with or without the note; and nothing else.
	require.Equal(t, d.Note, b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleAdmin).Approval.Note)
	b.refuseApproval(t, models.CodeInvalidState, bookstest.Approved(r.ID), models.RoleSuperAdmin)
	b.refuseApproval(t, models.CodeInvalidState, bookstest.Disapproved(r.ID, "no"), models.RoleAdmin)
	b.refuseApproval(t, models.CodeInvalidState, bookstest.Disapproved(r.ID, "no"), models.RoleFinanceAdmin)
	b.refuseApproval(t, models.CodeForbidden, bookstest.Approved(r.ID), models.RoleFinanceAdmin)

	order, err = b.Store.Refunds.OrderedRefund(t.Context(), r.ID)
	require.NoError(t, err)
	require.True(t, order.ApprovalDecided)

	require.Equal(t, models.SettledRefund{Status: models.RefundPending, Approval: models.ApprovalApproved},
		b.SettleRefund(t, r, models.RefundResult{Status: models.RefundPending}))

	order, err = b.Store.Refunds.OrderedRefund(t.Context(), r.ID)
	require.NoError(t, err)
	require.Nil(t, order.ApprovalUntil, "it is taken up")

	sent, err := b.send(t, r)
	require.NoError(t, err)
	require.True(t, sent)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, bookstest.Granted(r)).Status)
	b.DecideApproval(t, d, models.RoleAdmin)

	entries, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Action: "REFUND_APPROVED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.Equal(t, b.Users[models.RoleAdmin].ID, *entries.Items[0].ActorID)
	require.Contains(t, string(entries.Items[0].Details), `"approval_above": 50.00`)
	require.Empty(t, b.Incidents(t))
}

func TestRefundIsNotApproved(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		by        models.Role // who rejects it; none: its time is over
		code      string
		incidents int
	}{
		"rejected by another user":    {models.RoleAdmin, "APPROVAL_REJECTED", 0},
		"withdrawn by its requester":  {models.RoleFinanceAdmin, "APPROVAL_REJECTED", 0},
		"not decided within its time": {"", "APPROVAL_EXPIRED", 1},
	} {
		for _, byHand := range []bool{false, true} {
			t.Run(name+", manual payout: "+strconv.FormatBool(byHand), func(t *testing.T) {
				t.Parallel()
				b := setup(t, bookstest.Strict())

				tx := b.Paid(t, 1)
				if byHand {
					tx = b.PaidBill(t)
				}

				r := b.waiting(t, tx)
				at, note := time.Now(), "no letter"

				if c.by == "" {
					at, note = b.refundNow(t, r).ApprovalUntil.Add(time.Second), ""
				} else {
					b.DecideApproval(t, bookstest.Disapproved(r.ID, note), c.by)
					b.refuseApproval(t, models.CodeInvalidState, bookstest.Disapproved(r.ID, "another reason"), c.by)
				}

				settled, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundPending}, at)
				require.NoError(t, err)
				require.Equal(t, models.RefundFailed, settled.Status)
				require.Equal(t, c.incidents > 0, settled.NeedsReview)
				require.Equal(t, c.code, settled.Approval.FailureCode())

				got := b.refundNow(t, r)
				require.Equal(t, c.code, *got.FailureCode)
				require.Equal(t, note, got.FailureReason)
				require.False(t, got.NeedsApproval() || got.NeedsPayout())
				require.Len(t, b.Incidents(t), c.incidents)
				require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)
				b.refuseApproval(t, models.CodeInvalidState, bookstest.Approved(r.ID), models.RoleSuperAdmin)
				require.Equal(t, models.RefundFailed, b.SettleRefund(t, r, bookstest.Granted(r)).Status, "for good")

				// The amount can be asked for again, and is approved this time.
				again := b.Ask(tx, "")
				require.Equal(t, "115.00", b.Reserve(t, again).Amount.String())
				b.DecideApproval(t, bookstest.Approved(again.ID), models.RoleAdmin)
			})
		}
	}
}

// A manual payout is paid out once it is approved; the second person may do both.
func TestRefundByHandIsApproved(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	r := b.waiting(t, b.PaidBill(t))
	require.False(t, new(b.refundNow(t, r)).NeedsPayout())

	b.refuseDecision(t, models.CodeInvalidState, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)
	b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleAdmin)
	require.True(t, new(b.refundNow(t, r)).NeedsPayout())
	b.refuseDecision(t, models.CodeForbidden, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin)
	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{}).Status)
}

// The payee may not approve the refund, with any requester.
func TestApprovalOfOnesOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	tx := b.Paid(t, 1)
	r := b.waiting(t, tx)

	admin := b.Users[models.RoleAdmin].ID
	for _, own := range []string{
		"UPDATE payment_transactions SET user_id = $1 WHERE id = $2",
		"UPDATE bookings SET user_id = $1 WHERE id = (SELECT booking_id FROM payment_transactions WHERE id = $2)",
	} {
		b.Exec(t, own, admin, tx.ID)
		b.refuseApproval(t, models.CodeForbidden, bookstest.Approved(r.ID), models.RoleAdmin)

		_, err := b.DB.ExecContext(t.Context(), `INSERT INTO refund_approvals (refund_id, decision, decided_by, decided_at)
			VALUES ($1, 'APPROVED', $2, now())`, r.ID, admin)
		require.ErrorContains(t, err, "cannot be decided so")
		b.Exec(t, own, tx.UserID, tx.ID)
	}

	b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleAdmin)
}

// Of one payment the limit goes back without an approval, in however many parts and by however many persons.
func TestApprovalOfParts(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	tx := b.Paid(t, 1)

	ask := func(amount string, by models.Role) models.Refund {
		t.Helper()

		r := b.Ask(tx, amount)
		r.RequestedBy, r.Role = new(b.Users[by].ID), by

		return b.Reserve(t, r)
	}
	first := ask("30.00", models.RoleFinanceAdmin)
	require.False(t, first.NeedsApproval())
	require.Equal(t, "50.00", first.ApprovalAbove.String())
	require.False(t, new(ask("20.00", models.RoleAdmin)).NeedsApproval())
	require.True(t, new(ask("0.01", models.RoleSuperAdmin)).NeedsApproval())

	quote, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.True(t, quote.NeedsApproval)

	// What has failed does not count, and another payment has a limit of its own.
	b.refuseAtGateway(t, first.ID)
	require.False(t, new(ask("30.00", models.RoleFinanceAdmin)).NeedsApproval())
	require.False(t, new(b.Reserve(t, b.Ask(b.Paid(t, 1), "50.00"))).NeedsApproval())
}

// What the service owes by itself needs no approval; asked for by a person, it does.
func TestLateMoneyAndApprovals(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	trip := b.InsertTrip(t, 1, nil)
	tx := b.Lapsed(t, trip, 1)
	b.Book(t, trip, 1) // the last seat
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureExpired)

	own, err := b.Store.Refunds.OrderLateRefund(t.Context(), tx.ID, time.Now())
	require.NoError(t, err)
	require.Nil(t, own.ApprovalAbove)
	require.True(t, own.IsApproved())
	b.refuseAtGateway(t, own.ID)

	// Rejected, it is owed all the same.
	again := b.Ask(tx, "")
	require.True(t, new(b.Reserve(t, again)).NeedsApproval())
	b.DecideApproval(t, bookstest.Disapproved(again.ID, "twice"), models.RoleAdmin)
	settled := b.SettleRefund(t, again, models.RefundResult{})
	require.Equal(t, models.SettledRefund{Status: models.RefundFailed, NeedsReview: true, Approval: models.ApprovalRejected}, settled)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE refund_id = $1 AND message LIKE '%still owed%'", again.ID))
}
