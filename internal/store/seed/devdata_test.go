package seed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/seed"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestSeedDev(t *testing.T) {
	t.Parallel()

	s, db := storetest.Open(t, models.DefaultPolicies())
	b := &books{&bookstest.Books{Store: s, DB: db}}

	for range 2 {
		require.NoError(t, seed.Of(s).SeedDev(t.Context(), "hash", time.Now()))
	}

	require.Equal(t, 7, b.Count(t, "SELECT count(*) FROM users"))

	for _, role := range models.Roles() {
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE email = lower($1) || '@rihla.test' AND role = $1", string(role)))
	}

	u, err := s.Accounts.UserByEmail(t.Context(), "provider_admin@rihla.test")
	require.NoError(t, err)
	require.Equal(t, "Demo Provider Admin", u.Name)
	require.Equal(t, "hash", u.PasswordHash)

	p, err := s.Catalogue.ProviderByID(t.Context(), *u.ProviderID)
	require.NoError(t, err)
	require.Equal(t, "Demo Tours", p.Name)
	require.Equal(t, "0.10", p.CommissionRate.String())

	trips, err := s.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{}, time.Now())
	require.NoError(t, err)
	require.Len(t, trips.Items, 2)
	require.Equal(t, models.TripUmrah, trips.Items[0].Type)
	require.Nil(t, trips.Items[0].HotelID)
	require.Len(t, trips.Items[0].RestStopIDs, 1)
	require.Equal(t, models.TripTourism, trips.Items[1].Type)
	require.NotNil(t, trips.Items[1].HotelID)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM buses"))

	// A month later the trips have departed; they come back, and those that have not stay where they are.
	b.Exec(t, "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 day' WHERE type = 'UMRAH'")
	require.NoError(t, seed.Of(s).SeedDev(t.Context(), "hash", time.Now()))

	later, err := s.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{}, time.Now())
	require.NoError(t, err)
	require.Len(t, later.Items, 2)
	require.True(t, trips.Items[1].DepartureAt.Equal(later.Items[1].DepartureAt))
}
