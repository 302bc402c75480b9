package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// Checkouts that are asked for a second time.

// The answer to the first try was lost, and what the gateway is asked for has changed since: it refuses, and has the checkout.
func TestOpenCheckoutThatWasMadeBefore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.openUnheard(t, a)

	_, err := d.db.ExecContext(t.Context(), "UPDATE trips SET title = 'Another title' WHERE id = $1", d.world.Trip.ID)
	require.NoError(t, err)
	d.gateway.Script(fake.FindCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	_, err = d.OpenCheckout(t.Context(), a)
	require.Error(t, err, "whether there is one is not known")

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)
	require.Equal(t, d.gateway.Checkouts()[0].URL, *d.transaction(t, a).CheckoutURL)
}

// A gateway that refuses both says nothing about what an earlier try has made.
func TestOpenCheckoutThatWasMadeBeforeAndIsNotShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.openUnheard(t, a)
	d.gateway.Script(fake.CreateCheckout, refused)
	d.gateway.Script(fake.FindCheckout, refused)

	_, err := d.OpenCheckout(t.Context(), a)
	require.False(t, requireApplicationError(t, err).NonRetryable())
	require.Equal(t, models.TransactionPending, d.transaction(t, a).Status)

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)
	require.Len(t, d.gateway.Checkouts(), 1)
}

// It refuses both the first time that it is asked: there is nothing that it could have made.
func TestOpenCheckoutThatIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.gateway.Script(fake.CreateCheckout, refused)
	d.gateway.Script(fake.FindCheckout, refused)

	c, err := d.OpenCheckout(t.Context(), d.attempt(t))
	require.NoError(t, err)
	require.Equal(t, models.FailureGatewayRejected, c.Failure)
}

// A checkout that was made and closed meanwhile is not handed out: it could not be paid.
func TestOpenCheckoutThatWasMadeAndClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.openUnheard(t, a)
	d.gateway.Script(fake.CancelCheckout, fake.Fault{Mode: fake.UnknownAfterEffect})
	require.Error(t, d.CloseCheckout(t.Context(), a.ID()))

	d.serve(forgetsThatItClosed{d.gateway})
	c, err := d.AwaitCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.FailureCancelled, c.Failure)
}

// forgetsThatItClosed answers a repeated request as it did the first time, as idempotency keys have it.
type forgetsThatItClosed struct{ *fake.Gateway }

func (f forgetsThatItClosed) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	c, err := f.Gateway.CreateCheckout(ctx, r)
	c.Status = gateways.CheckoutOpen

	return c, err
}

// The gateway is back when the time to pay is over: a checkout that could not be paid any more is not made. The attempt expires.
func TestOpenCheckoutThatHasExpired(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})
	_, err := d.OpenCheckout(t.Context(), a)
	require.Error(t, err)

	d.Now = func() time.Time { return time.Now().Add(31 * time.Minute) }
	c, err := d.AwaitCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)
	require.True(t, c.ExpiresAt.Before(d.Now()))
	require.Empty(t, d.gateway.Checkouts())

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	d.end(t, a, models.FailureExpired)
}

// The second try reads what the first one has written, and asks for the same.
func TestOpenCheckoutOfACampaignWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.campaignAttempt(t)
	d.openUnheard(t, a)

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)
	require.Equal(t, 1, d.gateway.Calls(fake.FindCheckout), "it is still open")
	require.Len(t, d.gateway.Checkouts(), 1)
}
