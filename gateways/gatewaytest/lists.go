package gatewaytest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

// maxListed bounds the pages that a list may have here.
const maxListed = 50

// testListedCheckouts: what was made since is in the list with its state, whatever became of it, page by page and once.
func testListedCheckouts(t *testing.T, s Subject) {
	t.Helper()

	lister, ok := s.Gateway.(gateways.CheckoutLister)
	require.True(t, ok)

	began := time.Now().Add(-time.Minute)
	made := map[uuid.UUID]gateways.CheckoutStatus{}

	for i := range 3 {
		if i == 0 {
			made[paid(t, s).MerchantReference] = gateways.CheckoutPaid
		} else {
			made[open(t, s).MerchantReference] = gateways.CheckoutOpen
		}
	}

	found := map[uuid.UUID]gateways.CheckoutStatus{}

	for from, pages := "", 0; pages == 0 || from != ""; pages++ {
		require.Less(t, pages, maxListed, "the list has no end")

		page, next, err := lister.ListCheckouts(t.Context(), began, from)
		require.NoError(t, err)

		for _, c := range page {
			require.NotContains(t, found, c.MerchantReference, "listed twice")

			found[c.MerchantReference] = c.Status
		}

		from = next
	}

	for reference, status := range made {
		require.Equal(t, status, found[reference])
	}

	later, next, err := lister.ListCheckouts(t.Context(), time.Now().Add(time.Hour), "")
	require.NoError(t, err)
	require.Empty(t, later)
	require.Empty(t, next)
}

// testListedRefunds: likewise, with the payment that the refund is of.
func testListedRefunds(t *testing.T, s Subject) {
	t.Helper()

	lister, ok := s.Gateway.(gateways.RefundLister)
	require.True(t, ok)

	began := time.Now().Add(-time.Minute)
	paid := paid(t, s)
	refund := refundOf(paid, "10.00")

	_, err := s.Gateway.CreateRefund(t.Context(), refund)
	require.NoError(t, err)

	page, _, err := lister.ListRefunds(t.Context(), began, "")
	require.NoError(t, err)

	i := slices.IndexFunc(page, func(l gateways.ListedRefund) bool { return l.MerchantReference == refund.MerchantReference })
	require.GreaterOrEqual(t, i, 0, "the refund is listed")
	require.Equal(t, "10.00", page[i].Amount.String())
	require.True(t, page[i].CheckoutID == paid.ID || page[i].PaymentID != "", "its payment is named")
}
