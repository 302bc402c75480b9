package db_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestPages(t *testing.T) {
	t.Parallel()
	b := setup(t)

	// Twelve trips of one price: only the tie-breaker orders them.
	b.Exec(t, "UPDATE trips SET title = 'Other'")

	for range 12 {
		b.InsertTrip(t, 10, func(x *models.Trip) { x.Title = "Same" })
	}

	page := func(number, perPage int) db.Listed[models.Trip] {
		got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{
			Search: "same", Page: db.Page{Number: number, PerPage: perPage, Sort: []db.Sort{{Field: "price_per_seat"}}},
		}, time.Now())
		require.NoError(t, err)
		require.EqualValues(t, 12, got.Total)
		require.NotNil(t, got.Items)

		return got
	}

	seen := map[uuid.UUID]bool{}

	for number := 1; number <= 3; number++ {
		for _, trip := range page(number, 5).Items {
			require.False(t, seen[trip.ID], "pages overlap")
			seen[trip.ID] = true
		}
	}

	require.Len(t, seen, 12)
	require.Len(t, page(0, 0).Items, 12, "the zero page is the first, of twenty")
	require.Len(t, page(2, 10).Items, 2)
	require.Empty(t, page(3, 10).Items)
	require.Empty(t, page(4, 4).Items)
	require.Empty(t, page(math.MaxInt, 100).Items)
}

func TestSort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cheap := b.InsertTrip(t, 10, func(x *models.Trip) { x.PricePerSeat = models.MustMoney("1.00") })

	got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{
		Page: db.Page{Sort: []db.Sort{{Field: "price_per_seat", Desc: true}, {Field: "departure_at"}}},
	}, time.Now())
	require.NoError(t, err)
	require.Equal(t, cheap.ID, got.Items[1].ID)

	for _, field := range []string{"title", "t.id", "departure_at; DROP TABLE trips", ""} {
		_, err = b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{Page: db.Page{Sort: []db.Sort{{Field: field}}}}, time.Now())
		bookstest.RequireCode(t, models.CodeValidation, err)

		var e *models.Error

		require.ErrorAs(t, err, &e)
		require.Equal(t, []string{"must be one of departure_at, price_per_seat"}, e.EnglishDetails()["sort"])
	}
}

func TestSearchTakesEveryCharacterForItself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE trips SET title = 'Plain'")

	titles := []string{`100% Umrah`, `snake_case`, `back\slash`, `it's "quoted" ?0 ?`, `رحلة إلى مكة`}
	for _, title := range titles {
		b.InsertTrip(t, 10, func(x *models.Trip) { x.Title = title })
	}

	for search, want := range map[string]string{
		`%`: titles[0], `100% uMR`: titles[0], `_`: titles[1], `\`: titles[2], `k\S`: titles[2], `'S "Q`: titles[3],
		`?0 ?`: titles[3], `إلى`: titles[4],
	} {
		got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{Search: search}, time.Now())
		require.NoError(t, err, search)
		require.Len(t, got.Items, 1, search)
		require.Equal(t, want, got.Items[0].Title)
	}

	got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{Search: "%%"}, time.Now())
	require.NoError(t, err)
	require.Empty(t, got.Items)
}

func TestActorScopes(t *testing.T) {
	t.Parallel()

	own, foreign := uuid.New(), uuid.New()

	for _, c := range []struct {
		actor      db.Actor
		asked      uuid.UUID
		scope, new uuid.UUID
		scopeErr   models.Code
		newErr     models.Code
		ownsOwn    bool
	}{
		{db.Actor{Role: models.RoleProviderStaff, ProviderID: own}, foreign, own, own, "", "", true},
		{db.Actor{Role: models.RoleProviderAdmin, ProviderID: own}, uuid.Nil, own, own, "", "", true},
		// A token without its provider must not become one that sees everything.
		{db.Actor{Role: models.RoleProviderAdmin}, uuid.Nil, uuid.Nil, uuid.Nil, models.CodeForbidden, models.CodeForbidden, false},
		{db.Actor{Role: models.RoleAdmin}, foreign, foreign, foreign, "", "", true},
		{db.Actor{Role: models.RoleSuperAdmin}, uuid.Nil, uuid.Nil, uuid.Nil, "", models.CodeValidation, true},
		{db.Actor{Role: models.RoleFinanceAdmin}, foreign, foreign, uuid.Nil, "", models.CodeForbidden, false},
		{db.Actor{Role: models.RoleEndUser, ProviderID: own}, own, uuid.Nil, uuid.Nil, models.CodeForbidden, models.CodeForbidden, false},
		{db.Actor{}, own, uuid.Nil, uuid.Nil, models.CodeForbidden, models.CodeForbidden, false},
	} {
		scope, err := c.actor.ProviderScope(c.asked)
		require.Equal(t, c.scope, scope)
		require.Equal(t, c.scopeErr, codeOrNone(err), "%+v", c.actor)

		created, err := c.actor.ProviderForNew(c.asked)
		require.Equal(t, c.new, created)
		require.Equal(t, c.newErr, codeOrNone(err), "%+v", c.actor)

		require.Equal(t, c.ownsOwn, c.actor.Owns(own), "%+v", c.actor)
		require.Equal(t, c.actor.Role.IsAdmin(), c.actor.Owns(foreign))
	}
}

func codeOrNone(err error) models.Code {
	if err == nil {
		return ""
	}

	return models.CodeOf(err)
}
