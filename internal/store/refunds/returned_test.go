package refunds_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// A company takes back that a refund was made: the money is there again and owed, and a person pays it out, once.
func TestRefundThatComesBack(t *testing.T) {
	t.Parallel()

	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "10.00")
	b.Reserve(t, r)
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundSucceeded}).Status)

	failed := bookstest.Event(tx, models.EventRefundFailed, func(e *models.WebhookEvent) {
		e.MerchantReference, e.Amount, e.Revises = r.ID.String(), r.Amount, true
	})
	require.True(t, b.Deliver(t, failed).Deliver)
	b.SettleRefund(t, r, models.RefundResult{}) // as the workflow does that hears of the event
	require.Equal(t, "INCIDENT", b.Outcome(t, failed))
	b.RequireBooks(t)
	require.True(t, b.Deliver(t, failed).Duplicate)

	again := bookstest.Event(tx, models.EventRefundFailed, func(e *models.WebhookEvent) {
		e.MerchantReference, e.Amount, e.Revises = r.ID.String(), r.Amount, true
	})
	b.Deliver(t, again) // companies say it with several events
	b.SettleRefund(t, r, models.RefundResult{})
	b.RequireBooks(t)

	owed := func() int {
		t.Helper()

		list, err := b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{NeedsPayout: new(true)})
		require.NoError(t, err)

		return len(list.Items)
	}

	returned := b.RefundOf(t, r)
	require.Equal(t, models.RefundSucceeded, returned.Status)
	require.NotNil(t, returned.ReturnedAt)
	require.True(t, returned.NeedsPayout())
	require.Equal(t, 1, owed())
	require.Len(t, b.Incidents(t), 1)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'REFUND_RETURNED'"))

	b.refuseDecision(t, models.CodeInvalidState, turnedDown(r.ID, "no"), models.RoleAdmin)
	b.refuseDecision(t, models.CodeForbidden, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleFinanceAdmin) // who asked for it

	paid := b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	require.False(t, paid.NeedsPayout())
	b.RequireBooks(t)
	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleSuperAdmin)
	b.refuseDecision(t, models.CodeInvalidState, bookstest.PaidOut(r.ID, "TRF-2"), models.RoleAdmin)
	require.Equal(t, 0, owed())
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'REFUND_REPAID'"))
}

// Both words came before the first of them was applied.
func TestRefundThatComesBackAtOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "10.00")
	b.Reserve(t, r)

	for kind, revises := range map[models.EventType]bool{models.EventRefundSucceeded: false, models.EventRefundFailed: true} {
		require.True(t, b.Deliver(t, bookstest.Event(tx, kind, func(e *models.WebhookEvent) {
			e.MerchantReference, e.Amount, e.Revises = r.ID.String(), r.Amount, revises
		})).Deliver)
	}

	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, models.RefundResult{Status: models.RefundSucceeded}).Status)
	require.NotNil(t, b.RefundOf(t, r).ReturnedAt)
}

// A word of another amount, or of a company that takes nothing back, moves no money.
func TestRefundThatOnlySeemsToComeBack(t *testing.T) {
	t.Parallel()

	for name, edit := range map[string]func(*models.WebhookEvent){
		"another amount":           func(e *models.WebhookEvent) { more := e.Amount.Add(models.Halalas(1)); e.Amount = &more },
		"another currency":         func(e *models.WebhookEvent) { e.Currency = "USD" },
		"it takes nothing back":    func(e *models.WebhookEvent) { e.Revises = false },
		"it says it did after all": func(e *models.WebhookEvent) { e.Type = models.EventRefundSucceeded },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			tx := b.Paid(t, 1)
			r := b.Ask(tx, "10.00")
			b.Reserve(t, r)
			b.SettleRefund(t, r, models.RefundResult{Status: models.RefundSucceeded})
			b.Deliver(t, bookstest.Event(tx, models.EventRefundFailed, func(e *models.WebhookEvent) {
				e.MerchantReference, e.Amount, e.Revises = r.ID.String(), r.Amount, true
				edit(e)
			}))
			b.SettleRefund(t, r, models.RefundResult{})
			require.Nil(t, b.RefundOf(t, r).ReturnedAt)
			require.Equal(t, 0, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'REFUND_RETURNED'"))
		})
	}
}
