package refunds_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// The database refuses what the code would, too.
func TestDatabaseHoldsRefundsToTheirApproval(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	tx := b.Paid(t, 1)
	r := b.waiting(t, tx)
	bill := b.waiting(t, b.PaidBill(t))
	free := b.Ask(b.Paid(t, 1), "40.00") // which needs none
	require.False(t, new(b.Reserve(t, free)).NeedsApproval())
	admin, requester := b.Users[models.RoleAdmin].ID, b.Users[models.RoleFinanceAdmin].ID

	for name, c := range map[string]struct {
		sql, says string
		args      []any
	}{
		"approved by its requester": {
			"INSERT INTO refund_approvals (refund_id, decision, decided_by, decided_at) VALUES ($1, 'APPROVED', $2, now())", "cannot be decided so",
			[]any{r.ID, requester},
		},
		"approved too late": {
			"INSERT INTO refund_approvals (refund_id, decision, decided_by, decided_at) VALUES ($1, 'APPROVED', $2, now() + interval '8 days')",
			"cannot be decided so",
			[]any{r.ID, admin},
		},
		"expired too early": {
			"INSERT INTO refund_approvals (refund_id, decision, decided_at) VALUES ($1, 'EXPIRED', now())", "cannot be decided so", []any{r.ID},
		},
		"rejected without a reason": {
			"INSERT INTO refund_approvals (refund_id, decision, decided_by, decided_at) VALUES ($1, 'REJECTED', $2, now())",
			"refund_approvals_decision",
			[]any{r.ID, admin},
		},
		"sent": {
			"UPDATE refunds SET sends = 1, sent_at = now(), sent_answer = 'SENDING' WHERE id = $1", "not approved", []any{r.ID},
		},
		"going on":                              {"UPDATE refunds SET approval_pending = false WHERE id = $1", "not approved", []any{r.ID}},
		"needs none":                            {"UPDATE refunds SET approval_until = NULL, approval_pending = false WHERE id = $1", "never change", []any{r.ID}},
		"another limit":                         {"UPDATE refunds SET approval_above = 1000 WHERE id = $1", "never change", []any{r.ID}},
		"another amount":                        {"UPDATE refunds SET amount = 61 WHERE id = $1", "never change", []any{r.ID}},
		"another requester":                     {"UPDATE refunds SET requested_by = $2 WHERE id = $1", "never change", []any{r.ID, admin}},
		"another amount of one that needs none": {"UPDATE refunds SET amount = 60 WHERE id = $1", "never change", []any{free.ID}},
		"another requester of one that needs none": {"UPDATE refunds SET requested_by = NULL WHERE id = $1", "never change", []any{free.ID}},
		"another payment of one that needs none": {
			"UPDATE refunds SET payment_transaction_id = (SELECT payment_transaction_id FROM refunds WHERE id = $2) WHERE id = $1", "never change",
			[]any{free.ID, r.ID},
		},
		"no limit of one that needs none": {"UPDATE refunds SET approval_above = NULL WHERE id = $1", "never change", []any{free.ID}},
		"failed otherwise": {
			"UPDATE refunds SET status = 'FAILED', failure_code = 'GATEWAY_REJECTED', completed_at = now(), approval_pending = false WHERE id = $1",
			"not approved",
			[]any{r.ID},
		},
		"paid out": {
			`INSERT INTO refund_payouts (refund_id, decision, payout_reference, paid_out_on, decided_by, decided_at)
			VALUES ($1, 'PAID_OUT', 'TRF-1', current_date, $2, now())`,
			"cannot be decided so",
			[]any{bill.ID, admin},
		},
		"over the limit without one": {
			`INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, amount, requested_by, approval_above)
			SELECT gen_random_uuid(), payment_transaction_id, booking_id, 'PARTIAL', 50.01, requested_by, 50 FROM refunds WHERE id = $1`,
			"needs an approval",
			[]any{r.ID},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := b.DB.ExecContext(t.Context(), c.sql, c.args...)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestApprovalsAreAppendOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	r := b.waiting(t, b.Paid(t, 1))
	b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleAdmin)

	for _, change := range []string{
		"UPDATE refund_approvals SET decision = 'REJECTED', note = 'no'", "DELETE FROM refund_approvals", "TRUNCATE refund_approvals",
	} {
		_, err := b.DB.ExecContext(t.Context(), change)
		require.ErrorContains(t, err, "append-only", change)
	}
}
