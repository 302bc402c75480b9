// Package media keeps the photos that companies upload: the files in an object storage (files on disk, or S3), and the
// links that open one of them for some time without a token. The owner of a photo is in the database; a file knows
// nothing of it, and its key is random.
package media

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"
)

// MaxPhotoSize is how large a photo may be, in bytes: 5 MiB (rules: companies.photos).
const MaxPhotoSize = 5 << 20

// prefix is what the key of every photo begins with: nothing else in the storage is ever looked at or removed.
const prefix = "bus-photos/"

// ErrNotFound says that the storage has no such file.
var ErrNotFound = errors.New("media: the storage has no such file")

// Bucket is where the files are. It is safe for concurrent use.
type Bucket struct {
	blobs *blob.Bucket
}

// Open opens the storage that MEDIA_URL names, `file:///directory` or `s3://bucket?region=…`; an empty address means
// the directory media of dataDir. A directory is made when there is none. S3 is not called before it is used.
func Open(ctx context.Context, address, dataDir string) (*Bucket, error) {
	variable := "MEDIA_URL"

	if address == "" {
		variable = "DATA_DIR"

		dir, err := filepath.Abs(filepath.Join(dataDir, "media"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}

		address = (&url.URL{Scheme: fileblob.Scheme, Path: "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")}).String()
	}

	var schemes blob.URLMux

	schemes.RegisterBucket(fileblob.Scheme, &fileblob.URLOpener{Options: fileblob.Options{
		// The data about a photo is in the database. A file that is being written stands beside the finished ones, because
		// it can be moved into place on the same volume only.
		CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
	}})
	schemes.RegisterBucket(s3blob.Scheme, &s3blob.URLOpener{})

	blobs, err := schemes.OpenBucket(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}

	return &Bucket{blobs: blobs}, nil
}

// Close ends the use of the storage.
func (b *Bucket) Close() error { return b.blobs.Close() }

// Put stores a checked photo under a new random key and returns that.
func (b *Bucket) Put(ctx context.Context, contentType string, photo []byte) (key string, err error) {
	key = prefix + strings.ToLower(rand.Text())

	if err := b.blobs.Upload(ctx, key, bytes.NewReader(photo), &blob.WriterOptions{ContentType: contentType}); err != nil {
		return "", fmt.Errorf("store file: %w", err)
	}

	return key, nil
}

// Get opens a file, which the caller closes; until then ctx must live. Error: ErrNotFound.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := b.blobs.NewReader(ctx, key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, ErrNotFound
	}

	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}

	return r, nil
}

// Remove removes files; one that is not there is no error.
func (b *Bucket) Remove(ctx context.Context, keys ...string) error {
	var errs []error

	for _, key := range keys {
		if err := b.blobs.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			errs = append(errs, fmt.Errorf("remove file %s: %w", key, err))
		}
	}

	return errors.Join(errs...)
}
