package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// refused is a gateway's 403, as after a change of keys.
var refused = fake.Fault{Mode: fake.Rejected, Code: "forbidden"}

// A question that is refused says nothing about the money: only the refusal of the refund itself is a decision.
func TestRefundWhoseQuestionIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.UnknownAfterEffect})

	_, err := d.RefundAtGateway(t.Context(), id)
	require.Error(t, err)

	d.gateway.Script(fake.FindRefund, refused, refused)

	for range 2 {
		result, err := d.RefundAtGateway(t.Context(), id)
		require.False(t, requireApplicationError(t, err).NonRetryable())
		require.Empty(t, result.Status, "the refund is not called failed")
	}

	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
	require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund))
	require.Equal(t, "60.00", d.gateway.Refunded().String())

	other := d.reserved(t, d.paid(t))
	d.gateway.Script(fake.CreateRefund, refused)
	require.Equal(t, models.RefundFailed, d.refundAtGateway(t, other).Status)
}

func TestCloseCheckoutWhoseQuestionIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.opened(t)
	require.NoError(t, d.gateway.Pay(a.ID()))
	d.gateway.Script(fake.GetCheckout, refused, refused)

	for range 2 {
		require.False(t, requireApplicationError(t, d.CloseCheckout(t.Context(), a.ID())).NonRetryable())
		require.Equal(t, models.TransactionPending, d.settle(t, a).Status)
	}

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)
}

// The gateway refuses to cancel, and it is not because the checkout was paid: it can still be paid.
func TestCloseCheckoutThatStaysOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.opened(t)
	d.gateway.Script(fake.CancelCheckout, refused, refused)

	require.ErrorContains(t, d.CloseCheckout(t.Context(), a.ID()), "open")

	d.gateway.Script(fake.GetCheckout, fake.Fault{}, refused)
	require.False(t, requireApplicationError(t, d.CloseCheckout(t.Context(), a.ID())).NonRetryable())

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, gateways.CheckoutCanceled, d.gateway.Checkouts()[0].Status)
}

// end ends the attempt in the database alone, as a cancelled booking does.
func (d *desk) end(t *testing.T, a models.Attempt, why models.FailureCode) {
	t.Helper()

	s, err := d.EndPayment(t.Context(), activities.End{TransactionID: a.ID(), Why: why})
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, s.Status)
}

func TestCloseCheckoutOfAnAttemptThatHasEnded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	for _, why := range []models.FailureCode{models.FailureCancelled, models.FailureExpired} {
		a := d.opened(t)
		d.end(t, a, why)
		require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))

		at, err := d.gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: a.ID()})
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutCanceled, at.Status, why)
		require.Equal(t, why, d.settle(t, a).Failure)
	}

	// The second attempt has paid for the booking when the gateway says that the first was paid, too.
	first := d.opened(t)
	d.end(t, first, models.FailureCancelled)

	second := first
	second.Number = 2
	_, err := d.OpenCheckout(t.Context(), second)
	require.NoError(t, err)
	require.NoError(t, d.gateway.Pay(second.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), second.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, second).Status)

	require.NoError(t, d.gateway.Pay(first.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), first.ID()))
	require.True(t, d.settle(t, first).RefundOwed)

	asked := d.gateway.Calls(fake.GetCheckout)
	require.NoError(t, d.CloseCheckout(t.Context(), first.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), second.ID()))
	require.Equal(t, asked, d.gateway.Calls(fake.GetCheckout), "where the money is, is known")
}

// The answer to the opening was lost and the attempt is cancelled meanwhile: its checkout must not stay payable.
func TestOpenCheckoutOfACancelledAttempt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(t)
	d.openUnheard(t, a)
	d.end(t, a, models.FailureCancelled)

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.FailureCancelled, c.Failure)
	require.Equal(t, gateways.CheckoutCanceled, d.gateway.Checkouts()[0].Status)
	require.Equal(t, 1, d.gateway.Calls(fake.CreateCheckout))
}

// The gateway refuses a refund while it is still at an earlier request for the same one: that is no refusal of the refund.
func TestRefundThatIsRefusedAndMadeAllTheSame(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.serve(slowRefunds{d.gateway})

	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
	require.Equal(t, "60.00", d.gateway.Refunded().String())

	other := d.reserved(t, d.paid(t))
	d.serve(d.gateway)
	d.gateway.Script(fake.CreateRefund, refused)
	d.gateway.Script(fake.FindRefund, fake.Fault{}, refused) // the second question is refused, too

	_, err := d.RefundAtGateway(t.Context(), other)
	require.False(t, requireApplicationError(t, err).NonRetryable())
	require.Equal(t, models.RefundFailed, d.refundAtGateway(t, other).Status, "its only sending was refused")
	require.Equal(t, 2, d.gateway.Calls(fake.CreateRefund), "and is not repeated: 1 of each refund")
}

// slowRefunds makes refunds and says that it has not.
type slowRefunds struct{ *fake.Gateway }

func (s slowRefunds) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	if made, err := s.Gateway.CreateRefund(ctx, r); err != nil {
		return made, err
	}

	return gateways.Refund{}, &gateways.Error{Kind: gateways.KindRejected, Code: "in_progress"}
}
