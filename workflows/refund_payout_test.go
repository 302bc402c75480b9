package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/models"
	"rihla/workflows"
)

// byHand is a refund that no gateway can make.
func byHand() models.ReservedRefund {
	r := reserved
	r.Channel = models.RefundByHand

	return r
}

// decided says that finance staff have decided.
func (w *world) decided() { w.SignalWorkflow(workflows.SignalPayout, nil) }

func TestRefundByHand(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		settled models.SettledRefund
		status  string
		review  bool
	}{
		"paid out":              {models.SettledRefund{Status: models.RefundSucceeded, Queued: 2}, "REFUND_SUCCEEDED", false},
		"rejected":              {models.SettledRefund{Status: models.RefundFailed}, "REFUND_FAILED", false},
		"rejected, but is owed": {models.SettledRefund{Status: models.RefundFailed, NeedsReview: true}, "REFUND_FAILED", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(t), newRefund()
			w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(byHand(), nil).Once()
			w.settlesRefund(r, models.RefundResult{}, c.settled)

			var got *answer[models.SettledRefund]

			w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })
			w.at(time.Hour, func() {
				require.Equal(t, models.SettledRefund{Status: models.RefundPending}, got.value)
				require.WithinDuration(t, began, got.at, time.Second, "the caller is not kept waiting")
				require.Equal(t, "REFUND_NEEDS_PAYOUT", w.paymentStatus())
				require.True(t, w.needsReview())
			})
			w.at(9*24*time.Hour, w.decided)

			require.Equal(t, c.settled, w.giveBack(r), "no gateway hears of it")
			require.WithinDuration(t, began.Add(9*24*time.Hour), w.Now(), time.Second)
			require.Equal(t, c.status, w.paymentStatus())
			require.Equal(t, c.review, w.needsReview())
		})
	}
}

// The database has the decision: a word that comes too early, twice or after a restart changes nothing.
func TestRefundByHandThatIsToldTooOften(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(byHand(), nil).Once()
	w.settlesRefund(r, models.RefundResult{}, models.SettledRefund{Status: models.RefundPending})
	w.settlesRefund(r, models.RefundResult{}, refunded)
	w.at(time.Hour, w.decided)
	w.at(time.Hour, w.event)
	w.at(2*time.Hour, func() { w.decided(); w.decided(); w.decided() })

	require.Equal(t, refunded, w.giveBack(r))
}
