package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// A first try may be cut off at any moment. Whatever it left behind, the money goes back once, and at once.
func TestTryRefundThatIsCutOff(t *testing.T) {
	t.Parallel()

	for name, mode := range map[string]fake.Fault{
		"before the gateway has it": {Mode: fake.UnknownBeforeEffect}, "after the gateway has it": {Mode: fake.UnknownAfterEffect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDesk(t)
			id := d.reserved(t, d.paid(t))
			ctx, cut := context.WithCancel(t.Context())
			d.serve(cuttingGateway{Gateway: d.gateway, cut: cut})
			d.gateway.Script(fake.CreateRefund, mode)

			_, err := d.TryRefund(ctx, id, models.GatewayA)
			require.Error(t, err)
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status, "nothing has to be waited for")
			require.Equal(t, "60.00", d.gateway.Refunded().String())
			require.Len(t, d.gateway.Refunds(), 1)
		})
	}
}

// cuttingGateway ends the try while its refund is under way.
type cuttingGateway struct {
	*fake.Gateway

	cut context.CancelFunc
}

func (g cuttingGateway) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	made, err := g.Gateway.CreateRefund(ctx, r)
	g.cut()

	return made, err
}

// Where a sending that was cut off has to be waited for, at one account of the gateway, there is none that is cut off.
func TestTryRefundWhereItCannotBeSentAgainAtOnce(t *testing.T) {
	t.Parallel()

	for _, how := range []gateways.Settlement{gateways.SettledByReference, gateways.SettledBySum} {
		for _, account := range []models.MerchantAccount{models.AccountGatewayA, models.GatewayA.Backup()} {
			t.Run(string(how)+" at "+string(account), func(t *testing.T) {
				t.Parallel()

				d := newDesk(t)
				id := d.reserved(t, d.paid(t))
				other := fake.New()
				other.Can.Refunds = how
				d.Gateways = map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: d.gateway}
				d.Gateways[account] = other

				_, err := d.TryRefund(t.Context(), id, models.GatewayA)
				require.ErrorContains(t, err, "NOT_AT_ONCE")
				require.False(t, requireApplicationError(t, err).NonRetryable())
				require.Zero(t, d.gateway.Calls(fake.CreateRefund))
				require.Zero(t, other.Calls(fake.CreateRefund))
			})
		}
	}
}

func TestTryRefundHasSlotsForEachGateway(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	slots := semaphore.NewWeighted(1)
	d.FirstTries = map[models.Gateway]*semaphore.Weighted{models.GatewayA: slots}

	require.True(t, slots.TryAcquire(1))

	_, err := d.TryRefund(t.Context(), id, models.GatewayA)
	require.ErrorContains(t, err, "NO_SLOT")
	require.Zero(t, d.gateway.Calls(fake.CreateRefund))

	slots.Release(1)

	result, err := d.TryRefund(t.Context(), id, models.GatewayA)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, result.Status)
	require.True(t, slots.TryAcquire(1), "the slot is given back")
}
