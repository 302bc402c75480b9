package media_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/media"
	"rihla/models"
)

func jpegOf(tb testing.TB) []byte {
	tb.Helper()

	var b bytes.Buffer

	require.NoError(tb, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30)), nil))

	return b.Bytes()
}

func pngOf(tb testing.TB) []byte {
	tb.Helper()

	var b bytes.Buffer

	require.NoError(tb, png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))))

	return b.Bytes()
}

// webpOf is a lossless picture; the standard library has no encoder.
func webpOf(tb testing.TB) []byte {
	tb.Helper()

	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	require.NoError(tb, err)

	return b
}

// pngSized is a picture whose header claims a size.
func pngSized(width, height uint32) []byte {
	file := []byte("\x89PNG\r\n\x1a\n")

	chunk := func(name string, data []byte) {
		body := append([]byte(name), data...)
		file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
		file = append(file, body...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(body))
	}

	header := binary.BigEndian.AppendUint32(nil, width)
	header = binary.BigEndian.AppendUint32(header, height)
	chunk("IHDR", append(header, 8, 0, 0, 0, 0))
	chunk("IEND", nil)

	return file
}

func TestCheckGoesByTheBytes(t *testing.T) {
	t.Parallel()

	for want, file := range map[string][]byte{"image/jpeg": jpegOf(t), "image/png": pngOf(t), "image/webp": webpOf(t)} {
		got, err := media.Check(file)
		require.NoError(t, err)
		require.Equal(t, want, got)

		// Some cameras and tools write something behind the picture.
		got, err = media.Check(append(bytes.Clone(file), "trailer"...))
		require.NoError(t, err)
		require.Equal(t, want, got)

		for cut := range file {
			_, err = media.Check(file[:cut])
			require.Equal(t, models.CodeUnsupportedMediaType, models.CodeOf(err), "%s cut at %d of %d", want, cut, len(file))
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()

	var animation bytes.Buffer

	require.NoError(t, gif.Encode(&animation, image.NewGray(image.Rect(0, 0, 4, 3)), nil))

	// A whole thumbnail within the metadata of a picture that is cut off.
	photo := jpegOf(t)
	thumbnail := append([]byte{0xFF, 0xE1, 0, 0}, photo...)
	binary.BigEndian.PutUint16(thumbnail[2:], uint16(len(photo)+2))
	cut := append(append(bytes.Clone(photo[:2]), thumbnail...), photo[2:len(photo)-2]...)

	for name, file := range map[string][]byte{
		"nothing": nil, "text": []byte("this is no picture"), "html": []byte("<html><script>alert(1)</script></html>"),
		"svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "gif": animation.Bytes(),
		"only a jpeg's first bytes": []byte("\xff\xd8\xff\xe0 and then text"), "only a png's": []byte("\x89PNG\r\n\x1a\n and then text"),
		"only a webp's": []byte("RIFF\x10\x00\x00\x00WEBPVP8 and then text"), "empty png": pngSized(0, 10),
		"cut behind its thumbnail": cut,
	} {
		_, err := media.Check(file)
		require.Equal(t, models.CodeUnsupportedMediaType, models.CodeOf(err), name)
	}

	_, err := media.Check(append(cut, 0xFF, 0xD9))
	require.NoError(t, err)

	for _, size := range [][2]uint32{{16_385, 1}, {1, 16_385}, {16_000, 16_000}, {1 << 14, 1 << 14}} {
		_, err := media.Check(pngSized(size[0], size[1]))
		require.Equal(t, models.CodeValidation, models.CodeOf(err), size)
	}

	_, err = media.Check(pngSized(8000, 8000))
	require.NoError(t, err)
}

func FuzzCheck(f *testing.F) {
	for _, file := range [][]byte{jpegOf(f), pngOf(f), webpOf(f), pngSized(1<<31, 1), nil} {
		f.Add(file)
	}

	f.Fuzz(func(t *testing.T, file []byte) {
		contentType, err := media.Check(file)
		if err != nil {
			require.Contains(t, []models.Code{models.CodeUnsupportedMediaType, models.CodeValidation}, models.CodeOf(err))

			return
		}

		require.Contains(t, []string{"image/jpeg", "image/png", "image/webp"}, contentType)
	})
}
