package ticket

import (
	"fmt"
	"image/color"

	"github.com/boombuler/barcode/qr"
)

// quiet is the white border that scanners need around a code, in modules.
const quiet = 4

// code is a QR code as squares: a bar is a run of dark ones in a row, in modules from the top left of the border.
type code struct {
	size int // of a side, the border included
	bars []bar
}

type bar struct{ X, Y, Width int }

// codeOf is the QR code of a token. A seventh of it may be hidden: it is read from scratched telephones.
func codeOf(token string) (code, error) {
	matrix, err := qr.Encode(token, qr.M, qr.Unicode)
	if err != nil {
		return code{}, fmt.Errorf("encode QR code: %w", err)
	}

	side := matrix.Bounds().Dx()
	dark := func(x, y int) bool { return x < side && color.GrayModel.Convert(matrix.At(x, y)) == color.Gray{} }
	c := code{size: side + 2*quiet}

	for y := range side {
		for x := 0; x < side; x++ {
			start := x
			for dark(x, y) {
				x++
			}

			if x > start {
				c.bars = append(c.bars, bar{start + quiet, y + quiet, x - start})
			}
		}
	}

	return c, nil
}
