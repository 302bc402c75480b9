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

// What was decided and not taken up, and what nothing was decided about in time, is left to the workflow for a moment, and then given to
// it again.
func TestDecidedApprovals(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	decided, open := b.waiting(t, b.Paid(t, 1)), b.waiting(t, b.PaidBill(t))
	b.DecideApproval(t, bookstest.Approved(decided.ID), models.RoleAdmin)

	due := func(at time.Time) (ids []uuid.UUID) {
		t.Helper()

		rows, err := b.Store.Refunds.DecidedApprovals(t.Context(), 3*time.Second, 10, at)
		require.NoError(t, err)

		for _, r := range rows {
			ids = append(ids, r.ID)
		}

		return ids
	}
	until := *b.refundNow(t, open).ApprovalUntil

	require.Empty(t, due(time.Now()))
	require.Equal(t, []uuid.UUID{decided.ID}, due(time.Now().Add(4*time.Second)))
	require.ElementsMatch(t, []uuid.UUID{decided.ID, open.ID}, due(until.Add(3*time.Minute)))

	b.SettleRefund(t, decided, models.RefundResult{Status: models.RefundPending})
	require.Empty(t, due(until))

	list := func(f refunds.RefundFilter) (ids []uuid.UUID) {
		f.Page = db.Page{Number: 1, PerPage: 10, Sort: []db.Sort{{Field: "created_at"}}}
		l, err := b.Store.Refunds.ListRefunds(t.Context(), f)
		require.NoError(t, err)

		for _, r := range l.Items {
			ids = append(ids, r.ID)
		}

		return ids
	}
	require.Equal(t, []uuid.UUID{open.ID}, list(refunds.RefundFilter{NeedsApproval: new(true)}))
	require.Equal(t, []uuid.UUID{decided.ID}, list(refunds.RefundFilter{NeedsApproval: new(false)}))
	require.Empty(t, list(refunds.RefundFilter{NeedsPayout: new(true)}), "it is not approved")
}

// The policy gives less when a refund that was not approved is asked for again: its incident has what it gave, and PARTIAL gives that.
func TestPolicyRefundThatIsNotApproved(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())
	tx := b.Paid(t, 1)
	r := b.ByPolicy(tx)

	ordered, err := b.Store.Refunds.OrderRefund(t.Context(), r, b.Trip.DepartureAt.Add(-72*time.Hour))
	require.NoError(t, err)
	require.True(t, ordered.NeedsApproval())

	settled, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundPending},
		ordered.ApprovalUntil.Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, models.RefundFailed, settled.Status)

	all := b.Incidents(t)
	require.Len(t, all, 1)
	require.Contains(t, all[0].Message, "gave 100 % when it was ordered, and may give less now: order PARTIAL with 115.00 SAR.")

	again := b.Ask(tx, ordered.Amount.String())
	require.Equal(t, "115.00", b.Reserve(t, again).Amount.String())

	// One who has it rejected reads the same from the refund.
	b.DecideApproval(t, bookstest.Disapproved(again.ID, "no letter"), models.RoleAdmin)
	b.SettleRefund(t, again, models.RefundResult{})

	second := b.ByPolicy(tx)
	second.ID = uuid.New()
	_, err = b.Store.Refunds.OrderRefund(t.Context(), second, b.Trip.DepartureAt.Add(-72*time.Hour))
	require.NoError(t, err)
	b.DecideApproval(t, bookstest.Disapproved(second.ID, "no letter"), models.RoleAdmin)
	b.SettleRefund(t, second, models.RefundResult{})

	rejected := b.refundNow(t, second)
	require.Equal(t, "115.00", rejected.Amount.String())
	require.Equal(t, 100, *rejected.PolicyPercent)
	require.Len(t, b.Incidents(t), 1)
}

// Of a refund that was never sent a gateway has nothing to say: a person is to look at once, and the workflow hears nothing of it.
func TestEventAboutAnUnapprovedRefund(t *testing.T) {
	t.Parallel()

	for _, kind := range []models.EventType{models.EventRefundSucceeded, models.EventRefundFailed} {
		for _, approved := range []bool{false, true} {
			t.Run(string(kind)+", approved and not taken up: "+strconv.FormatBool(approved), func(t *testing.T) {
				t.Parallel()
				b := setup(t, bookstest.Strict())
				tx := b.Paid(t, 1)
				r := b.waiting(t, tx)

				if approved {
					b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleAdmin)
				}

				e := bookstest.Event(tx, kind, func(e *models.WebhookEvent) { e.MerchantReference, e.Amount = r.ID.String(), r.Amount })
				stored := b.Deliver(t, e)
				require.True(t, stored.Known)
				require.False(t, stored.Deliver)
				require.Equal(t, "INCIDENT", b.Outcome(t, e))

				open, _, err := b.Store.Inbox.UnprocessedEvents(t.Context(), 0, db.SweepCursor{}, 10, time.Now().Add(time.Hour))
				require.NoError(t, err)
				require.Empty(t, open, "no sweep delivers it again")

				all := b.Incidents(t)
				require.Len(t, all, 1)
				require.Equal(t, models.IncidentRefundUnordered, all[0].Kind)
				require.Equal(t, r.ID, *all[0].RefundID)
				require.Equal(t, models.RefundPending, b.refundNow(t, r).Status)

				require.True(t, b.Deliver(t, e).Duplicate)
				require.Len(t, bookstest.EventsOf(b.Incidents(t)[0]), 1)
			})
		}
	}
}
