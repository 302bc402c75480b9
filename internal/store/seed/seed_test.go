package seed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/seed"
)

// What is made up must agree to the halala, as setup's audit at the end says, also beside what is there already.
func TestGrow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Paid(t, 1)

	var told []int

	wanted := seed.Seed{Records: 2500, Seed: 7, Now: time.Now(), Password: "none", Progress: func(n int) { told = append(told, n) }}
	added, err := seed.Of(b.Store).Grow(t.Context(), wanted)
	require.NoError(t, err)
	require.GreaterOrEqual(t, added, 2500)
	require.Len(t, told, 3, "a batch for each company")
	require.Equal(t, added, told[2])

	again, err := seed.Of(b.Store).Grow(t.Context(), wanted)
	require.NoError(t, err)
	require.Equal(t, added, again, "the same seed makes the same entries under new ids")
	require.Equal(t, added+again+1, b.Count(t, "SELECT count(*) FROM financial_records"))
	require.Equal(t, added+again+1, b.Count(t, "SELECT last_value FROM financial_record_numbers"))

	b.Paid(t, 1) // the service goes on: the trail is written again

	for what, query := range map[string]string{
		"days":         "SELECT count(DISTINCT record_date) - 400 FROM financial_records",
		"full refunds": "SELECT count(*) FROM refunds WHERE refund_type = 'FULL'",
		"splits":       "SELECT count(*) FROM financial_records WHERE split_from IS NOT NULL",
		"claw-backs":   "SELECT count(*) FROM financial_records WHERE kind = 'CLAWBACK'",
		"netted":       "SELECT count(*) FROM financial_records WHERE kind = 'CLAWBACK' AND transferred_at IS NOT NULL",
		"campaigns":    "SELECT count(*) FROM financial_records WHERE kind = 'ADVERTISING'",
		"open":         "SELECT count(*) FROM financial_records WHERE kind = 'SALE' AND balance_status = 'IN_CURRENT_BALANCE'",
		"paid out":     "SELECT count(*) FROM financial_records WHERE balance_status = 'TRANSFERRED'",
		"declined":     "SELECT count(*) FROM payment_transactions WHERE status = 'FAILED'",
		"Arabic":       "SELECT count(*) FROM trips WHERE title LIKE '%رحلة%'",
		"English":      "SELECT count(*) FROM trips WHERE title LIKE '%Umrah%'",
	} {
		require.Positive(t, b.Count(t, query), what)
	}
}
