package catalogue

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// AddBusPhotos adds photos to a bus, behind those it has, and returns the new ones. ContentType, Size and BlobKey are
// required; the file must be in the object storage already. Errors: NOT_FOUND (the bus), VALIDATION_ERROR on photos
// when there would be more than models.MaxBusPhotos, or more bytes than a company may have, FORBIDDEN.
func (s *Store) AddBusPhotos(
	ctx context.Context, by db.Actor, bus uuid.UUID, photos []models.BusPhoto,
) ([]models.BusPhoto, error) {
	var added []models.BusPhoto

	err := s.write(ctx, by, func(ctx context.Context, tx bun.Tx, sc scope) error {
		// The lock makes the count below that of the commit.
		b, err := loadResource[models.Bus](ctx, tx, sc, bus, "NO KEY UPDATE")
		if err != nil {
			return err
		}

		if added, err = s.addPhotos(ctx, tx, &b, photos); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditBusPhotosAdded, models.EntityBus, &bus, map[string]any{"photos": len(added)})
	})
	if err != nil {
		return nil, err
	}

	return added, nil
}

// addPhotos inserts photos of a bus that is new or locked.
func (s *Store) addPhotos(ctx context.Context, tx bun.Tx, b *models.Bus, photos []models.BusPhoto) ([]models.BusPhoto, error) {
	if len(photos) == 0 {
		return nil, nil
	}

	var there, last int

	err := tx.NewSelect().Model((*models.BusPhoto)(nil)).
		ColumnExpr("count(*)").ColumnExpr("coalesce(max(bp.position), 0)").Where("bp.bus_id = ?", b.ID).Scan(ctx, &there, &last)
	if err != nil {
		return nil, fmt.Errorf("count photos: %w", err)
	}

	if there+len(photos) > models.MaxBusPhotos {
		return nil, models.Invalid("photos", "bus.photos", "max", models.MaxBusPhotos, "there", there)
	}

	if err := s.refusePhotos(ctx, tx, b.ProviderID, photos); err != nil {
		return nil, err
	}

	added := make([]models.BusPhoto, len(photos))
	for i, p := range photos {
		if p.ID == uuid.Nil {
			p.ID = models.NewID()
		}

		p.BusID, p.ProviderID, p.Position = b.ID, b.ProviderID, last+1+i
		added[i] = p
	}

	if _, err := tx.NewInsert().Model(&added).ExcludeColumn("created_at").Returning("created_at").Exec(ctx); err != nil {
		return nil, fmt.Errorf("insert photos: %w", err)
	}

	return added, nil
}

// refusePhotos refuses photos with which those of the company would take up more than it may have, photos of deleted buses included as
// long as their files are there. The lock, which comes after the bus's own, makes the sum that of the commit, whatever bus it is.
// Error: VALIDATION_ERROR on photos.
func (s *Store) refusePhotos(ctx context.Context, tx bun.Tx, provider uuid.UUID, photos []models.BusPhoto) error {
	if s.policies.MediaQuota <= 0 {
		return nil
	}

	if err := db.LockName(ctx, tx, "photos:"+provider.String()); err != nil {
		return err
	}

	var size int64

	err := tx.NewSelect().Model((*models.BusPhoto)(nil)).ColumnExpr("coalesce(sum(bp.size), 0)").Where("bp.provider_id = ?", provider).
		Scan(ctx, &size)
	if err != nil {
		return fmt.Errorf("add up photos: %w", err)
	}

	for _, p := range photos {
		size += p.Size
	}

	if size > s.policies.MediaQuota {
		return models.Invalid("photos", "photo.quota", "mib", s.policies.MediaQuota>>20)
	}

	return nil
}

// ForgetPhotos deletes the photos of buses that were deleted longer ago than the given time, and counts them. Their files are of no photo
// then, and the sweep of the storage removes them.
func (s *Store) ForgetPhotos(ctx context.Context, deletedFor time.Duration) (int64, error) {
	res, err := s.db.NewRaw(`DELETE FROM bus_photos AS bp USING buses AS b
		WHERE b.id = bp.bus_id AND b.deleted_at < now() - ? * interval '1 second'`, deletedFor.Seconds()).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("forget photos of deleted buses: %w", err)
	}

	return res.RowsAffected()
}

// BusPhotos reads the photos of buses that the caller has read before, in the order of their upload; a bus without any
// is not in the map.
func (s *Store) BusPhotos(ctx context.Context, busIDs []uuid.UUID) (map[uuid.UUID][]models.BusPhoto, error) {
	out := make(map[uuid.UUID][]models.BusPhoto, len(busIDs))
	if len(busIDs) == 0 {
		return out, nil
	}

	var photos []models.BusPhoto

	err := s.db.NewSelect().Model(&photos).Where("bp.bus_id IN (?)", bun.List(busIDs)).Order("bp.bus_id", "bp.position").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read photos: %w", err)
	}

	for _, p := range photos {
		out[p.BusID] = append(out[p.BusID], p)
	}

	return out, nil
}

// PhotoOfLiveBus finds a photo for anybody, whose right to see it is its signed address; that of a deleted bus opens no
// more. Error: NOT_FOUND.
func (s *Store) PhotoOfLiveBus(ctx context.Context, id uuid.UUID) (models.BusPhoto, error) {
	var photo models.BusPhoto

	err := s.db.NewSelect().Model(&photo).Join("JOIN buses AS b ON b.id = bp.bus_id").
		Where("bp.id = ?", id).Where("b.deleted_at IS NULL").Scan(ctx)

	return photo, db.NotFound(err)
}

// KnownPhotoKeys says which of the keys of files belong to a photo, also to one of a deleted bus.
func (s *Store) KnownPhotoKeys(ctx context.Context, keys []string) (map[string]bool, error) {
	known := make(map[string]bool, len(keys))
	if len(keys) == 0 {
		return known, nil
	}

	var rows []string

	err := s.db.NewSelect().Model((*models.BusPhoto)(nil)).Column("blob_key").Where("bp.blob_key IN (?)", bun.List(keys)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("look for photos: %w", err)
	}

	for _, key := range rows {
		known[key] = true
	}

	return known, nil
}

// DeleteBusPhoto removes a photo of a bus and returns the key of its file, which the caller removes from the object
// storage. Errors: NOT_FOUND (the bus, or it has no such photo), FORBIDDEN.
func (s *Store) DeleteBusPhoto(ctx context.Context, by db.Actor, bus uuid.UUID, photo uuid.UUID) (blobKey string, err error) {
	err = s.write(ctx, by, func(ctx context.Context, tx bun.Tx, sc scope) error {
		if _, err := loadResource[models.Bus](ctx, tx, sc, bus, "NO KEY UPDATE"); err != nil {
			return err
		}

		err := tx.NewDelete().Model((*models.BusPhoto)(nil)).Where("bp.id = ?", photo).Where("bp.bus_id = ?", bus).
			Returning("blob_key").Scan(ctx, &blobKey)
		if err != nil {
			return db.NotFound(err)
		}

		return db.Audit(ctx, tx, by, models.AuditBusPhotoDeleted, models.EntityBus, &bus, map[string]any{"photo_id": photo})
	})

	return blobKey, err
}
