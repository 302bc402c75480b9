package ledger_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// limited are books in which one person marks 250.00 within 24 hours. A sale's net is 103.50.
func limited(t *testing.T) *books {
	t.Helper()

	p := models.DefaultPolicies()
	p.PayoutAbove = models.MustMoney("250.00")

	return setup(t, p)
}

func (b *books) markAll(t *testing.T, by db.Actor, ids ...uuid.UUID) error {
	t.Helper()

	_, err := b.Store.Ledger.MarkAllTransferred(t.Context(), by, ledger.MarkTransfers{IDs: ids})

	return err
}

// What one person marks is bounded in one call and over 24 hours; another person marks the rest, and nothing is marked that is refused.
func TestMarksOfOnePerson(t *testing.T) {
	t.Parallel()
	b := limited(t)
	ids := b.sales(t, 5)
	other := b.As(models.RoleAdmin)

	err := b.markAll(t, b.Finance, ids[:3]...)
	bookstest.RequireCode(t, models.CodeApprovalRequired, err)
	require.ErrorContains(t, err, "Mark fewer records")
	require.Zero(t, b.Count(t, "SELECT count(*) FROM financial_records WHERE balance_status = 'TRANSFERRED'"))

	require.NoError(t, b.markAll(t, b.Finance, ids[:2]...))
	require.NoError(t, b.markAll(t, b.Finance, ids[:2]...), "the same call again")

	err = b.markAll(t, b.Finance, ids[2])
	bookstest.RequireCode(t, models.CodeApprovalRequired, err)
	require.ErrorContains(t, err, "Another person has to mark the rest")
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, ids[2], ledger.MarkTransfer{})
	bookstest.RequireCode(t, models.CodeApprovalRequired, err)
	require.NoError(t, b.markAll(t, other, ids[2:4]...))

	// A mark that was taken back counts no more, and one of the day before neither.
	_, err = b.Store.Ledger.RevertTransferred(t.Context(), other, ids[0], ledger.RevertTransfer{Reason: "returned"})
	require.NoError(t, err)
	require.NoError(t, b.markAll(t, b.Finance, ids[4]))
	bookstest.RequireCode(t, models.CodeApprovalRequired, b.markAll(t, b.Finance, ids[0]))
}

// A record that is larger than the limit says what to do; a claw-back counts by its amount.
func TestMarksThatAreTooLarge(t *testing.T) {
	t.Parallel()
	b := limited(t)
	large := b.sale(t, 3)

	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, large.ID, ledger.MarkTransfer{})
	bookstest.RequireCode(t, models.CodeApprovalRequired, err)
	require.ErrorContains(t, err, "PAYOUT_APPROVAL_ABOVE")

	paid := b.Paid(t, 2)
	require.NoError(t, b.markAll(t, b.Finance, b.Records(t, paid)[0].ID))
	b.GiveBack(t, paid, "115.00")

	records := b.Records(t, paid)
	clawback := records[slices.IndexFunc(records, func(r models.FinancialRecord) bool { return r.Kind == models.RecordClawback })]
	bookstest.RequireCode(t, models.CodeApprovalRequired, b.markAll(t, b.Finance, clawback.ID))
	require.NoError(t, b.markAll(t, b.As(models.RoleAdmin), clawback.ID))
}

func TestMarksOfOnePersonInParallel(t *testing.T) {
	t.Parallel()
	b := limited(t)
	ids := b.sales(t, 12)

	var marked atomic.Int32

	bookstest.Parallel(len(ids), func(i int) {
		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, ids[i], ledger.MarkTransfer{})

		switch {
		case err == nil:
			marked.Add(1)
		case models.CodeOf(err) != models.CodeApprovalRequired:
			t.Error(err)
		}
	})
	require.EqualValues(t, 2, marked.Load())
}

// Orders, approvals and marks of one person meet refunds and marks of the same entries: they wait for each other and never in a circle.
func TestActsOfOnePersonDoNotDeadlock(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 5 {
		paid := b.Paid(t, 1)
		line := b.Records(t, paid)[0].ID

		bookstest.Parallel(12, func(i int) {
			var err error

			switch i % 3 {
			case 0:
				_, err = b.Store.Refunds.OrderRefund(t.Context(), b.Ask(paid, "1.00"), time.Now())
			case 1:
				_, err = b.Store.Refunds.PreviewRefund(t.Context(), b.Ask(paid, "1.00"), time.Now())
			default:
				_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line, ledger.MarkTransfer{})
			}

			if err != nil {
				t.Error(err)
			}
		})
	}
}
