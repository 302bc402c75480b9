package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// TestCheckoutThatIsPaidAgain: the gateway is asked, and tells of a second payment. It is owed, and goes back once, from the payment that
// took it; so it does when the worker is killed between the two, and when two ask at once.
func TestCheckoutThatIsPaidAgain(t *testing.T) {
	t.Parallel()

	for name, settled := range map[string]gateways.Settlement{
		"by key": gateways.SettledByKey, "by reference": gateways.SettledByReference, "by sum": gateways.SettledBySum,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.gateway.Can.Refunds = settled
			a := d.paid(t)
			payment := d.gateway.PayAgain(a.ID())
			debit := models.SecondDebitID(a.ID(), payment)

			for range 2 {
				due, err := d.Store.Payments.RecheckPayment(t.Context(), a.ID(), time.Now())
				require.NoError(t, err)
				require.True(t, due)
				require.NoError(t, d.ComparePayment(t.Context(), a.ID()))
			}

			refund, err := d.Store.Refunds.RefundByID(t.Context(), refunds.LateRefundID(debit))
			require.NoError(t, err)
			require.Equal(t, "115.00", refund.Amount.String())

			for range 2 {
				result := d.refundAtGateway(t, refund.ID)
				require.Equal(t, models.RefundSucceeded, result.Status)

				_, err = d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: refund.ID, Result: result})
				require.NoError(t, err)
			}

			require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund))
			require.Equal(t, "115.00", d.gateway.Again(payment).RefundedAmount.String(), "the second payment has given its money back")
			require.Equal(t, "0.00", d.gateway.Checkouts()[0].RefundedAmount.String(), "the first has not")
			require.Equal(t, models.TransactionPaid, d.transaction(t, a).Status)
			require.Equal(t, "0.00", d.transaction(t, a).OutsideRefundedAmount.String(), "what went back is of the second")

			require.NoError(t, d.ComparePayment(t.Context(), debit), "and no order of nobody's is seen in it")

			second, err := d.Store.Payments.TransactionByID(t.Context(), debit)
			require.NoError(t, err)
			require.Equal(t, "115.00", second.RefundedAmount.String())
			require.Equal(t, "0.00", second.OutsideRefundedAmount.String())
		})
	}
}

// TestCheckoutThatIsPaidTwiceAtOnce: both payments are there when the gateway is first asked. One settles the attempt with what was asked
// for, the other is found as soon as it is settled.
func TestCheckoutThatIsPaidTwiceAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.opened(t)
	require.NoError(t, d.gateway.Pay(a.ID()))
	payment := d.gateway.PayAgain(a.ID())

	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)

	due, err := d.Store.Payments.LateChecksDue(t.Context(), time.Now())
	require.NoError(t, err)
	require.Contains(t, due, d.transaction(t, a).Channel)

	require.NoError(t, d.ComparePayment(t.Context(), a.ID()))

	second, err := d.Store.Payments.TransactionByID(t.Context(), models.SecondDebitID(a.ID(), payment))
	require.NoError(t, err)
	require.Equal(t, "115.00", second.Amount.String())
	require.NotEqual(t, uuid.Nil, *second.ParentID)
}

// halfSaid is a gateway that does not say whether a checkout was paid more than once.
type halfSaid struct{ *fake.Gateway }

func (g halfSaid) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	c, err := g.Gateway.ReadCheckout(ctx, r)
	c.Others, c.OthersUnread = nil, true

	return c, err
}

// TestCheckoutOfWhichHalfIsSaid: what went back is compared, and the question stays due.
func TestCheckoutOfWhichHalfIsSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	d.gateway.PayAgain(a.ID())
	d.serve(halfSaid{d.gateway})
	d.gateway.RefundInDashboard(a.ID(), models.MustMoney("20.00"))

	due, err := d.Store.Payments.RecheckPayment(t.Context(), a.ID(), time.Now())
	require.NoError(t, err)
	require.True(t, due)
	require.NoError(t, d.ComparePayment(t.Context(), a.ID()))
	require.Equal(t, "20.00", d.transaction(t, a).OutsideRefundedAmount.String())
	require.NotNil(t, d.transaction(t, a).RecheckAt)

	d.serve(d.gateway)
	require.NoError(t, d.ComparePayment(t.Context(), a.ID()))
	require.Nil(t, d.transaction(t, a).RecheckAt)
}
