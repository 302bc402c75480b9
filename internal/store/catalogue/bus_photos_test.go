package catalogue_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func photos(n int) []models.BusPhoto {
	out := make([]models.BusPhoto, n)
	for i := range out {
		out[i] = models.BusPhoto{ID: models.NewID(), ContentType: "image/png", Size: 100, BlobKey: uuid.NewString()}
	}

	return out
}

func TestBusPhotos(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	// A bus comes with its photos or not at all.
	_, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "TOO MANY"), photos(11)...)
	bookstest.RequireCode(t, models.CodeValidation, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM buses WHERE plate_number = 'TOO MANY'"))

	two := photos(2)
	bus, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "TWO"), two...)
	require.NoError(t, err)

	added, err := b.Store.Catalogue.AddBusPhotos(ctx, staff, bus.ID, photos(3))
	require.NoError(t, err)
	require.Len(t, added, 3)
	require.Equal(t, bus.ID, added[0].BusID)
	require.False(t, added[2].CreatedAt.IsZero())

	byBus, err := b.Store.Catalogue.BusPhotos(ctx, []uuid.UUID{bus.ID, b.Bus.ID})
	require.NoError(t, err)
	require.Len(t, byBus, 1)

	ids := make([]uuid.UUID, 0, 5)
	for i, p := range byBus[bus.ID] {
		require.Equal(t, i+1, p.Position)

		ids = append(ids, p.ID)
	}

	require.Equal(t, []uuid.UUID{two[0].ID, two[1].ID, added[0].ID, added[1].ID, added[2].ID}, ids)

	_, err = b.Store.Catalogue.DeleteBusPhoto(ctx, staff, other.Bus.ID, two[0].ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Catalogue.DeleteBusPhoto(ctx, staff, b.Bus.ID, two[0].ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	key, err := b.Store.Catalogue.DeleteBusPhoto(ctx, staff, bus.ID, two[0].ID)
	require.NoError(t, err)
	require.Equal(t, two[0].BlobKey, key)
	_, err = b.Store.Catalogue.DeleteBusPhoto(ctx, staff, bus.ID, two[0].ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	_, err = b.Store.Catalogue.AddBusPhotos(ctx, staff, bus.ID, photos(7))
	bookstest.RequireCode(t, models.CodeValidation, err)
	_, err = b.Store.Catalogue.AddBusPhotos(ctx, staff, bus.ID, photos(6))
	require.NoError(t, err, "ten in all")

	_, err = b.Store.Catalogue.AddBusPhotos(ctx, staff, other.Bus.ID, photos(1))
	bookstest.RequireCode(t, models.CodeNotFound, err)

	byBus, err = b.Store.Catalogue.BusPhotos(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, byBus)
}

func TestBusPhotosInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	var wg sync.WaitGroup

	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.Store.Catalogue.AddBusPhotos(ctx, staff, b.Bus.ID, photos(3)) })
	}

	wg.Wait()

	for _, err := range errs {
		if err != nil {
			bookstest.RequireCode(t, models.CodeValidation, err)
		}
	}

	require.Equal(t, 9, b.Count(t, "SELECT count(*) FROM bus_photos"), "three of eight fit")
}

// What opens without a token, and what a sweep of the files may not touch.
func TestPhotosForAnybody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	two := photos(2)
	bus, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "TWO"), two...)
	require.NoError(t, err)

	photo, err := b.Store.Catalogue.PhotoOfLiveBus(ctx, two[1].ID)
	require.NoError(t, err)
	require.Equal(t, two[1].BlobKey, photo.BlobKey)
	require.Equal(t, int64(100), photo.Size)
	_, err = b.Store.Catalogue.PhotoOfLiveBus(ctx, bus.ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	require.NoError(t, b.Store.Catalogue.DeleteBus(ctx, staff, bus.ID, time.Now()))
	_, err = b.Store.Catalogue.PhotoOfLiveBus(ctx, two[1].ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	known, err := b.Store.Catalogue.KnownPhotoKeys(ctx, []string{two[0].BlobKey, "bus-photos/orphan", two[1].BlobKey})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{two[0].BlobKey: true, two[1].BlobKey: true}, known, "a deleted bus stays stored, and so do its files")

	known, err = b.Store.Catalogue.KnownPhotoKeys(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, known)
}
