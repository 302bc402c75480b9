package worker_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
	"rihla/worker/reconcile"
)

// listed is a gateway whose company has lists.
type listed struct{ *fake.Gateway }

func (g listed) ListCheckouts(context.Context, time.Time, string) ([]gateways.Checkout, string, error) {
	return g.Checkouts(), "", nil
}

func (g listed) ListRefunds(context.Context, time.Time, string) (all []gateways.ListedRefund, next string, err error) {
	for _, r := range g.Refunds() {
		all = append(all, gateways.ListedRefund{Refund: r})
	}

	return all, "", nil
}

func (h *testEnv) reconcile(t *testing.T, how reconcile.Options) *reconcile.Report {
	t.Helper()

	one := reconcile.Reconciler{
		Store: h.store, Workflows: h.Client, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Accounts: []reconcile.Account{{
			Name: models.AccountGatewayA, Driver: "fake", Channels: []models.Channel{models.ChannelGatewayA}, Gateway: h.gateway, Rate: 1000,
			Checkouts: listed{h.gateway}, Refunds: listed{h.gateway},
			ChannelOf: func(models.PaymentMethod) models.Channel { return models.ChannelGatewayA },
		}},
	}
	how.Since, how.Back = time.Now().Add(-time.Minute), time.Hour

	r, err := one.Run(t.Context(), how)
	require.NoError(t, err)

	var out strings.Builder

	require.NoError(t, r.Print(&out))
	require.Contains(t, out.String(), "Only a statement can tell")

	return r
}

func kinds(r *reconcile.Report) (all []reconcile.Kind) {
	for _, f := range r.Findings {
		all = append(all, f.Kind)
	}

	return all
}

// A payment whose webhook was lost with the books, and an orchestrator that knows nothing of it.
func TestReconcileBringsInWhatWasPaid(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	paid, waits := h.attempt(t), h.attempt(t)
	h.start(t, paid)
	h.start(t, waits)
	require.NoError(t, h.gateway.Pay(paid.ID()))

	for _, a := range []models.Attempt{paid, waits} {
		require.NoError(t, h.Terminate(t.Context(), models.PaymentWorkflowID(a.ID()), "lost"))
	}

	dry := h.reconcile(t, reconcile.Options{DryRun: true})
	require.Equal(t, []reconcile.Kind{reconcile.PaidThere}, kinds(dry))
	require.Zero(t, dry.Changes())
	require.Equal(t, map[string]int{"payments": 2}, dry.Started)

	first := h.reconcile(t, reconcile.Options{})
	require.True(t, first.Whole())
	require.Equal(t, []reconcile.Kind{reconcile.PaidThere}, kinds(first))
	require.Equal(t, map[string]int{"payments": 1}, first.Started, "that of the unpaid one; an event settles the other")
	h.becomes(t, paid, models.TransactionPaid)

	again := h.reconcile(t, reconcile.Options{})
	require.Empty(t, again.Findings)
	require.Zero(t, again.Changes(), "a second run changes nothing")

	require.NoError(t, h.gateway.Pay(waits.ID()))
	h.webhook(t, waits, models.EventPaymentSucceeded)
	h.becomes(t, waits, models.TransactionPaid)
}

// What the gateway has and the books do not.
func TestReconcileOfWhatTheBooksDoNotHave(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)

	var open, paid gateways.Checkout

	for _, into := range []*gateways.Checkout{&open, &paid} {
		c, err := h.gateway.CreateCheckout(t.Context(), gateways.CheckoutRequest{
			MerchantReference: uuid.New(), Amount: models.MustMoney("115.00"), Currency: models.Currency, Method: models.MethodCreditCard,
			CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
		})
		require.NoError(t, err)

		*into = c
	}

	require.NoError(t, h.gateway.Pay(paid.MerchantReference))

	first := h.reconcile(t, reconcile.Options{})
	require.ElementsMatch(t, []reconcile.Kind{reconcile.UnknownOpen, reconcile.UnknownMoney}, kinds(first))
	require.Equal(t, 1, first.Changes()-first.Started["incidents"], "an open checkout of unknown origin stays open")

	unfinished, err := h.store.Payments.Overdue(t.Context(), time.Now())
	require.NoError(t, err)
	require.Equal(t, 1, unfinished.Incidents[models.IncidentUnknownReference])

	closing := h.reconcile(t, reconcile.Options{CloseUnknown: true})
	require.Equal(t, 1, closing.Changes(), "the open one is closed")

	c, err := h.gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: open.ID, MerchantReference: open.MerchantReference})
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutCanceled, c.Status)

	require.Zero(t, h.reconcile(t, reconcile.Options{CloseUnknown: true}).Changes())
}

