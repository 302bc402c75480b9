package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// A reference that is said to be new is that of no other payout: of entries, whatever their company, or of a manual payout. Without the
// word it is taken as before.
func TestNewPayoutReference(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for name, mark := range map[string]func(ids []uuid.UUID, reference string, fresh bool) error{
		"one": func(ids []uuid.UUID, reference string, fresh bool) error {
			_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, ids[0], ledger.MarkTransfer{Reference: &reference, NewReference: fresh})

			return err
		},
		"several": func(ids []uuid.UUID, reference string, fresh bool) error {
			_, err := b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: ids, Reference: &reference, NewReference: fresh})

			return err
		},
	} {
		lines := b.sales(t, 3)

		require.NoError(t, mark(lines[:1], "Bank-"+name, true), "nobody has it")
		require.NoError(t, mark(lines[:1], "Bank-"+name, true), "the same call again")

		err := mark(lines[1:2], " BANK-"+name, true)
		bookstest.RequireCode(t, models.CodePayoutReferenceUsed, err)

		var domain *models.Error

		require.ErrorAs(t, err, &domain)
		require.Equal(t, map[string][]string{"companies": {"Test Tours"}}, domain.EnglishDetails())
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM financial_records WHERE payout_reference ILIKE '%bank-'||$1", name), "nothing was changed")

		require.NoError(t, mark(lines[2:], "Bank-"+name, false), "confirmed")
	}

	refund := b.Ask(b.PaidBill(t), "60.00")
	b.Reserve(t, refund)

	d := bookstest.PaidOut(refund.ID, "bank-ONE")
	d.NewReference = true
	_, err := b.Store.Refunds.DecidePayout(t.Context(), bookstest.As(b.World, models.RoleAdmin), d, time.Now())
	bookstest.RequireCode(t, models.CodePayoutReferenceUsed, err)

	d.Reference = new("SARIE-1")
	b.Decide(t, d, models.RoleAdmin)
	b.Decide(t, d, models.RoleAdmin)

	reference := "sarie-1"
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, b.sale(t, 1).ID, ledger.MarkTransfer{Reference: &reference, NewReference: true})
	bookstest.RequireCode(t, models.CodePayoutReferenceUsed, err)

	var domain *models.Error

	require.ErrorAs(t, err, &domain)
	require.Len(t, domain.Details["bookings"], 1)
}

// Of two people who give different entries the same new reference at once, one is refused.
func TestNewPayoutReferenceAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lines := b.sales(t, 2)
	reference := "BANK-1"
	errs := make([]error, 2)

	bookstest.Parallel(2, func(i int) {
		_, errs[i] = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, lines[i], ledger.MarkTransfer{Reference: &reference, NewReference: true})
	})

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM financial_records WHERE payout_reference = 'BANK-1'"))

	for _, err := range errs {
		if err != nil {
			bookstest.RequireCode(t, models.CodePayoutReferenceUsed, err)
		}
	}
}

// Who marked an entry is in the list: that person cannot take the mark back.
func TestRecordsNameWhoMarkedThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE users SET name = 'The ' || role")
	r := b.mark(t, b.sale(t, 1).ID)
	require.Equal(t, b.Finance.UserID, *r.TransferredBy)
	require.Equal(t, "The FINANCE_ADMIN", r.TransferrerName, "in the answer to the mark itself")

	list, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *r.BookingID})
	require.NoError(t, err)
	require.Equal(t, "The FINANCE_ADMIN", list.Items[0].TransferrerName)

	reverted := b.revert(t, r.ID)
	require.Nil(t, reverted.TransferredBy)
	require.Empty(t, reverted.TransferrerName)
}
