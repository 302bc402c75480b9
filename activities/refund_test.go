package activities_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/store/incidents"
	"rihla/models"
)

func (d *desk) refundAtGateway(t *testing.T, id uuid.UUID) models.RefundResult {
	t.Helper()

	result, err := d.RefundAtGateway(t.Context(), id)
	require.NoError(t, err)

	return result
}

func TestRefundAtGateway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	id := d.reserved(t, a)

	for range 3 { // however often it is tried
		require.Equal(t, models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re_" + id.String()}, d.refundAtGateway(t, id))
	}

	require.Len(t, d.gateway.Refunds(), 1)
	require.Equal(t, "60.00", d.gateway.Refunded().String())

	told := d.queued.Load()
	decision := activities.RefundDecision{RefundID: id, Result: d.refundAtGateway(t, id)}

	for range 2 {
		s, err := d.SettleRefund(t.Context(), decision)
		require.NoError(t, err)
		require.Equal(t, models.RefundSucceeded, s.Status)
	}

	require.Equal(t, told+1, d.queued.Load())
	require.Equal(t, "60.00", d.transaction(t, a).RefundedAmount.String())
}

// Whatever the gateway leaves unknown, and in whatever order, the money goes back once.
func TestRefundAtGatewayWithUnknownOutcomes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	before, after := fake.Fault{Mode: fake.UnknownBeforeEffect}, fake.Fault{Mode: fake.UnknownAfterEffect}
	busy := fake.Fault{Mode: fake.RateLimited}

	for name, script := range map[string]map[fake.Operation][]fake.Fault{
		"lost on the way there":    {fake.CreateRefund: {before, before}},
		"lost on the way back":     {fake.CreateRefund: {after}},
		"lost, and then no answer": {fake.CreateRefund: {after}, fake.FindRefund: {{}, before, busy}},
		"busy at first":            {fake.CreateRefund: {busy, after}},
	} {
		a := d.paid(t)
		id := d.reserved(t, a)

		for op, faults := range script {
			d.gateway.Script(op, faults...)
		}

		paidBack := d.gateway.Refunded()

		result, err := d.RefundAtGateway(t.Context(), id)
		for tries := 0; err != nil; tries++ {
			require.Less(t, tries, 10, name)
			require.False(t, requireApplicationError(t, err).NonRetryable(), name)

			result, err = d.RefundAtGateway(t.Context(), id)
		}

		require.Equal(t, models.RefundSucceeded, result.Status, name)
		require.Equal(t, "60.00", d.gateway.Refunded().Sub(paidBack).String(), name)
	}
}

func TestRefundAtGatewayAsksFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.gateway.Script(fake.FindRefund, fake.Fault{Mode: fake.UnknownBeforeEffect})

	_, err := d.RefundAtGateway(t.Context(), id)
	require.Error(t, err)
	require.Zero(t, d.gateway.Calls(fake.CreateRefund), "nothing is sent while it is unknown what was sent before")
}

// TestRefundAtAGatewayThatIsLeftAlone: the money has certainly not moved.
func TestRefundAtAGatewayThatIsLeftAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.serve(gateways.Guarded(d.gateway, gateways.Limits{BreakerFailures: 5, BreakerOpenFor: time.Minute}, gateways.Reports{}))
	d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.RateLimited, RetryAfter: time.Minute})

	for range 2 { // the gateway says so, and then its guard does
		result := d.refundAtGateway(t, id)
		require.Equal(t, models.RefundResult{Status: models.RefundPending, Delayed: true}, result)
	}

	_, err := d.AwaitRefund(t.Context(), id)
	require.Equal(t, string(models.CodeGatewayUnavailable), requireApplicationError(t, err).Type())
	require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund))

	d.serve(d.gateway)
	result, err := d.AwaitRefund(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, result.Status)
}

func TestRefundAtGatewayThatIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.reserved(t, d.paid(t))
	d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.Rejected, Code: "account_closed"})

	result := d.refundAtGateway(t, id)
	require.Equal(t, models.RefundFailed, result.Status)
	require.Equal(t, "account_closed", result.FailureReason, "the code alone: the words may name the customer, and this goes into the history")
	require.Empty(t, d.gateway.Refunds())

	_, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: result})
	require.NoError(t, err)

	r, err := d.Store.Refunds.RefundByID(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, r.FailureReason, "gateway rejected (account_closed)", "operators find the words here")
}

func TestRefundAtGatewayThatIsDecidedLater(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	for _, succeed := range []bool{true, false} {
		id := d.reserved(t, d.paid(t))
		d.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.Pending})

		for range 2 {
			require.Equal(t, models.RefundPending, d.refundAtGateway(t, id).Status)
		}

		r, err := d.Store.Refunds.RefundByID(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "re_"+id.String(), *r.GatewayRefundID)

		require.NoError(t, d.gateway.DecideRefund(id, succeed))

		want := models.RefundFailed
		if succeed {
			want = models.RefundSucceeded
		}

		require.Equal(t, want, d.refundAtGateway(t, id).Status)
	}
}

func TestRefundAtGatewayOfAnotherAmount(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	id := d.reserved(t, a)
	d.serve(miscounts{d.gateway})

	for range 3 {
		require.Equal(t, models.RefundResult{
			Status: models.RefundPending, GatewayRefundID: "re_" + id.String(), Mismatch: true,
		}, d.refundAtGateway(t, id), "it is neither settled nor an error for ever")
	}

	require.True(t, d.transaction(t, a).RefundedAmount.IsZero())
	require.Equal(t, "60.00", d.transaction(t, a).RefundReservedAmount.String())

	open, err := d.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Kind: models.IncidentRefundMismatch})
	require.NoError(t, err)
	require.Len(t, open.Items, 1)
	require.Equal(t, id, *open.Items[0].RefundID)
	require.Contains(t, fmt.Sprint(open.Items[0].Details), "60.01")

	d.serve(d.gateway) // the company has corrected it
	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
}

// The code of a currency is the same in small letters.
func TestRefundAtGatewayInSmallLetters(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	id := d.reserved(t, a)
	d.serve(smallLetters{d.gateway})
	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)

	s, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: d.refundAtGateway(t, id)})
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, s.Status)
}

// smallLetters is a gateway that writes currencies so.
type smallLetters struct{ *fake.Gateway }

func (g smallLetters) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	out, err := g.Gateway.CreateRefund(ctx, r)
	out.Currency = strings.ToLower(out.Currency)

	return out, err
}

func (g smallLetters) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	out, err := g.Gateway.ReadRefund(ctx, r)
	out.Currency = strings.ToLower(out.Currency)

	return out, err
}

func TestRefundThatDoesNotExist(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.RefundAtGateway(t.Context(), uuid.New())
	require.True(t, requireApplicationError(t, err).NonRetryable())
	_, err = d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: uuid.New()})
	require.Equal(t, string(models.CodeNotFound), requireApplicationError(t, err).Type())
	_, err = d.ReadRefundOrder(t.Context(), models.RefundOrder{ID: uuid.New()})
	require.Equal(t, string(models.CodeNotFound), requireApplicationError(t, err).Type())
	_, err = d.AdvanceCampaign(t.Context(), uuid.New(), time.Now())
	require.Equal(t, string(models.CodeNotFound), requireApplicationError(t, err).Type())
}