// Refunds of the books that the gateway has made, and one that it made by itself.
func TestReconcileOfRefunds(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	a := h.attempt(t)
	h.start(t, a)
	require.NoError(t, h.gateway.Pay(a.ID()))
	h.webhook(t, a, models.EventPaymentSucceeded)
	tx := h.becomes(t, a, models.TransactionPaid)

	amount := models.MustMoney("10.00")
	request := models.RefundRequest{ID: uuid.New(), BookingID: a.BookingID, Type: models.RefundPartial, Amount: &amount}
	_, err := h.store.Refunds.OrderRefund(t.Context(), request, time.Now())
	require.NoError(t, err)
	_, err = h.gateway.CreateRefund(t.Context(), gateways.RefundRequest{
		Checkout:          gateways.CheckoutRef{ID: *tx.Reference, MerchantReference: tx.ID, Amount: tx.Amount, Currency: tx.Currency},
		MerchantReference: request.ID, Amount: amount, Currency: tx.Currency,
	})
	require.NoError(t, err)

	first := h.reconcile(t, reconcile.Options{})
	require.Equal(t, []reconcile.Kind{reconcile.RefundSent, reconcile.RefundDecided}, kinds(first))
	require.Eventually(t, func() bool {
		r, err := h.store.Refunds.RefundByID(t.Context(), request.ID)

		return err == nil && r.Status == models.RefundSucceeded
	}, 20*time.Second, 20*time.Millisecond)

	h.gateway.RefundInDashboard(a.ID(), models.MustMoney("5.00"))

	outside := h.reconcile(t, reconcile.Options{})
	require.Equal(t, []reconcile.Kind{reconcile.OutsideRefund}, kinds(outside))
	require.Positive(t, outside.Changes())
	require.Equal(t, "5.00", h.becomes(t, a, models.TransactionPaid).OutsideRefundedAmount.String())
	require.Zero(t, h.reconcile(t, reconcile.Options{}).Changes())
}

// A gateway that does not answer is named, and asked no longer after a few questions.
func TestReconcileOfASilentGateway(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	a := h.attempt(t)
	h.start(t, a)
	h.gateway.Always(fake.GetCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

	r := h.reconcile(t, reconcile.Options{})
	require.False(t, r.Whole())
	require.Equal(t, 1, r.Accounts[0].Unanswered)
}

// The books do not have an attempt that its workflow says is open: a new run opens it again, with the checkout that there is.
func TestRestartPayment(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	a := h.attempt(t)
	h.start(t, a)
	before := h.becomes(t, a, models.TransactionPending)

	c, err := h.RestartPayment(patient(t), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)
	require.Equal(t, *before.Reference, *h.becomes(t, a, models.TransactionPending).Reference)
	require.Len(t, h.gateway.Checkouts(), 1)

	runs, err := h.IsRunning(t.Context(), models.PaymentWorkflowID(a.ID()))
	require.NoError(t, err)
	require.True(t, runs)
}

// Money that was taken and went back before the books heard of either: both are brought in.
func TestReconcileOfWhatWasPaidAndGivenBack(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	a := h.attempt(t)
	h.start(t, a)
	require.NoError(t, h.gateway.Pay(a.ID()))
	h.gateway.RefundInDashboard(a.ID(), models.MustMoney("5.00"))

	require.Equal(t, []reconcile.Kind{reconcile.PaidThere}, kinds(h.reconcile(t, reconcile.Options{})))
	h.becomes(t, a, models.TransactionPaid)
	require.NotNil(t, h.becomes(t, a, models.TransactionPaid).RecheckAt, "the gateway is asked what went back")
	require.NoError(t, h.PollStatus(t.Context(), models.ChannelGatewayA))
	require.Eventually(t, func() bool {
		return h.becomes(t, a, models.TransactionPaid).OutsideRefundedAmount.String() == "5.00"
	}, 20*time.Second, 20*time.Millisecond)
	require.Empty(t, h.reconcile(t, reconcile.Options{}).Findings)
}
