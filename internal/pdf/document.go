// Package pdf writes small PDF documents in Arabic and English: shaped text, bars and nothing else. Text can be searched and copied; of the
// fonts a document has the glyphs that it uses.
package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-text/typesetting/font"
)

// The size of a page (A4), in points.
const (
	Width  = 595.28
	Height = 841.89
)

// Document is a document that is being written. Places are in points from the top left of the page.
type Document struct {
	title, lang string
	set         *setter
	pages       []*bytes.Buffer
	current     int
	used        map[bool]map[int][]rune // glyphs and what they are read as, by whether they are bold
}

// New begins a document without pages.
func New(title, lang string) *Document {
	return &Document{title: title, lang: lang, set: newSetter(lang), used: map[bool]map[int][]rune{false: {}, true: {}}}
}

// AddPage begins a page, on which is drawn from now on.
func (d *Document) AddPage() {
	d.pages = append(d.pages, &bytes.Buffer{})
	d.current = len(d.pages) - 1
}

// Pages is how many there are.
func (d *Document) Pages() int { return len(d.pages) }

// On makes an earlier page, from 0, the one that is drawn on.
func (d *Document) On(page int) { d.current = page }

func (d *Document) page() *bytes.Buffer { return d.pages[d.current] }

// Bar fills a rectangle; gray is 0 for black.
func (d *Document) Bar(x, y, width, height, gray float64) {
	fmt.Fprintf(d.page(), "%.3g g %.3f %.3f %.3f %.3f re f\n", gray, x, Height-y-height, width, height)
}

// Lines breaks a text into lines of at most the width.
func (d *Document) Lines(text string, style Style, width float64) []Line {
	return d.set.set(text, style, width)
}

// Draw draws a line with its left end at x and its base line at y.
func (d *Document) Draw(l Line, x, y float64) {
	out, name := d.page(), "F1"
	if l.style.Bold {
		name = "F2"
	}

	scale := l.style.Size / em

	fmt.Fprintf(out, "BT /%s %.3g Tf %.3g g\n", name, l.style.Size, l.style.Gray)

	for _, g := range l.glyphs {
		fmt.Fprintf(out, "1 0 0 1 %.3f %.3f Tm <%04X> Tj\n", x+g.x*scale, Height-y+g.y*scale, g.id)

		if used := d.used[l.style.Bold]; used[g.id] == nil {
			used[g.id] = g.text
		}
	}

	out.WriteString("ET\n")
}

// utf16Hex is a text in UTF-16 as hexadecimal digits.
func utf16Hex(text []rune, mark bool) string {
	var hex strings.Builder
	if mark {
		hex.WriteString("FEFF")
	}

	for _, unit := range utf16.Encode(text) {
		fmt.Fprintf(&hex, "%04X", unit)
	}

	return hex.String()
}

// writer numbers the objects of a file.
type writer struct {
	out     bytes.Buffer
	offsets []int
}

// Numbers of the objects that others refer to. Pages and their contents follow.
const (
	catalog = iota + 1
	pageTree
	info
	firstFont       // each has fontObjects
	fontObjects = 5 // font, descendant, descriptor, file, Unicode map
	firstPage   = firstFont + 2*fontObjects
)

func (w *writer) objectf(format string, args ...any) {
	w.offsets = append(w.offsets, w.out.Len())
	fmt.Fprintf(&w.out, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(w.offsets)}, args...)...)
}

func (w *writer) stream(data []byte, more string) error {
	var packed bytes.Buffer

	z := zlib.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		return fmt.Errorf("compress: %w", err)
	}

	if err := z.Close(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}

	w.objectf("<</Filter /FlateDecode /Length %d%s>>\nstream\n%s\nendstream", packed.Len(), more, packed.Bytes())

	return nil
}

// Bytes is the file. The same drawing gives the same bytes.
func (d *Document) Bytes() ([]byte, error) {
	var w writer

	w.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")

	var kids strings.Builder
	for i := range d.pages {
		fmt.Fprintf(&kids, "%d 0 R ", firstPage+2*i)
	}

	w.objectf("<</Type /Catalog /Pages %d 0 R /Lang (%s) /ViewerPreferences <</DisplayDocTitle true>>>>", pageTree, d.lang)
	w.objectf("<</Type /Pages /Count %d /Kids [%s]>>", len(d.pages), kids.String())
	w.objectf("<</Title <%s>>>", utf16Hex([]rune(d.title), true))

	for i, face := range []*typeface{regular(), bold()} {
		if err := w.font(face, firstFont+i*fontObjects, d.used[i == 1]); err != nil {
			return nil, err
		}
	}

	for i, page := range d.pages {
		w.objectf("<</Type /Page /Parent %d 0 R /MediaBox [0 0 %.2f %.2f] /Contents %d 0 R /Resources <</Font <</F1 %d 0 R /F2 %d 0 R>>>>>>",
			pageTree, Width, Height, firstPage+2*i+1, firstFont, firstFont+fontObjects)

		if err := w.stream(page.Bytes(), ""); err != nil {
			return nil, err
		}
	}

	start := w.out.Len()
	fmt.Fprintf(&w.out, "xref\n0 %d\n0000000000 65535 f \n", len(w.offsets)+1)

	for _, offset := range w.offsets {
		fmt.Fprintf(&w.out, "%010d 00000 n \n", offset)
	}

	fmt.Fprintf(&w.out, "trailer\n<</Size %d /Root %d 0 R /Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(w.offsets)+1, catalog, info, start)

	return w.out.Bytes(), nil
}

// font writes the fontObjects of a font: glyphs are named by their numbers (Identity-H).
func (w *writer) font(t *typeface, first int, used map[int][]rune) error {
	face := font.NewFace(t.font)
	glyphs := slices.Sorted(maps.Keys(used))
	set := map[int]bool{}

	var widths, unicode strings.Builder

	for _, g := range glyphs {
		set[g] = true
		fmt.Fprintf(&widths, "%d [%.0f] ", g, face.HorizontalAdvance(font.GID(g))*em/float32(t.upem)) //nolint:gosec // of the font

		if text := used[g]; len(text) > 0 {
			fmt.Fprintf(&unicode, "1 beginbfchar <%04X> <%s> endbfchar\n", g, utf16Hex(text, false))
		}
	}

	name := "AAAAAA+" + t.name

	w.objectf("<</Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R>>",
		name, first+1, first+4)
	w.objectf("<</Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo <</Registry (Adobe) /Ordering (Identity) /Supplement 0>> "+
		"/FontDescriptor %d 0 R /CIDToGIDMap /Identity /DW 0 /W [%s]>>", name, first+2, widths.String())
	w.objectf("<</Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [-1000 -600 2500 1200] /ItalicAngle 0 /Ascent 1000 /Descent -500 "+
		"/CapHeight 700 /StemV 80 /FontFile2 %d 0 R>>", name, first+3)

	file := t.subset(set)
	if err := w.stream(file, fmt.Sprintf(" /Length1 %d", len(file))); err != nil {
		return err
	}

	return w.stream([]byte("/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"+
		"/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def /CMapName /Adobe-Identity-UCS def /CMapType 2 def\n"+
		"1 begincodespacerange <0000> <FFFF> endcodespacerange\n"+unicode.String()+
		"endcmap CMapName currentdict /CMap defineresource pop end\n"+
		"end"), "")
}
