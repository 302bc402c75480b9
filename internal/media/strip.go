package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Strip leaves out of a checked photo what its picture does not need: where and with what it was taken (EXIF with GPS, XMP, IPTC),
// comments, thumbnails, further pictures, and what stands behind its end. Pixels and color profile stay as they are, byte for byte,
// and so does the orientation, without which viewers would show a photo of a telephone lying on its side. contentType is what Check
// has said. ok is false for a file that ends within its structure.
func Strip(contentType string, file []byte) (photo []byte, ok bool) {
	switch contentType {
	case "image/jpeg":
		return stripJPEG(file)
	case "image/png":
		return stripPNG(file)
	default:
		return stripWebP(file)
	}
}

// The markers of JPEG, each behind 0xFF.
const (
	jpegEscape  = 0x00 // within a scan: a byte of the picture
	jpegTEM     = 0x01
	jpegRST0    = 0xD0
	jpegRST7    = 0xD7
	jpegEOI     = 0xD9
	jpegSOS     = 0xDA
	jpegAPP0    = 0xE0
	jpegAPP1    = 0xE1
	jpegAPP2    = 0xE2
	jpegAPP14   = 0xEE
	jpegAPP15   = 0xEF
	jpegComment = 0xFE
	jpegFraming = 4 // marker and length
)

const exifName = "Exif\x00\x00"

// stripJPEG goes from segment to segment up to the end of the image, over scans too: of a progressive picture there are several.
func stripJPEG(file []byte) ([]byte, bool) {
	out := append(make([]byte, 0, len(file)), file[:2]...)
	oriented := false

	for at := 2; ; {
		marker, start, end := nextSegment(file, at)
		at = end

		switch {
		case end < 0:
			return nil, false
		case marker == jpegEOI:
			return append(out, 0xFF, jpegEOI), true
		case end-start < jpegFraming: // a marker that stands alone
		case marker == jpegSOS:
			at = endOfScan(file, end)
			out = append(out, file[start:at]...)
		case keepsSegment(marker, file[start+jpegFraming:end]):
			out = append(out, file[start:end]...)
		case marker == jpegAPP1 && !oriented:
			if tiff, ok := bytes.CutPrefix(file[start+jpegFraming:end], []byte(exifName)); ok && orientation(tiff) > 1 {
				out = append(out, exifSegment(orientation(tiff))...)
				oriented = true
			}
		}
	}
}

// nextSegment finds the segment that begins at a place, or behind the fill bytes there; end is -1 when there is none.
func nextSegment(file []byte, at int) (marker byte, start, end int) {
	for at+1 < len(file) && file[at] == 0xFF && file[at+1] == 0xFF {
		at++
	}

	if at+2 > len(file) || file[at] != 0xFF {
		return 0, at, -1
	}

	marker = file[at+1]
	if marker >= jpegRST0 && marker <= jpegEOI || marker == jpegTEM { // have no length
		return marker, at, at + 2
	}

	if at+jpegFraming > len(file) {
		return marker, at, -1
	}

	end = at + 2 + int(binary.BigEndian.Uint16(file[at+2:]))
	if end < at+jpegFraming || end > len(file) {
		return marker, at, -1
	}

	return marker, at, end
}

// endOfScan is where the picture's data ends and the next segment begins.
func endOfScan(file []byte, at int) int {
	for at+1 < len(file) {
		next := bytes.IndexByte(file[at:len(file)-1], 0xFF)
		if next < 0 {
			return len(file)
		}

		at += next

		switch m := file[at+1]; {
		case m == jpegEscape, m >= jpegRST0 && m <= jpegRST7:
			at += 2
		case m == 0xFF:
			at++
		default:
			return at
		}
	}

	return len(file)
}

// keepsSegment keeps the segments that decode the picture, its density, color profile and color transform. A JFIF header with a
// thumbnail is left out, its density with it.
func keepsSegment(marker byte, body []byte) bool {
	const plainJFIF = 14

	switch {
	case marker == jpegAPP0:
		return bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) == plainJFIF
	case marker == jpegAPP2:
		return bytes.HasPrefix(body, []byte("ICC_PROFILE\x00"))
	case marker == jpegAPP14:
		return bytes.HasPrefix(body, []byte("Adobe"))
	case marker >= jpegAPP0 && marker <= jpegAPP15, marker == jpegComment:
		return false
	default:
		return true
	}
}

func exifSegment(orientation uint16) []byte {
	body := append([]byte(exifName), tiffOf(orientation)...)
	segment := binary.BigEndian.AppendUint16([]byte{0xFF, jpegAPP1}, uint16(len(body)+2)) //nolint:gosec // a few bytes

	return append(segment, body...)
}

// The parts of TIFF, which EXIF is.
const (
	tiffHeader      = 8
	tiffEntry       = 12
	tagOrientation  = 0x0112
	typeShort       = 3
	maxOrientation  = 8
	maxEntries      = 1000
	bigEndianMark   = "MM\x00*"
	littleEndianTag = "II*\x00"
)

