package gateways_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

// TestSummary: details are whole or left out.
func TestSummary(t *testing.T) {
	t.Parallel()

	r := gateways.CheckoutRequest{Description: "Umrah (RB-1)", Details: []string{"Seats: 2", "VAT included: 150.00 SAR"}}

	require.Equal(t, "Umrah (RB-1) · Seats: 2 · VAT included: 150.00 SAR", r.Summary(100))
	require.Equal(t, "Umrah (RB-1) · Seats: 2", r.Summary(40))
	require.Equal(t, "Umrah (RB-1)", r.Summary(5))

	r.Description = " "
	require.Empty(t, r.Summary(100))
}
