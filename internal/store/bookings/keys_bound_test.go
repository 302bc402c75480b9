package bookings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// A request that failed may be tried again, but only as it was: what it has set going must not answer for another one.
func TestReleasedKeyStaysBound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()
	other := k
	other.BodyHash = []byte("other")

	for range 2 {
		claim, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
		require.NoError(t, err)
		require.NoError(t, b.Store.DB.ReleaseKey(t.Context(), claim.ID))

		_, err = b.Store.DB.ClaimKey(t.Context(), other, time.Minute)
		bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)
	}
}

func TestRefundIDIsBound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Ask(tx, "40.00")
	b.Reserve(t, r)

	more, full := r, r
	more.Amount = bookstest.Amount("40.01")
	full.Type, full.Amount = models.RefundFull, nil

	for _, other := range []models.RefundRequest{more, full} {
		_, err := b.Store.Refunds.OrderRefund(t.Context(), other, time.Now())
		bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)
	}

	require.Equal(t, "40.00", b.Reserve(t, r).Amount.String())
	require.Equal(t, "40.00", b.Transaction(t, tx.ID).RefundReservedAmount.String())
}

// An old attempt is paid after all while a newer one is open: the paid one counts, and the newer one has to be closed.
func TestPaidAttemptWithAnOpenSibling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)
	b.Report(t, first, models.EventPaymentFailed)
	second := b.Open(t, booking, 2)

	latest, err := b.Store.Bookings.LatestAttempt(t.Context(), booking.ID)
	require.NoError(t, err)
	require.Equal(t, second.ID, latest.ID)

	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))
	require.Equal(t, models.Settled{
		Moved: true, Status: models.TransactionPaid, Queued: 2, Sibling: second.ID, SiblingGateway: second.Gateway,
	}, b.Settle(t, first, time.Now()))
	require.Equal(t, second.ID, b.Settle(t, first, time.Now()).Sibling, "the first answer may have been lost")

	latest, err = b.Store.Bookings.LatestAttempt(t.Context(), booking.ID)
	require.NoError(t, err)
	require.Equal(t, first.ID, latest.ID)

	_, err = b.Store.Payments.EndPayment(t.Context(), second.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)
	require.Equal(t, models.Settled{Status: models.TransactionPaid}, b.Settle(t, first, time.Now()))
}

// The same of a campaign: its provider must not pay twice either.
func TestPaidCampaignWithAnOpenSibling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today, today.AddDays(3))
	first := b.OpenCampaign(t, campaign, 1)
	b.Report(t, first, models.EventPaymentFailed)
	second := b.OpenCampaign(t, campaign, 2)

	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))

	s := b.Settle(t, first, time.Now())
	require.Equal(t, models.TransactionPaid, s.Status)
	require.Equal(t, campaign, s.Campaign)
	require.Equal(t, second.ID, s.Sibling)
	require.Equal(t, second.Gateway, s.SiblingGateway)

	_, err := b.Store.Payments.EndPayment(t.Context(), second.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)
	require.Zero(t, b.Settle(t, first, time.Now()).Sibling)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'ACTIVE'", campaign))
}
