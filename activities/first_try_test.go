package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// hangingGateway answers no checkout before it is let go.
type hangingGateway struct {
	*fake.Gateway

	asked, letGo chan struct{}
}

func (g *hangingGateway) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	g.asked <- struct{}{}
	<-g.letGo

	return g.Gateway.CreateCheckout(ctx, r)
}

// A gateway that hangs has its slots filled, and no other one's: who finds none free has sent nothing, and comes by later.
func TestTryCheckoutHasSlotsForEachGateway(t *testing.T) {
	t.Parallel()

	const slots = 2

	d := newDesk(t)
	hangs := &hangingGateway{Gateway: d.gateway, asked: make(chan struct{}), letGo: make(chan struct{})}
	d.Gateways = map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: hangs, models.AccountWalletB: fake.New()}
	d.FirstTries = map[models.Gateway]*semaphore.Weighted{
		models.GatewayA: semaphore.NewWeighted(slots), models.GatewayWalletB: semaphore.NewWeighted(slots),
	}

	var tries errgroup.Group

	for range slots {
		a := d.attempt(t)

		tries.Go(func() error {
			_, err := d.TryCheckout(t.Context(), a)

			return err
		})
		<-hangs.asked
	}

	late := d.attempt(t)
	_, err := d.TryCheckout(t.Context(), late)
	require.ErrorContains(t, err, "NO_SLOT")

	_, err = d.Store.Payments.TransactionByID(t.Context(), late.ID())
	require.Equal(t, models.CodeNotFound, models.CodeOf(err), "not even its row is written")

	other := d.attempt(t)
	other.Method = models.MethodWalletB
	c, err := d.TryCheckout(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)

	close(hangs.letGo)
	require.NoError(t, tries.Wait())

	go func() { <-hangs.asked }()

	_, err = d.TryCheckout(t.Context(), late)
	require.NoError(t, err, "slots are given back")
}
