package db_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/models"
)

// TestWalks follows cursors through hotels of every order while others come and go, in both directions and with NULLs.
func TestWalks(t *testing.T) { //nolint:tparallel // each walk leaves other rows to the next
	t.Parallel()

	b := setup(t)
	admin := db.Actor{Role: models.RoleAdmin}

	const rows = 23

	steady, passing := make([]uuid.UUID, 0, rows), make([]uuid.UUID, 0, rows)

	add := func(i int) uuid.UUID {
		h := models.Hotel{
			ProviderID: b.Provider.ID, Name: fmt.Sprintf("%c'فندق %%", 'a'+i%3), City: "AlUla", Status: models.StatusActive,
		}
		if stars := i % 4; stars > 0 {
			h.Stars = &stars
		}

		h, err := b.Store.Catalogue.CreateHotel(t.Context(), admin, h)
		require.NoError(t, err)

		return h.ID
	}

	for i := range rows {
		steady, passing = append(steady, add(i)), append(passing, add(i+1))
	}

	for n, sort := range []string{
		"", "created_at", "-created_at", "stars", "-stars", "name,-stars", "-name,stars,-created_at", "city", "-city,-stars,name",
		"stars,-stars,stars",
	} {
		t.Run(sort, func(t *testing.T) {
			seen, cursor := map[uuid.UUID]bool{}, ""

			for number := 1; ; number++ {
				p := db.Page{PerPage: 4, Cursor: cursor}
				if cursor == "" || number%2 == 0 { // the cursor knows the order
					p.Sort = bookstest.SortBy(strings.FieldsFunc(sort, comma)...)
				}

				got, err := b.Store.Catalogue.ListHotels(t.Context(), admin, catalogue.HotelFilter{Page: p})
				require.NoError(t, err)
				require.Equal(t, number, got.Number)

				for _, h := range got.Items {
					require.False(t, seen[h.ID], "twice")
					seen[h.ID] = true
				}

				if cursor = got.Next; cursor == "" {
					break
				}

				require.Len(t, got.Items, 4)
				require.NoError(t, b.Store.Catalogue.DeleteHotel(t.Context(), admin, passing[0], time.Now()))
				passing = append(passing[1:], add(n+number), add(n+number+1))
			}

			for _, id := range steady {
				require.True(t, seen[id], "missing")
			}
		})
	}
}

// TestCursors come back as anything.
func TestCursors(t *testing.T) {
	t.Parallel()

	b := setup(t)
	list := func(cursor, sort string) (db.Listed[models.Trip], error) {
		return b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{Page: db.Page{Cursor: cursor, Sort: bookstest.SortBy(strings.FieldsFunc(sort, comma)...)}}, time.Now())
	}
	written := func(format string, args ...any) string {
		return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, format, args...))
	}

	const (
		id   = "019ab0c2-7000-7aaa-8bbb-000000000003"
		good = `{"p":2,"s":"departure_at","v":["2026-11-21T09:00:00Z"],"i":"` + id + `"}`
	)

	_, err := list(written(good), "")
	require.NoError(t, err)
	_, err = list(written(good), "departure_at")
	require.NoError(t, err)

	for _, bad := range []string{
		"x", "-", "=", written("null"), written("[]"), written("{}"), written(good) + "A",
		written("%s", strings.Replace(good, `"p":2`, `"p":1`, 1)),
		written("%s", strings.Replace(good, `"p":2`, `"p":9223372036854775807`, 1)),
		written("%s", strings.Replace(good, id, uuid.Nil.String(), 1)),
		written("%s", strings.Replace(good, id, "x", 1)),
		written("%s", strings.Replace(good, "2026-11-21T09:00:00Z", "x", 1)),
		written("%s", strings.Replace(good, "2026-11-21T09:00:00Z", "2026-02-31", 1)),
		written("%s", strings.Replace(good, "2026-11-21T09:00:00Z", `'; DROP TABLE trips; --`, 1)),
		written("%s", strings.Replace(good, "2026-11-21T09:00:00Z", `a\u0000b`, 1)),
		written("%s", strings.Replace(good, `["2026-11-21T09:00:00Z"]`, "[]", 1)),
		written("%s", strings.Replace(good, `["2026-11-21T09:00:00Z"]`, `["1","2"]`, 1)),
		written(`{"p":2,"s":"price_per_seat","v":["1e400000000"],"i":%q}`, id),
	} {
		_, err = list(bad, "")
		bookstest.RequireCode(t, models.CodeValidation, err)

		var e *models.Error

		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Details, "cursor", bad)
	}

	_, err = list(written(good), "-departure_at")
	bookstest.RequireCode(t, models.CodeValidation, err)
	_, err = list(written("%s", strings.Replace(good, `"departure_at"`, `"title"`, 1)), "")
	bookstest.RequireCode(t, models.CodeValidation, err)
}

func comma(r rune) bool { return r == ',' }