// orientation reads the one tag that is kept; 0 when there is none that makes sense.
func orientation(tiff []byte) uint16 {
	if len(tiff) < tiffHeader {
		return 0
	}

	var order binary.ByteOrder

	switch string(tiff[:4]) {
	case bigEndianMark:
		order = binary.BigEndian
	case littleEndianTag:
		order = binary.LittleEndian
	default:
		return 0
	}

	first := uint64(order.Uint32(tiff[4:]))
	if first+2 > uint64(len(tiff)) {
		return 0
	}

	entries := min(int(order.Uint16(tiff[first:])), maxEntries)

	for rest := tiff[first+2:]; entries > 0 && len(rest) >= tiffEntry; entries-- {
		if order.Uint16(rest) == tagOrientation && order.Uint16(rest[2:]) == typeShort {
			if o := order.Uint16(rest[8:]); o >= 1 && o <= maxOrientation {
				return o
			}

			return 0
		}

		rest = rest[tiffEntry:]
	}

	return 0
}

// tiffOf has the orientation and nothing else.
func tiffOf(orientation uint16) []byte {
	out := append([]byte(bigEndianMark), 0, 0, 0, tiffHeader, 0, 1)
	out = binary.BigEndian.AppendUint16(out, tagOrientation)
	out = binary.BigEndian.AppendUint16(out, typeShort)
	out = append(out, 0, 0, 0, 1)
	out = binary.BigEndian.AppendUint16(out, orientation)

	return append(out, 0, 0, 0, 0, 0, 0)
}

const (
	pngSignature = 8
	pngFraming   = 12 // length, type and checksum of a chunk
)

// pngKept are the chunks that a picture is shown by: text, time, EXIF, animations and unknown chunks stay out.
var pngKept = []string{
	"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "bKGD", "pHYs",
}

func stripPNG(file []byte) ([]byte, bool) {
	out := append(make([]byte, 0, len(file)), file[:pngSignature]...)
	turned := uint16(0)

	for rest := file[pngSignature:]; len(rest) >= pngFraming; {
		length := uint64(binary.BigEndian.Uint32(rest)) + pngFraming
		if length > uint64(len(rest)) {
			return nil, false
		}

		name, chunk := string(rest[4:8]), rest[:length]
		rest = rest[length:]

		switch {
		case name == "eXIf":
			turned = max(turned, orientation(chunk[8:len(chunk)-4]))
		case name == "IEND":
			if turned > 1 { // may stand anywhere behind the header
				out = append(out, pngChunk("eXIf", tiffOf(turned))...)
			}

			return append(out, chunk...), true
		case slices.Contains(pngKept, name):
			out = append(out, chunk...)
		}
	}

	return nil, false
}

func pngChunk(name string, data []byte) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name...) //nolint:gosec // a few bytes
	out = append(out, data...)

	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// The parts of RIFF, which WebP is.
const (
	riffHeader = 12 // RIFF, size, WEBP
	riffChunk  = 8  // name and size
	webpFrame  = 16 // what a frame of an animation has ahead of its chunks
	flagXMP    = 0x04
	flagEXIF   = 0x08
)

var (
	webpKept  = []string{"VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"}
	frameKept = []string{"VP8 ", "VP8L", "ALPH"}
)

func stripWebP(file []byte) ([]byte, bool) {
	size := uint64(binary.LittleEndian.Uint32(file[4:])) + riffChunk
	if size > uint64(len(file)) || size < riffHeader {
		return nil, false
	}

	turned, header := uint16(0), -1
	out := append(make([]byte, 0, size), file[:riffHeader]...)

	ok := eachChunk(file[riffHeader:size], func(name string, data []byte) bool {
		switch {
		case name == "EXIF":
			turned = max(turned, orientation(bytes.TrimPrefix(data, []byte(exifName))))
		case name == "ANMF":
			frame, ok := stripFrame(data)
			out = appendChunk(out, name, frame)

			return ok
		case slices.Contains(webpKept, name):
			if name == "VP8X" && len(data) > 0 {
				header = len(out) + riffChunk
			}

			out = appendChunk(out, name, data)
		}

		return true
	})
	if !ok {
		return nil, false
	}

	if header >= 0 { // only the extended format has metadata, and says so
		out[header] &^= flagXMP | flagEXIF

		if turned > 1 {
			out[header] |= flagEXIF
			out = appendChunk(out, "EXIF", tiffOf(turned))
		}
	}

	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-riffChunk)) //nolint:gosec // not more than it was

	return out, true
}

func stripFrame(data []byte) ([]byte, bool) {
	if len(data) < webpFrame {
		return nil, false
	}

	out := slices.Clone(data[:webpFrame])
	ok := eachChunk(data[webpFrame:], func(name string, data []byte) bool {
		if slices.Contains(frameKept, name) {
			out = appendChunk(out, name, data)
		}

		return true
	})

	return out, ok
}

// eachChunk walks chunks; the padding of the last one may be missing.
func eachChunk(rest []byte, do func(name string, data []byte) bool) bool {
	for len(rest) > 0 {
		if len(rest) < riffChunk {
			return false
		}

		size := uint64(binary.LittleEndian.Uint32(rest[4:]))
		if size+riffChunk > uint64(len(rest)) {
			return false
		}

		if !do(string(rest[:4]), rest[riffChunk:riffChunk+size]) {
			return false
		}

		rest = rest[min(riffChunk+size+size%2, uint64(len(rest))):]
	}

	return true
}

func appendChunk(out []byte, name string, data []byte) []byte {
	out = binary.LittleEndian.AppendUint32(append(out, name...), uint32(len(data))) //nolint:gosec // not more than it was
	out = append(out, data...)

	if len(data)%2 == 1 {
		out = append(out, 0)
	}

	return out
}
