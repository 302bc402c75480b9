package resources_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/media"
)

// formPart is one part of a form.
type formPart struct {
	field, file string
	content     []byte
}

func photo(content []byte) formPart {
	return formPart{field: "photos", file: "front.jpg", content: content}
}

func payload(t *testing.T, body any) formPart {
	t.Helper()

	text, err := json.Marshal(body)
	require.NoError(t, err)

	return formPart{field: "payload", content: text}
}

// form is a body of multipart/form-data, with the content type that names its boundary.
func form(t *testing.T, parts ...formPart) (body []byte, contentType string) {
	t.Helper()

	var b bytes.Buffer

	w := multipart.NewWriter(&b)

	for _, p := range parts {
		create := w.CreateFormField
		if p.file != "" {
			create = func(field string) (io.Writer, error) { return w.CreateFormFile(field, p.file) }
		}

		to, err := create(p.field)
		require.NoError(t, err)

		_, err = to.Write(p.content)
		require.NoError(t, err)
	}

	require.NoError(t, w.Close())

	return b.Bytes(), w.FormDataContentType()
}

func upload(t *testing.T, c *harness.Caller, path string, parts ...formPart) harness.Answer {
	t.Helper()

	body, contentType := form(t, parts...)

	return callAs(t, c, http.MethodPost, path, body, contentType)
}

// picture is a PNG that no other test has.
func picture(t *testing.T) []byte {
	t.Helper()

	var b bytes.Buffer

	pixels := image.NewGray(image.Rect(0, 0, 40, 30))
	copy(pixels.Pix, mark())
	require.NoError(t, png.Encode(&b, pixels))

	return b.Bytes()
}

func pictures(t *testing.T, n int) []formPart {
	t.Helper()

	parts := make([]formPart, n)
	for i := range parts {
		parts[i] = photo(picture(t))
	}

	return parts
}

// sized is a PNG of so many bytes.
func sized(t *testing.T, size int) []byte {
	t.Helper()

	b := picture(t)

	return append(b, make([]byte, size-len(b))...)
}

func webpPicture(t *testing.T) []byte {
	t.Helper()

	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	require.NoError(t, err)

	return b
}

// trailed is a photo with something behind its end, as some cameras write it.
func trailed(p formPart) formPart {
	p.content = append(bytes.Clone(p.content), "taken at 24.7136N 46.6753E"...)

	return p
}

// kept is what the service keeps of a photo.
func kept(t *testing.T, p formPart) []byte {
	t.Helper()

	photo, ok := media.Strip(http.DetectContentType(p.content), p.content)
	require.True(t, ok)

	return photo
}

// stored counts the files of the service that hold one of the photos.
func stored(t *testing.T, s *harness.Stack, photos ...formPart) int {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(s.DataDir, "media", "bus-photos", "*"))
	require.NoError(t, err)

	count := 0

	for _, name := range files {
		content, err := os.ReadFile(name)
		if os.IsNotExist(err) { // another test's, removed meanwhile
			continue
		}

		require.NoError(t, err)

		if slices.ContainsFunc(photos, func(p formPart) bool { return bytes.Equal(p.content, content) }) {
			count++
		}
	}

	return count
}

func photosIn(t *testing.T, bus object) []object {
	t.Helper()

	photos := bus["photos"].([]any)
	out := make([]object, len(photos))

	for i, p := range photos {
		out[i] = p.(object)
	}

	return out
}

// opened is the answer to any caller at a photo's address.
func opened(t *testing.T, s *harness.Stack, address any) harness.Answer {
	t.Helper()

	path, ok := strings.CutPrefix(address.(string), s.URL)
	require.True(t, ok, address)

	return s.Anybody().Get(path)
}
