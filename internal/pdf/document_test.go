package pdf_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/pdf"
)

// document has each text on a line of its own.
func document(t *testing.T, texts ...string) []byte {
	t.Helper()

	d := pdf.New("قائمة", "ar")
	d.AddPage()

	for i, text := range texts {
		lines := d.Lines(text, pdf.Style{Size: 12, Bold: i%2 == 1}, 500)
		require.Len(t, lines, 1, text)
		d.Draw(lines[0], 40, 50+20*float64(i))
	}

	file, err := d.Bytes()
	require.NoError(t, err)

	return file
}

// streams are those of a file, unpacked.
func streams(t *testing.T, file []byte) [][]byte {
	t.Helper()

	found := regexp.MustCompile(`>>\nstream\n`).FindAllIndex(file, -1)
	all := make([][]byte, 0, len(found))

	for _, at := range found {
		z, err := zlib.NewReader(bytes.NewReader(file[at[1]:]))
		require.NoError(t, err)

		data, err := io.ReadAll(z)
		require.NoError(t, err)

		all = append(all, data)
	}

	return all
}

// TestArabicIsShaped: letters are joined, lam and alef are one sign, and what is drawn is read as it was written.
func TestArabicIsShaped(t *testing.T) {
	t.Parallel()

	glyphs := func(text string) int {
		all := streams(t, document(t, text))

		return strings.Count(string(all[len(all)-1]), " Tj")
	}

	require.Equal(t, 1, glyphs("لا"), "a ligature")
	require.Equal(t, 3, glyphs("سلام"), "with one in it")
	require.Equal(t, 2, glyphs("مُ"), "a letter and its mark")
	require.Equal(t, 5, glyphs("Rihla"))

	alone, joined := streams(t, document(t, "م")), streams(t, document(t, "ممم"))
	require.NotContains(t, string(joined[len(joined)-1]), regexp.MustCompile(`<\w{4}> Tj`).FindString(string(alone[len(alone)-1])),
		"joined letters have other forms than one alone")

	read := streams(t, document(t, "سلام Rihla"))[1]
	for _, code := range []string{"<0633>", "<FEFB>", "<0645>", "<0052>"} {
		require.Contains(t, string(read), code)
	}
}

// TestRightToLeft: the first letter of Arabic is on the right, digits in it run from left to right, and so does a telephone number alone.
func TestRightToLeft(t *testing.T) {
	t.Parallel()

	placed := func(text string) []string {
		all := streams(t, document(t, text))

		shown := regexp.MustCompile(`<(\w{4})> Tj`).FindAllStringSubmatch(string(all[len(all)-1]), -1)
		order := make([]string, 0, len(shown))

		for _, g := range shown {
			to := regexp.MustCompile(`<` + g[1] + `> <(\w+)>`).FindStringSubmatch(string(all[1]))
			order = append(order, to[1])
		}

		return order
	}

	require.Equal(t, []string{"0031", "0032", "0020", "0628"}, placed("ب 12"), "digits, space, letter, from the left")
	require.Equal(t, []string{"002B", "0039", "0036"}, placed("+96"))
	require.Equal(t, []string{"0041", "0020", "0628"}, placed("A ب"))
}

// TestSubset: the font in a document is a font with the glyphs that are used, and small.
func TestSubset(t *testing.T) {
	t.Parallel()

	for _, data := range streams(t, document(t, "رحلة العمرة ÀÉ 123", "Bold é"))[:4] {
		if !bytes.HasPrefix(data, []byte{0, 1, 0, 0}) {
			continue
		}

		require.Less(t, len(data), 40<<10)
		require.Contains(t, string(data[:200]), "glyf")
	}
}
