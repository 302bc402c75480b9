package refunds_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// said has the gateway say that it has given so much back of the payment.
func (b *books) said(t *testing.T, payment uuid.UUID, refunded string) refunds.Compared {
	t.Helper()

	mark, err := b.Store.Refunds.BeginComparison(t.Context(), payment)
	require.NoError(t, err)

	out, err := b.Store.Refunds.CompareRefunded(t.Context(), payment, mark, nil, refunds.GatewaySums{
		Refunded: models.MustMoney(refunded), Currency: "sar",
	})
	require.NoError(t, err)

	return out
}

func (b *books) held(t *testing.T, payment uuid.UUID) string {
	t.Helper()

	return b.Transaction(t, payment).OutsideRefundedAmount.String()
}

// TestRefundedOutside: what a gateway gave back without an order is booked once, counts against what is left, and is named in an incident;
// the books add up after each word of it.
func TestRefundedOutside(t *testing.T) {
	t.Parallel()

	b := setup(t)
	paid := b.Paid(t, 1).ID

	for _, step := range []struct{ says, outside string }{
		{"0.00", "0.00"},
		{"20.00", "20.00"},
		{"20.00", "20.00"}, // again
		{"35.00", "35.00"},
		{"35.00", "35.00"},
		{"5.00", "5.00"}, // most of it failed
		{"5.00", "5.00"},
	} {
		require.Equal(t, step.outside, b.said(t, paid, step.says).Outside.String())
		require.Equal(t, step.outside, b.held(t, paid))
	}

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM outside_refunds"))
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind LIKE 'OUTSIDE_REFUND%'"))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'OUTSIDE_REFUND' AND status = 'OPEN'
		AND jsonb_array_length(details -> 'events') = 3`))
	now := b.Transaction(t, paid)
	require.Equal(t, "110.00", now.Remaining().String())
}

// TestRefundedOutsideAtOnce: the same word, heard by many at once, is booked once.
func TestRefundedOutsideAtOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	paid := b.Paid(t, 1).ID

	mark, err := b.Store.Refunds.BeginComparison(t.Context(), paid)
	require.NoError(t, err)

	var all sync.WaitGroup

	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = b.Store.Refunds.CompareRefunded(t.Context(), paid, mark, nil, refunds.GatewaySums{
				Refunded: models.MustMoney("20.00"), Currency: models.Currency,
			})
		})
	}

	all.Wait()

	for _, err := range errs {
		require.NoError(t, err)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM outside_refunds"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'OUTSIDE_REFUND'"))
}

// TestRefundedOutsideWhileOursGoesOn: an answer from before a refund of ours changed proves nothing.
func TestRefundedOutsideWhileOursGoesOn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	paid := b.Paid(t, 1).ID

	mark, err := b.Store.Refunds.BeginComparison(t.Context(), paid)
	require.NoError(t, err)

	amount := models.MustMoney("60.00")
	r, err := b.Store.Refunds.OrderRefund(t.Context(), models.RefundRequest{
		ID: uuid.New(), TransactionID: paid, Type: models.RefundPartial, Amount: &amount,
	}, time.Now())
	require.NoError(t, err)

	out, err := b.Store.Refunds.CompareRefunded(t.Context(), paid, mark, nil, refunds.GatewaySums{
		Refunded: models.MustMoney("60.00"), Currency: models.Currency,
	})
	require.NoError(t, err)
	require.True(t, out.Changed)
	require.Equal(t, "0.00", b.held(t, paid))

	// It was never sent, so that all of this is of the dashboard: of 115.00 it leaves no room for the refund.
	out = b.said(t, paid, "80.00")
	require.Equal(t, "80.00", out.Outside.String())
	require.Equal(t, "25.00", out.Over.String())
	require.Equal(t, "55.00", b.held(t, paid))
	b.RequireBooks(t)

	unsent, err := b.Store.Refunds.GiveUpUnsent(t.Context(), r.ID)
	require.NoError(t, err)
	require.True(t, unsent)

	settled, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundFailed}, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundFailed, settled.Status)
	require.Equal(t, "80.00", b.held(t, paid), "the room that the refund leaves is filled")
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds WHERE failure_code = 'REFUNDED_OUTSIDE'"))

	// All that is left goes back, and the booking is cancelled with it.
	full, err := b.Store.Refunds.OrderRefund(t.Context(), models.RefundRequest{
		ID: uuid.New(), TransactionID: paid, Type: models.RefundFull,
	}, time.Now())
	require.NoError(t, err)
	require.Equal(t, "35.00", full.Amount.String())
}

// TestRefundInTheDashboardIsHeardOf: a message about a refund that was not ordered here names a checkout that is known. It is kept with its
// payment, answered as received, and the gateway is asked; one that names a refund of ours and another's checkout is not believed.
func TestRefundInTheDashboardIsHeardOf(t *testing.T) {
	t.Parallel()

	for name, reference := range map[string]string{
		"the payment's own": "", "of nobody": uuid.NewString(), "no id": "order-1", "none": "none",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			paid := b.Paid(t, 1)
			e := bookstest.Event(paid, models.EventRefundSucceeded, func(e *models.WebhookEvent) {
				switch reference {
				case "":
				case "none":
					e.MerchantReference = ""
				default:
					e.MerchantReference = reference
				}
			})

			stored := b.Deliver(t, e)
			require.True(t, stored.Known && stored.Ask, "%+v", stored)
			require.False(t, stored.Deliver || stored.Duplicate)
			require.Equal(t, "IGNORED", b.Outcome(t, e))

			again := b.Deliver(t, e)
			require.True(t, again.Known && again.Duplicate)

			require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents"))
			require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM webhook_events WHERE type = 'refund.succeeded' AND transaction_id = $1
				AND refund_id IS NULL`, paid.ID))

			asked, err := b.Store.Payments.ClaimRechecks(t.Context(), paid.Channel, time.Minute, 9, time.Now().Add(time.Second))
			require.NoError(t, err)
			require.Len(t, asked, 1)
			require.Equal(t, "20.00", b.said(t, paid.ID, "20.00").Outside.String())
		})
	}

	b := setup(t)
	paid := b.Paid(t, 1)
	r := b.GiveBack(t, b.Paid(t, 1), "10.00")
	stored := b.Deliver(t, bookstest.Event(paid, models.EventRefundSucceeded, func(e *models.WebhookEvent) { e.MerchantReference = r.ID.String() }))
	require.False(t, stored.Known || stored.Ask)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_REFERENCE'"))
}
