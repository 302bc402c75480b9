package pdf

import (
	"cmp"
	"slices"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// em is the size in which text is shaped; what is drawn is scaled from it.
const em = 1000

// Style is how a text looks.
type Style struct {
	Size float64 // in points
	Bold bool
	Gray float64 // 0 is black
}

// Line is one line of shaped text.
type Line struct {
	Width  float64 // in points
	style  Style
	glyphs []glyph // from left to right
}

// glyph is at its place from the left of the line and above the base line, in thousandths of an em. It is read as its text, of which
// marks on a letter have their own and all but one glyph of others none.
type glyph struct {
	id   int
	x, y float64
	text []rune
}

// setter shapes text for one document: what it uses is not safe for two at once.
type setter struct {
	shaper   shaping.HarfbuzzShaper
	split    shaping.Segmenter
	wrapper  shaping.LineWrapper
	language language.Language
	faces    map[bool]*font.Face
}

func newSetter(lang string) *setter {
	return &setter{
		language: language.NewLanguage(lang),
		faces:    map[bool]*font.Face{false: font.NewFace(regular().font), true: font.NewFace(bold().font)},
	}
}

// sole is a font for every letter.
type sole struct{ *font.Face }

// ResolveFace implements shaping.Fontmap.
func (s sole) ResolveFace(rune) *font.Face { return s.Face }

// direction is that of the first letter which has one; digits and signs alone run from left to right.
func direction(text string) di.Direction {
	for _, r := range text {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.R, bidi.AL:
			return di.DirectionRTL
		case bidi.L:
			return di.DirectionLTR
		default:
		}
	}

	return di.DirectionLTR
}

// set breaks a text into lines of at most the width, in points.
func (s *setter) set(text string, style Style, width float64) []Line {
	runes := []rune(text)
	if len(runes) == 0 {
		return nil
	}

	face := s.faces[style.Bold]
	input := shaping.Input{
		Text: runes, RunEnd: len(runes), Direction: direction(text), Face: face, Size: fixed.I(em), Language: s.language,
		FontFeatures: []shaping.FontFeature{{Tag: opentype.MustNewTag("liga")}}, // off: text of several letters is copied in a wrong order
	}

	parts := s.split.Split(input, sole{face})
	shaped := make([]shaping.Output, len(parts))

	for i, part := range parts {
		shaped[i] = s.shaper.Shape(part)
	}

	config := shaping.WrapConfig{Direction: input.Direction, DisableTrailingWhitespaceTrim: true}
	wrapped, _ := s.wrapper.WrapParagraph(config, int(width/style.Size*em), runes, shaping.NewSliceIterator(shaped))

	lines := make([]Line, len(wrapped))
	for i, w := range wrapped {
		lines[i] = lineOf(w, runes, style)
	}

	return lines
}

// lineOf places the glyphs of a line.
func lineOf(outputs shaping.Line, text []rune, style Style) Line {
	line, x := Line{style: style}, 0.0

	ordered := slices.Clone(outputs)
	slices.SortStableFunc(ordered, func(a, b shaping.Output) int { return cmp.Compare(a.VisualIndex, b.VisualIndex) })

	for _, o := range ordered {
		for i, g := range o.Glyphs {
			line.glyphs = append(line.glyphs, glyph{
				id: int(g.GlyphID), x: x + units(g.XOffset), y: units(g.YOffset), text: slices.Clone(readAs(o, i, text)),
			})
			x += units(g.Advance)
		}
	}

	line.Width = x * style.Size / em

	return line
}

// lamAlef are the ligatures that Arabic always writes. Viewers take a letter of its own apart again, and two letters in the wrong order.
var lamAlef = map[string]rune{"لا": '\ufefb', "لأ": '\ufef7', "لإ": '\ufef9', "لآ": '\ufef5'}

// readAs is the part of the text that a glyph of a run is read as. The runes of a letter with marks are in the order of reading, its glyphs
// from left to right.
func readAs(o shaping.Output, i int, text []rune) []rune {
	g := o.Glyphs[i]
	first, runes, glyphs := g.TextIndex(), g.RunesCount(), g.GlyphsCount()
	nth := 0

	for nth < i && o.Glyphs[i-nth-1].TextIndex() == first {
		nth++
	}

	switch {
	case glyphs == 1 && lamAlef[string(text[first:first+runes])] != 0:
		return []rune{lamAlef[string(text[first:first+runes])]}
	case glyphs == 1:
		return text[first : first+runes]
	case glyphs == runes && o.Direction == di.DirectionRTL:
		return text[first+runes-1-nth : first+runes-nth]
	case glyphs == runes:
		return text[first+nth : first+nth+1]
	case nth == 0:
		return text[first : first+runes]
	default:
		return nil
	}
}

func units(v fixed.Int26_6) float64 { return float64(v) / 64 } //nolint:mnd // 26.6 fixed point
