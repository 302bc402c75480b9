package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/store/db"
	"rihla/models"
)

// A manual payout reaches no gateway, not even by mistake, and is delivered by the sweep when its signal was lost.
func TestRefundByHand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o := &owners{}
	now := time.Now()
	sweep := &activities.Sweep{Log: silent, Store: d.Store, Deliver: o, Now: func() time.Time { return now }}
	id := d.reserved(t, d.billed(t))

	_, err := d.RefundAtGateway(t.Context(), id)
	require.Equal(t, models.CodeInvalidState, models.CodeOf(err), "%v", err)

	_, err = d.gateway.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: id})
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))

	now = now.Add(10 * time.Minute)
	swept, err := sweep.Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept.Refunds+swept.Payouts, "it waits for people, and nobody else")

	reference := "TRF-1"
	_, err = d.Store.Refunds.DecidePayout(t.Context(), db.Actor{UserID: d.world.Users[models.RoleAdmin].ID, Role: models.RoleAdmin},
		models.RefundPayout{RefundID: id, Decision: models.PayoutPaid, Reference: &reference}, time.Now())
	require.NoError(t, err)

	swept, err = sweep.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept.Payouts)
	require.Equal(t, id, o.payouts[0].ID)
	require.Equal(t, models.RefundPartial, o.payouts[0].RefundType)

	settled, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id})
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, settled.Status)

	swept, err = sweep.Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept.Payouts)
}
