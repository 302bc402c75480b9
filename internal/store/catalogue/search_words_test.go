package catalogue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// TestListsAreSearchedAsPeopleWrite: all lists find the same names, phones and plates in every way of writing them, and their indexes are
// those of the words.
func TestListsAreSearchedAsPeopleWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)

	b.Exec(t, "UPDATE providers SET name = 'مؤسسة عائشة عبد الله', phone = '+966 50-123 4567'")
	b.Exec(t, "UPDATE users SET name = 'عائشة عبد الله', phone = '0501234567' WHERE role = 'END_USER'")
	b.Exec(t, "UPDATE buses SET plate_number = 'أ ب ج ١٢٣٤', driver_name = 'عائشة عبد الله'")
	b.Exec(t, "UPDATE trips SET title = 'رحلة عائشة عبد الله', origin = 'مكة المكرمة'")

	of := func(n int, err error) int {
		t.Helper()
		require.NoError(t, err)

		return n
	}
	lists := map[string]func(search string) int{
		"providers": func(search string) int {
			l, err := b.Store.Catalogue.ListProviders(ctx, catalogue.ProviderFilter{Search: search})

			return of(len(l.Items), err)
		},
		"users": func(search string) int {
			l, err := b.Store.Accounts.ListAccounts(ctx, accounts.AccountFilter{Search: search})

			return of(len(l.Items), err)
		},
		"buses": func(search string) int {
			l, err := b.Store.Catalogue.ListBuses(ctx, admin, catalogue.BusFilter{Search: search})

			return of(len(l.Items), err)
		},
		"trips": func(search string) int {
			l, err := b.Store.Catalogue.ListProviderTrips(ctx, admin, catalogue.ProviderTripFilter{TripFilter: catalogue.TripFilter{Search: search}})

			return of(len(l.Items), err)
		},
	}

	for kind, found := range lists {
		for _, search := range []string{"عائشة عبد الله", "عايشه عبدالله", "عائشة", "عائشه\u200f", "ﻋﺎﺋﺸﺔ", "عَائِشَة"} {
			require.NotZero(t, found(search), "%s %q", kind, search)
		}

		for _, search := range []string{"فاطمة", "%", "___", "％", "＿＿＿"} {
			require.Zero(t, found(search), "%s %q", kind, search)
		}
	}

	for _, search := range []string{"0501234567", "٠٥٠ ١٢٣ ٤٥٦٧", "+966501234567", "00966 50-123\u20114567", "501234567\u200e"} {
		require.NotZero(t, lists["providers"](search), "%q", search)
		require.NotZero(t, lists["users"](search), "%q", search)
	}

	for _, search := range []string{"ا ب ج 1234", "أبج١٢٣٤", "۱۲۳۴", "ابج-1234"} {
		require.NotZero(t, lists["buses"](search), "%q", search)
	}

	trips, err := b.Store.Catalogue.ListProviderTrips(ctx, admin, catalogue.ProviderTripFilter{TripFilter: catalogue.TripFilter{Origin: "مكه المكرمه"}})
	require.NoError(t, err)
	require.NotEmpty(t, trips.Items, "a city is compared as a whole, however it is written")

	trips, err = b.Store.Catalogue.ListProviderTrips(ctx, admin, catalogue.ProviderTripFilter{TripFilter: catalogue.TripFilter{Origin: "مكة"}})
	require.NoError(t, err)
	require.Empty(t, trips.Items)

	// What is gone is found no more.
	b.Exec(t, "UPDATE users SET name = 'x', phone = '' WHERE role = 'END_USER'")
	require.Zero(t, lists["users"]("عائشة"))
}
