package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"

	"golang.org/x/image/webp"

	"rihla/models"
)

// The bounds of a photo's picture: a small file with a huge claimed size must not cost its viewers gigabytes.
const (
	maxSide   = 16_384     // pixels
	maxPixels = 64_000_000 // width × height
)

// Check says what a file is by its bytes: image/jpeg, image/png or image/webp, whatever it is called. The file must be
// there to its end, and its header must be one that a viewer can use. The pixels are not decoded. Errors:
// UNSUPPORTED_MEDIA_TYPE for what is no such picture, VALIDATION_ERROR on photos for one with too many pixels.
func Check(file []byte) (contentType string, err error) {
	contentType = http.DetectContentType(file)

	var header image.Config

	complete := false

	switch contentType {
	case "image/jpeg":
		header, err = jpeg.DecodeConfig(bytes.NewReader(file))
		complete = jpegComplete(file)
	case "image/png":
		header, err = png.DecodeConfig(bytes.NewReader(file))
		complete = pngComplete(file)
	case "image/webp":
		header, err = webp.DecodeConfig(bytes.NewReader(file))
		complete = webpComplete(file)
	}

	switch {
	case err != nil, !complete, header.Width < 1, header.Height < 1:
		return "", models.NewError(models.CodeUnsupportedMediaType, "photo.incomplete")
	case header.Width > maxSide, header.Height > maxSide, header.Width*header.Height > maxPixels:
		return "", models.Invalid("photos", "photo.pixels", "width", maxSide, "height", maxSide, "megapixels", maxPixels/1_000_000)
	}

	return contentType, nil
}

// jpegComplete walks the segments up to the first scan, and finds the end of the image behind it: within a scan 0xFF is
// always followed by something else. Earlier ones do not count, they belong to thumbnails.
func jpegComplete(file []byte) bool {
	const (
		marker = 0xFF
		scan   = 0xDA
	)

	for at := 2; at+4 <= len(file) && file[at] == marker; {
		if file[at+1] == marker { // a fill byte
			at++

			continue
		}

		if file[at+1] == scan {
			return bytes.Contains(file[at:], []byte{marker, 0xD9})
		}

		at += 2 + int(binary.BigEndian.Uint16(file[at+2:]))
	}

	return false
}

// pngComplete walks the chunks to the last, IEND.
func pngComplete(file []byte) bool {
	const (
		signature = 8
		framing   = 12 // length, type and checksum of a chunk
	)

	for rest := file[signature:]; len(rest) >= framing; {
		length := uint64(binary.BigEndian.Uint32(rest)) + framing
		if length > uint64(len(rest)) {
			return false
		}

		if string(rest[4:8]) == "IEND" {
			return true
		}

		rest = rest[length:]
	}

	return false
}

// webpComplete compares the file with the size in its RIFF header.
func webpComplete(file []byte) bool {
	const header = 8

	return uint64(binary.LittleEndian.Uint32(file[4:]))+header <= uint64(len(file))
}
