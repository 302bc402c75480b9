package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gocloud.dev/blob"
)

const (
	// orphanAge is how old a file without a row must be to be removed: no upload takes as long, so that none is under way.
	orphanAge = time.Hour
	// sweepPeriod is the time between two sweeps of a process.
	sweepPeriod = 15 * time.Minute
	// sweepPage is how many files are looked at with one question to the database.
	sweepPage = 500
)

// Known says which of the keys belong to a photo.
type Known func(ctx context.Context, keys []string) (map[string]bool, error)

// Sweep removes the photos' files that were written before the given time and that known does not know, and counts
// them. A file that cannot be removed is left for the next sweep.
func (b *Bucket) Sweep(ctx context.Context, before time.Time, known Known) (removed int, err error) {
	token := blob.FirstPageToken

	for token != nil {
		page, next, err := b.blobs.ListPage(ctx, token, sweepPage, &blob.ListOptions{Prefix: prefix})
		if err != nil {
			return removed, fmt.Errorf("list files: %w", err)
		}

		n, err := b.sweepPage(ctx, page, before, known)
		removed += n

		if err != nil {
			return removed, err
		}

		token = next
	}

	return removed, nil
}

func (b *Bucket) sweepPage(ctx context.Context, page []*blob.ListObject, before time.Time, known Known) (removed int, err error) {
	var old []string

	for _, file := range page {
		if !file.IsDir && file.ModTime.Before(before) {
			old = append(old, file.Key)
		}
	}

	if len(old) == 0 {
		return 0, nil
	}

	kept, err := known(ctx, old)
	if err != nil {
		return 0, err
	}

	for _, key := range old {
		if kept[key] {
			continue
		}

		if err := b.Remove(ctx, key); err != nil {
			return removed, err
		}

		removed++
	}

	return removed, nil
}

// keptFor is how long the photos of a deleted bus stay: who has deleted it by mistake can still have them put back (rules:
// companies.photos-gone).
const keptFor = 30 * 24 * time.Hour

// Photos are the rows of photos. Forget deletes those of buses that were deleted longer ago than the given time, and counts them.
type Photos struct {
	Known  Known
	Forget func(ctx context.Context, deletedFor time.Duration) (int64, error)
}

// Janitor sweeps from time to time: a process that dies between writing a file and writing its row, or between deleting
// the row and removing the file, leaves a file without an address. Several processes may sweep the same storage.
type Janitor struct {
	bucket *Bucket
	photos Photos
	log    *slog.Logger
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// NewJanitor makes a janitor that has not begun.
func NewJanitor(b *Bucket, photos Photos, log *slog.Logger) *Janitor {
	return &Janitor{bucket: b, photos: photos, log: log}
}

// Start sweeps now and then every quarter of an hour, until Stop.
func (j *Janitor) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	j.stop = cancel

	j.done.Go(func() {
		tick := time.NewTicker(sweepPeriod)
		defer tick.Stop()

		for {
			j.sweep(ctx)

			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Stop ends sweeping and waits until it has ended.
func (j *Janitor) Stop() {
	j.stop()
	j.done.Wait()
}

func (j *Janitor) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepPeriod)
	defer cancel()

	// Rows go first: files whose rows could not be deleted belong to a photo, and stay.
	forgotten, err := j.photos.Forget(ctx, keptFor)
	removed, failed := j.bucket.Sweep(ctx, time.Now().Add(-orphanAge), j.photos.Known)
	err = errors.Join(err, failed)

	switch {
	case ctx.Err() != nil:
	case err != nil:
		j.log.WarnContext(ctx, "media not swept", "forgotten", forgotten, "removed", removed, "error", err)
	case removed > 0 || forgotten > 0:
		j.log.InfoContext(ctx, "media swept", "forgotten", forgotten, "removed", removed)
	}
}
