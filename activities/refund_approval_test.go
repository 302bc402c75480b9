package activities_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// overTheLimit is a refund that finance staff have asked for and that needs an approval.
func (d *desk) overTheLimit(t *testing.T) uuid.UUID {
	t.Helper()

	finance := d.world.Users[models.RoleFinanceAdmin].ID
	r := models.RefundRequest{
		ID: uuid.New(), BookingID: d.paid(t).BookingID, Type: models.RefundFull, RequestedBy: &finance, Role: models.RoleFinanceAdmin,
	}
	ordered, err := d.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)
	require.True(t, ordered.NeedsApproval())

	return r.ID
}

// A refund that needs an approval reaches no gateway before, not even by a run that knows of no approvals; and the sweep tells it what was
// decided when the signal was lost.
func TestRefundThatNeedsAnApproval(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, bookstest.Strict())
	o := &owners{}
	now := time.Now()
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: func() time.Time { return now }}
	id := d.overTheLimit(t)

	_, err := d.RefundAtGateway(t.Context(), id)
	require.ErrorContains(t, err, "not approved")

	_, err = d.gateway.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: id})
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))

	now = now.Add(10 * time.Minute)
	swept, err := sweep.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept.Refunds, "its workflow is started if it is gone")
	require.Zero(t, swept.Approvals, "it waits for people")

	_, err = d.Store.Refunds.DecideApproval(t.Context(), db.Actor{UserID: d.world.Users[models.RoleAdmin].ID, Role: models.RoleAdmin},
		bookstest.Approved(id), time.Now())
	require.NoError(t, err)

	swept, err = sweep.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept.Approvals)
	require.Equal(t, id, o.approvals[0].ID)

	result, err := d.RefundAtGateway(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, result.Status)

	settled, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: result})
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, settled.Status)

	swept, err = sweep.Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept.Approvals)
}

// The wait is over by the clock that is ahead, the workflow's or the worker's; a run that knows of no approvals learns of it at the gateway.
func TestApprovalThatDoesNotCome(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ worker, workflow time.Duration }{
		"the worker's clock":   {models.MaxApprovalWait + time.Minute, 0},
		"the workflow's clock": {0, models.MaxApprovalWait + time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeskWith(t, bookstest.Strict())
			id := d.overTheLimit(t)
			now := time.Now()
			d.Now = func() time.Time { return now.Add(c.worker) }

			settled, err := d.SettleRefund(t.Context(), activities.RefundDecision{
				RefundID: id, Result: models.RefundResult{Status: models.RefundPending}, At: now.Add(c.workflow),
			})
			require.NoError(t, err)
			require.Equal(t, models.SettledRefund{Status: models.RefundFailed, NeedsReview: true, Approval: models.ApprovalExpired}, settled)

			result, err := d.RefundAtGateway(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, models.RefundFailed, result.Status)

			_, err = d.gateway.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: id})
			require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))
		})
	}
}
