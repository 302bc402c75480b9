package brand_test

import (
	"bytes"
	"image/png"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/brand"
)

// TestConsoleHasTheBrand: the console's logo is this one, and its style sheet has these colours.
func TestConsoleHasTheBrand(t *testing.T) {
	t.Parallel()

	icon, err := os.ReadFile("../../console/public/icon.svg")
	require.NoError(t, err)
	require.Equal(t, strings.Replace(string(icon), ` xmlns="http://www.w3.org/2000/svg"`, "", 1), string(brand.Icon()))
	require.NotContains(t, string(brand.Icon()), "http")

	theme, err := os.ReadFile("../../console/src/app/theme.css")
	require.NoError(t, err)

	for _, declared := range []string{
		"--mantine-color-cyan-filled: " + brand.Colour, "--mantine-color-cyan-filled-hover: " + brand.Strong, "--ground: " + brand.Ground,
		"--line: " + brand.Line, "--mark: " + brand.Mark, "--mantine-color-text: " + brand.Text, "--mantine-color-dimmed: " + brand.Soft,
		"--bad: " + brand.Bad, "--bad-ground: " + brand.BadBg,
	} {
		require.Contains(t, string(theme), declared+";")
	}
}

// TestIconOfMails: the PNG is the SVG, as far as three of its points tell.
func TestIconOfMails(t *testing.T) {
	t.Parallel()

	drawn, err := png.Decode(bytes.NewReader(brand.IconPNG))
	require.NoError(t, err)
	require.Equal(t, 96, drawn.Bounds().Dx())

	for colour, at := range map[string][2]int{brand.Colour: {12, 48}, brand.Accent: {72, 30}, "#ffffff": {24, 66}} {
		rgb, err := strconv.ParseUint(colour[1:], 16, 32)
		require.NoError(t, err)

		r, g, b, _ := drawn.At(at[0], at[1]).RGBA()
		require.Equal(t, [3]uint64{rgb >> 16, rgb >> 8 & 0xff, rgb & 0xff}, [3]uint64{uint64(r >> 8), uint64(g >> 8), uint64(b >> 8)}, colour)
	}
}
