package refunds_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// A list of refunds has the names of who asked and decided, by one query however many there are, and whatever became of the accounts.
func TestRefundsNameWhoActed(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	b.Exec(t, "UPDATE users SET name = 'The ' || role")

	approved := b.waiting(t, b.Paid(t, 1))
	b.DecideApproval(t, bookstest.Approved(approved.ID), models.RoleAdmin)

	undecided := b.waiting(t, b.Paid(t, 1))
	b.Exec(t, "UPDATE users SET deleted_at = now() WHERE role = 'FINANCE_ADMIN'")

	names := storetest.Counter{Of: `FROM "users"`}
	storetest.Watch(b.Store, &names)

	list, err := b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{Page: db.Page{Sort: []db.Sort{{Field: "created_at"}}}})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	require.EqualValues(t, 1, names.N.Load())

	require.Equal(t, approved.ID, list.Items[0].ID)
	require.Equal(t, "The FINANCE_ADMIN", list.Items[0].RequesterName)
	require.Equal(t, "The ADMIN", list.Items[0].Approval.DeciderName)
	require.Equal(t, "The FINANCE_ADMIN", list.Items[1].RequesterName)
	require.Equal(t, list.Items[1], b.refundNow(t, undecided))
}

func TestPayoutsNameWhoDecided(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE users SET name = 'The ' || role")

	r := b.Ask(b.PaidBill(t), "60.00")
	b.Reserve(t, r)

	b.Decide(t, turnedDown(r.ID, "no"), models.RoleAdmin)
	require.Equal(t, "The ADMIN", b.refundNow(t, r).Payout.DeciderName)
}
