package audit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

// approve has refunds over the limit approved, rejected, not decided in time, and waiting.
func (w *world) approve(t *testing.T) {
	t.Helper()

	price := func(amount string) {
		t.Helper()

		_, err := w.db.ExecContext(t.Context(), "UPDATE trips SET price_per_seat = $1 WHERE id = $2", amount, w.Trip.ID)
		require.NoError(t, err)
	}

	price("6000.00")

	defer price(w.Trip.PricePerSeat.String())

	decide := func(r models.Refund, by db.Actor, d models.ApprovalDecision, note string) {
		t.Helper()

		_, err := w.s.Refunds.DecideApproval(t.Context(), by, models.RefundApproval{RefundID: r.ID, Decision: d, Note: note}, time.Now())
		require.NoError(t, err)
	}

	w.approved = w.reserve(t, w.paid(t), "5500.00")
	decide(w.approved, db.Actor{UserID: w.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}, models.ApprovalApproved, "compared")
	w.settle(t, w.approved, models.RefundSucceeded)

	w.withdrawn = w.reserve(t, w.paid(t), "5500.00")
	decide(w.withdrawn, w.finance, models.ApprovalRejected, "by mistake")
	w.settle(t, w.withdrawn, models.RefundFailed)

	payment := w.paid(t)
	w.waiting = w.reserve(t, payment, "5500.00")
	w.alone = w.reserve(t, payment, "300.00") // which needs none

	tx, amount := w.paid(t), models.MustMoney("5500.00")
	r, err := w.s.Refunds.OrderRefund(t.Context(), models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundPartial, Amount: &amount, RequestedBy: &w.finance.UserID,
		Role: w.finance.Role,
	}, time.Now().Add(-8*24*time.Hour))
	require.NoError(t, err)
	w.settle(t, r, models.RefundFailed)
	require.NotEmpty(t, w.id(t, "SELECT refund_id FROM refund_approvals WHERE decision = 'EXPIRED' AND refund_id = $1", r.ID))
}

func approvalTamperings(w *world) []tampering {
	decision := func(name, what string) tampering {
		id := w.approved.ID

		return tampering{"refund-approval", name, "UPDATE refund_approvals SET " + what + " WHERE refund_id = $1", []any{id}, of(id), nil}
	}
	refund := func(name, what string, r models.Refund, also ...string) tampering {
		return tampering{"refund-approval", name, "UPDATE refunds SET " + what + " WHERE id = $1", []any{r.ID}, of(r.ID), also}
	}

	return []tampering{
		decision("by its requester", "decided_by = '"+w.finance.UserID.String()+"'"),
		decision("by another user than the log says", "decided_by = (SELECT id FROM users WHERE role = 'SUPER_ADMIN' LIMIT 1)"),
		decision("too late", "decided_at = decided_at + interval '8 days'"),
		decision("another note", "note = 'not compared'"),
		decision("the opposite", "decision = 'REJECTED'"),
		{"refund-approval", "not decided", "DELETE FROM refund_approvals WHERE refund_id = $1", []any{w.approved.ID}, of(w.approved.ID), nil},
		refund("sent without one", "sends = 1, sent_at = now(), sent_answer = 'UNKNOWN'", w.waiting),
		refund("going on without one", "approval_pending = false", w.waiting),
		refund("not ended in time", "approval_until = now() - interval '25 hours'", w.waiting),
		refund("failed for another reason", "failure_code = 'PAYOUT_REJECTED'", w.withdrawn),
		{
			"refund-approval", "paid out without one", `INSERT INTO refund_payouts (refund_id, decision, note, decided_by, decided_at)
			SELECT id, 'REJECTED', 'no', requested_by, now() FROM refunds WHERE id = $1`,
			[]any{w.waiting.ID},
			of(w.waiting.ID),
			[]string{"refund-payout"},
		},
		{
			"refund-unapproved", "one that needs none any more", "UPDATE refunds SET approval_until = NULL, approval_pending = false WHERE id = $1",
			[]any{w.waiting.ID},
			of(w.waiting.PaymentTransactionID), nil,
		},
		{
			"refund-unapproved", "one without a limit before one with a limit",
			"UPDATE refunds SET approval_until = NULL, approval_pending = false, approval_above = NULL WHERE id = $1",
			[]any{w.waiting.ID},
			of(w.waiting.PaymentTransactionID), nil,
		},
		{
			"refund-alone", "more than the limit of one person", "UPDATE refunds SET alone_above = 200 WHERE id = $1",
			[]any{w.alone.ID},
			of(w.alone.ID), nil,
		},
		{
			"audit-actor", "approved by no one", "UPDATE audit_log SET actor_id = NULL WHERE action = 'REFUND_APPROVED'", nil,
			w.entry("REFUND_APPROVED"),
			[]string{"log-entries", "refund-approval"},
		},
	}
}
