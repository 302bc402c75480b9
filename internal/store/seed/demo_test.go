package seed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/audit/audittest"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/seed"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// The demo's past belongs to its own company and two others, is of the last sixty days, and is added once.
func TestGrowDemo(t *testing.T) {
	t.Parallel()

	s, db := storetest.Open(t, models.DefaultPolicies())
	b := &books{&bookstest.Books{Store: s, DB: db, Audit: audittest.After(t, db)}}
	now := time.Now()

	require.NoError(t, seed.Of(s).SeedDev(t.Context(), "hash", now))

	added, err := seed.Of(s).GrowDemo(t.Context(), "none", now)
	require.NoError(t, err)
	require.GreaterOrEqual(t, added, 900)

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM providers"))
	require.Equal(t, 3, b.Count(t, "SELECT count(DISTINCT provider_id) FROM financial_records"))
	require.GreaterOrEqual(t, b.Count(t, `SELECT count(*) FROM financial_records AS r JOIN users AS u ON u.provider_id = r.provider_id
		WHERE u.email = 'provider_admin@rihla.test'`), 300)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE created_at < $1", now.AddDate(0, 0, -101)), "40 days before a trip")
	require.Greater(t, b.Count(t, "SELECT count(DISTINCT record_date) FROM financial_records"), 50)

	again, err := seed.Of(s).GrowDemo(t.Context(), "none", now.AddDate(0, 0, 1))
	require.NoError(t, err)
	require.Zero(t, again)
}
