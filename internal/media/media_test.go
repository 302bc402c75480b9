package media_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/media"
)

func open(t *testing.T, address, dataDir string) *media.Bucket {
	t.Helper()

	b, err := media.Open(t.Context(), address, dataDir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })

	return b
}

// life is what every storage has to do.
func life(t *testing.T, b *media.Bucket) {
	t.Helper()

	ctx, photo := t.Context(), pngOf(t)
	first, err := b.Put(ctx, "image/png", photo)
	require.NoError(t, err)
	second, err := b.Put(ctx, "image/png", photo)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.Regexp(t, `^bus-photos/[a-z2-7]{26}$`, first)

	r, err := b.Get(ctx, first)
	require.NoError(t, err)

	got, err := io.ReadAll(r)
	require.NoError(t, errors.Join(err, r.Close()))
	require.Equal(t, photo, got)

	require.NoError(t, b.Remove(ctx, first, "bus-photos/never"))
	_, err = b.Get(ctx, first)
	require.ErrorIs(t, err, media.ErrNotFound)

	// The sweep removes only old files without a row.
	knows := func(keys ...string) media.Known {
		return func(_ context.Context, asked []string) (map[string]bool, error) {
			known := map[string]bool{}
			for _, key := range asked {
				known[key] = slices.Contains(keys, key)
			}

			return known, nil
		}
	}

	sweep := func(before time.Time, known media.Known) int {
		n, err := b.Sweep(ctx, before, known)
		require.NoError(t, err)

		return n
	}

	later := time.Now().Add(time.Hour)
	require.Zero(t, sweep(later, knows(second)))
	require.Zero(t, sweep(time.Now().Add(-time.Hour), knows()))
	require.Equal(t, 1, sweep(later, knows()))
	_, err = b.Get(ctx, second)
	require.ErrorIs(t, err, media.ErrNotFound)

	down := errors.New("the database is down")
	_, err = b.Put(ctx, "image/png", photo)
	require.NoError(t, err)
	_, err = b.Sweep(ctx, later, func(context.Context, []string) (map[string]bool, error) { return nil, down })
	require.ErrorIs(t, err, down)
	require.Equal(t, 1, sweep(later, knows()), "nothing was removed while it was not known")
}

func TestFiles(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	life(t, open(t, "", dir))

	info, err := os.Stat(filepath.Join(dir, "media", "bus-photos"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	other := filepath.Join(t.TempDir(), "with space", "photos")
	life(t, open(t, (&url.URL{Scheme: "file", Path: other}).String(), dir))
	require.DirExists(t, other)

	foreign := filepath.Join(other, "notes.txt")
	require.NoError(t, os.WriteFile(foreign, nil, 0o600))

	n, err := open(t, (&url.URL{Scheme: "file", Path: other}).String(), dir).Sweep(t.Context(), time.Now().Add(time.Hour), nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.FileExists(t, foreign, "what is not a photo is not ours")
}

func TestManyFilesAreSweptPageByPage(t *testing.T) {
	t.Parallel()

	dir := filepath.Join(t.TempDir(), "bus-photos")
	require.NoError(t, os.Mkdir(dir, 0o700))

	for i := range 1203 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "orphan"+string(rune('a'+i%26))+time.Duration(i).String()), nil, 0o600))
	}

	b, largest := open(t, "file://"+filepath.Dir(dir), ""), 0
	n, err := b.Sweep(t.Context(), time.Now().Add(time.Hour), func(_ context.Context, keys []string) (map[string]bool, error) {
		largest = max(largest, len(keys))

		return nil, nil //nolint:nilnil // nothing is known
	})
	require.NoError(t, err)
	require.Equal(t, 1203, n)
	require.LessOrEqual(t, largest, 500)

	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()

	for _, address := range []string{"gs://bucket", "file:///dev/null/x", "s3://", "::", "s3://bucket?colour=red"} {
		_, err := media.Open(t.Context(), address, t.TempDir())
		require.ErrorContains(t, err, "MEDIA_URL", address)
	}

	_, err := media.Open(t.Context(), "", "/dev/null")
	require.ErrorContains(t, err, "DATA_DIR", "nobody has set MEDIA_URL")
}

func TestJanitor(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	b := open(t, "", dir)
	old, err := b.Put(t.Context(), "image/png", pngOf(t))
	require.NoError(t, err)
	fresh, err := b.Put(t.Context(), "image/png", pngOf(t))
	require.NoError(t, err)

	yesterday := time.Now().Add(-24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "media", old), yesterday, yesterday))

	var forgets time.Duration

	j := media.NewJanitor(b, media.Photos{
		Known: func(context.Context, []string) (map[string]bool, error) { return map[string]bool{}, nil },
		Forget: func(_ context.Context, deletedFor time.Duration) (int64, error) {
			forgets = deletedFor

			return 0, errors.New("the database is down")
		},
	}, slog.New(slog.DiscardHandler))
	j.Start()
	require.Eventually(t, func() bool {
		_, err := b.Get(t.Context(), old)

		return errors.Is(err, media.ErrNotFound)
	}, 20*time.Second, 10*time.Millisecond)
	j.Stop()
	require.FileExists(t, filepath.Join(dir, "media", fresh))
	require.Equal(t, 30*24*time.Hour, forgets)
}

// objects is as much of S3 as the service uses.
type objects struct {
	mu    sync.Mutex
	files map[string][]byte
	types map[string]string
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()

	key := strings.TrimPrefix(r.URL.Path, "/photos/")

	switch file, ok := o.files[key]; {
	case r.URL.Query().Get("list-type") == "2":
		o.list(w, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodPut:
		o.files[key], _ = io.ReadAll(r.Body)
		o.types[key] = r.Header.Get("Content-Type")
	case r.Method == http.MethodDelete:
		delete(o.files, key)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(file))
	}
}

func (o *objects) list(w io.Writer, prefix string) {
	type content struct {
		Key          string `xml:"Key"`
		LastModified string `xml:"LastModified"`
		Size         int    `xml:"Size"`
	}

	var answer struct {
		XMLName  xml.Name  `xml:"ListBucketResult"`
		Contents []content `xml:"Contents"`
	}

	for _, key := range slices.Sorted(maps.Keys(o.files)) {
		if strings.HasPrefix(key, prefix) {
			answer.Contents = append(answer.Contents, content{key, time.Now().UTC().Format(time.RFC3339), len(o.files[key])})
		}
	}

	_ = xml.NewEncoder(w).Encode(answer)
}

func TestS3(t *testing.T) {
	t.Parallel()

	storage := &objects{files: map[string][]byte{}, types: map[string]string{}}
	server := httptest.NewServer(storage)
	t.Cleanup(server.Close)

	b := open(t, "s3://photos?region=eu-central-1&anonymous=true&use_path_style=true&request_checksum_calculation=when_required"+
		"&response_checksum_validation=when_required&endpoint="+url.QueryEscape(server.URL), "")
	life(t, b)

	large := bytes.Repeat([]byte{0xFF}, media.MaxPhotoSize)
	key, err := b.Put(t.Context(), "image/webp", large)
	require.NoError(t, err)
	require.Equal(t, large, storage.files[key])
	require.Equal(t, "image/webp", storage.types[key])

	server.Close()

	_, err = b.Put(t.Context(), "image/webp", large)
	require.Error(t, err)
	require.NotErrorIs(t, err, media.ErrNotFound)
}
