package catalogue_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestMediaQuota: all photos of a company together, side by side on different buses, those of deleted buses included; another company's
// count for themselves.
func TestMediaQuota(t *testing.T) {
	t.Parallel()

	policies := models.DefaultPolicies()
	policies.MediaQuota = 5 << 20

	b := setup(t, policies)
	other := storetest.Fixture(t, b.Store)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	sized := func(size int64) models.BusPhoto {
		return models.BusPhoto{ID: models.NewID(), ContentType: "image/png", Size: size, BlobKey: uuid.NewString()}
	}

	buses := make([]models.Bus, 8)
	for i := range buses {
		var err error

		buses[i], err = b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, fmt.Sprintf("Q %d", i)))
		require.NoError(t, err)
	}

	var added atomic.Int32

	bookstest.Parallel(len(buses), func(i int) {
		_, err := b.Store.Catalogue.AddBusPhotos(ctx, staff, buses[i].ID, []models.BusPhoto{sized(1 << 20)})
		if err == nil {
			added.Add(1)
		} else if models.CodeOf(err) != models.CodeValidation {
			t.Error(err)
		}
	})

	require.EqualValues(t, 5, added.Load())

	_, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "OVER"), sized(1))
	bookstest.RequireCode(t, models.CodeValidation, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM buses WHERE plate_number = 'OVER'"))

	_, err = b.Store.Catalogue.AddBusPhotos(ctx, bookstest.As(other, models.RoleProviderStaff), other.Bus.ID, []models.BusPhoto{sized(5 << 20)})
	require.NoError(t, err, "another company")

	// A deleted bus makes room when its files go.
	var full uuid.UUID

	require.NoError(t, b.DB.QueryRowContext(ctx, "SELECT bus_id FROM bus_photos WHERE provider_id = $1 LIMIT 1", b.Provider.ID).Scan(&full))
	require.NoError(t, b.Store.Catalogue.DeleteBus(ctx, staff, full, time.Now()))

	add := func() error {
		_, err := b.Store.Catalogue.AddBusPhotos(ctx, staff, b.Bus.ID, []models.BusPhoto{sized(1 << 20)})

		return err
	}

	bookstest.RequireCode(t, models.CodeValidation, add())

	forget := func() int64 {
		n, err := b.Store.Catalogue.ForgetPhotos(ctx, 30*24*time.Hour)
		require.NoError(t, err)

		return n
	}
	require.Zero(t, forget(), "deleted a moment ago")
	b.Exec(t, "UPDATE buses SET deleted_at = now() - interval '29 days' WHERE deleted_at IS NOT NULL")
	require.Zero(t, forget())
	b.Exec(t, "UPDATE buses SET deleted_at = now() - interval '31 days' WHERE deleted_at IS NOT NULL")
	require.EqualValues(t, 1, forget())
	require.Zero(t, forget(), "once")
	require.NoError(t, add())
	bookstest.RequireCode(t, models.CodeValidation, add())
}
