package media_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/webp"

	"rihla/internal/media"
)

const secretPlace = "GPS 24.7136N 46.6753E"

// exif is TIFF with an orientation and a place in it.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	out := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		out = []byte("II*\x00")
	}

	out = order.AppendUint32(out, 8)
	out = order.AppendUint16(out, 2)

	for _, entry := range [][2]uint16{{0x8825, 7}, {0x0112, orientation}} { // GPS, Orientation
		out = order.AppendUint16(out, entry[0])
		out = order.AppendUint16(out, 3)
		out = order.AppendUint32(out, 1)
		out = order.AppendUint16(out, entry[1])
		out = order.AppendUint16(out, 0)
	}

	return append(append(out, 0, 0, 0, 0), secretPlace...)
}

func segment(marker byte, body string) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xFF, marker}, uint16(len(body)+2)), body...)
}

func pngPart(name, data string) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name+data...)

	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func riffPart(name string, data []byte) []byte {
	out := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))), data...)

	return append(out, make([]byte, len(data)%2)...)
}

func inserted(file []byte, at int, parts ...[]byte) []byte {
	return bytes.Join([][]byte{file[:at], bytes.Join(parts, nil), file[at:]}, nil)
}

// strip checks a photo as an upload does, and that nothing of what must go is left.
func strip(t *testing.T, file []byte) []byte {
	t.Helper()

	contentType, err := media.Check(file)
	require.NoError(t, err)

	photo, ok := media.Strip(contentType, file)
	require.True(t, ok)
	require.NotContains(t, string(photo), "GPS")
	require.NotContains(t, string(photo), "trailer")
	require.NotContains(t, string(photo), "told by")

	again, err := media.Check(photo)
	require.NoError(t, err)
	require.Equal(t, contentType, again)

	twice, ok := media.Strip(contentType, photo)
	require.True(t, ok)
	require.Equal(t, photo, twice, "there is nothing left to go")

	return photo
}

func TestStripJPEG(t *testing.T) {
	t.Parallel()

	plain := jpegOf(t)
	icc := segment(0xE2, "ICC_PROFILE\x00\x01\x01 a profile")
	jfif := segment(0xE0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")

	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		file := append(inserted(plain, 2,
			jfif, segment(0xE1, "Exif\x00\x00"+string(exif(order, 6))), segment(0xE1, "http://ns.adobe.com/xap/1.0/\x00 "+secretPlace), icc,
			segment(0xE2, "MPF\x00 "+secretPlace), segment(0xED, "Photoshop 3.0\x00 "+secretPlace), segment(0xFE, "told by a comment"),
		), append([]byte("trailer "), jpegOf(t)...)...)

		photo := strip(t, file)
		require.True(t, bytes.HasPrefix(photo, append([]byte("\xff\xd8"), jfif...)))
		require.Contains(t, string(photo), "a profile")
		require.Contains(t, string(photo), "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06", "it lies on its side")

		want, err := jpeg.Decode(bytes.NewReader(plain))
		require.NoError(t, err)
		got, err := jpeg.Decode(bytes.NewReader(photo))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	require.Equal(t, plain, strip(t, plain), "a picture without anything stays as it is")
	require.Equal(t, plain, strip(t, inserted(plain, 2, segment(0xE1, "Exif\x00\x00"+string(exif(binary.BigEndian, 1))))), "upright needs no word")

	// Of a progressive picture there are several scans, with segments in between.
	scans := bytes.Join([][]byte{
		{0xFF, 0xD8},
		segment(0xC2, "frame"), segment(0xDA, "scan"), []byte("\x01\xff\x00\x02\xff\xd0\x03"), segment(0xFE, "told by a comment"),
		segment(0xC4, "table"), segment(0xDA, "scan"), []byte("\x04\xff\xff"),
		{0xFF, 0xD9},
		[]byte("trailer"),
	}, nil)
	photo, ok := media.Strip("image/jpeg", scans)
	require.True(t, ok)
	require.Equal(t, 2, bytes.Count(photo, []byte("scan")))
	require.Contains(t, string(photo), "table")
	require.NotContains(t, string(photo), "told by")
	require.True(t, bytes.HasSuffix(photo, []byte("\xff\xd9")))
}

func TestStripPNG(t *testing.T) {
	t.Parallel()

	plain := pngOf(t)
	file := append(inserted(plain, 8+25,
		pngPart("tEXt", "Comment\x00told by a comment"), pngPart("eXIf", string(exif(binary.LittleEndian, 3))), pngPart("gAMA", "\x00\x00\xb1\x8f"),
		pngPart("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+secretPlace), pngPart("prVt", secretPlace),
	), "trailer"...)

	photo := strip(t, file)
	require.Contains(t, string(photo), "gAMA")
	require.Contains(t, string(photo), "eXIfMM")

	want, err := png.Decode(bytes.NewReader(plain))
	require.NoError(t, err)
	got, err := png.Decode(bytes.NewReader(photo))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, plain, strip(t, plain))
}

func TestStripWebP(t *testing.T) {
	t.Parallel()

	plain := webpOf(t)
	require.Equal(t, plain, strip(t, append(bytes.Clone(plain), "trailer"...)))

	// The extended format: flags, size less one, and then the chunks.
	extended := func(flags byte, chunks ...[]byte) []byte {
		body := append([]byte("WEBP"), riffPart("VP8X", []byte{flags, 0, 0, 0, 0, 0, 0, 0, 0, 0})...)
		body = append(body, bytes.Join(chunks, nil)...)

		return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
	}

	picture := plain[12:]
	photo := strip(t, append(extended(0x2C, riffPart("ICCP", []byte("profile")), picture, riffPart("EXIF", exif(binary.LittleEndian, 8)),
		riffPart("XMP ", []byte(secretPlace)), riffPart("odd ", []byte("told by")), []byte{}), "trailer"...))
	require.Equal(t, byte(0x28), photo[20], "a profile and an orientation")
	require.Contains(t, string(photo), "profile")
	require.Equal(t, len(photo)-8, int(binary.LittleEndian.Uint32(photo[4:])))

	upright := strip(t, extended(0x08, picture, riffPart("EXIF", exif(binary.BigEndian, 1))))
	require.Equal(t, extended(0, picture), upright)

	want, err := webp.Decode(bytes.NewReader(plain))
	require.NoError(t, err)
	got, err := webp.Decode(bytes.NewReader(plain))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.IsType(t, (*image.NRGBA)(nil), got)
}

// FuzzStrip: a stripped photo is of the same kind and not larger than before but for the orientation.
func FuzzStrip(f *testing.F) {
	for _, file := range [][]byte{
		jpegOf(f), pngOf(f), webpOf(f), inserted(jpegOf(f), 2, segment(0xE1, "Exif\x00\x00"+string(exif(binary.BigEndian, 6)))),
		inserted(pngOf(f), 33, pngPart("eXIf", string(exif(binary.LittleEndian, 3)))),
	} {
		f.Add(file)
	}

	f.Fuzz(func(t *testing.T, file []byte) {
		contentType, err := media.Check(file)
		if err != nil {
			return
		}

		photo, ok := media.Strip(contentType, file)
		if !ok {
			return
		}

		require.LessOrEqual(t, len(photo), len(file)+64)

		again, err := media.Check(photo)
		require.NoError(t, err)
		require.Equal(t, contentType, again)
	})
}
