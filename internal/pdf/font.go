package pdf

import (
	"bytes"
	_ "embed" // of the fonts
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
)

// Vazirmatn has Arabic, Persian, Urdu and Latin in one design. Its license is fonts/OFL.txt.
var (
	//go:embed fonts/Vazirmatn-Regular.ttf
	regularFile []byte
	//go:embed fonts/Vazirmatn-Bold.ttf
	boldFile []byte

	regular = sync.OnceValue(func() *typeface { return mustParse("Vazirmatn-Regular", regularFile) })
	bold    = sync.OnceValue(func() *typeface { return mustParse("Vazirmatn-Bold", boldFile) })
)

// typeface is a TrueType font, read once for all documents.
type typeface struct {
	name   string
	font   *font.Font
	upem   float64
	tables map[string][]byte
}

// kept are the tables that a PDF's viewer needs to draw glyphs; text is shaped before.
var kept = []string{"cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"}

// mustParse reads a font that is built in.
func mustParse(name string, file []byte) *typeface {
	t, err := parse(name, file)
	if err != nil {
		panic(err)
	}

	return t
}

func parse(name string, file []byte) (*typeface, error) {
	loader, err := opentype.NewLoader(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("read font %s: %w", name, err)
	}

	f, err := font.NewFont(loader)
	if err != nil {
		return nil, fmt.Errorf("read font %s: %w", name, err)
	}

	t := &typeface{name: name, font: f, upem: float64(f.Upem()), tables: map[string][]byte{}}

	for _, table := range kept {
		if data, err := loader.RawTable(opentype.MustNewTag(table)); err == nil {
			t.tables[table] = data
		}
	}

	return t, nil
}

// Positions in the tables, as the OpenType specification has them.
const (
	headLocaFormat  = 50
	headChecksum    = 8
	compositeHeader = 10
	maxpGlyphs      = 4
)

// outline is the data of a glyph; empty for one that draws nothing.
func (t *typeface) outline(glyph int) []byte {
	loca, glyf := t.tables["loca"], t.tables["glyf"]
	at := func(i int) int {
		if binary.BigEndian.Uint16(t.tables["head"][headLocaFormat:]) == 0 {
			return 2 * int(binary.BigEndian.Uint16(loca[2*i:]))
		}

		return int(binary.BigEndian.Uint32(loca[4*i:]))
	}

	return glyf[at(glyph):at(glyph+1)]
}

// components are the glyphs that a composite one is made of.
func components(outline []byte) []int {
	const words, scale, more, scales, matrix = 0x1, 0x8, 0x20, 0x40, 0x80

	if len(outline) < compositeHeader || int16(binary.BigEndian.Uint16(outline)) >= 0 { //nolint:gosec // negative: a composite
		return nil
	}

	var parts []int

	for rest := outline[compositeHeader:]; ; {
		flags := binary.BigEndian.Uint16(rest)
		parts = append(parts, int(binary.BigEndian.Uint16(rest[2:])))

		size := 6
		if flags&words != 0 {
			size += 2
		}

		switch {
		case flags&scale != 0:
			size += 2
		case flags&scales != 0:
			size += 4
		case flags&matrix != 0:
			size += 8
		}

		if rest = rest[size:]; flags&more == 0 {
			return parts
		}
	}
}

// subset is the font with the outlines of the used glyphs alone. Glyphs keep their numbers.
func (t *typeface) subset(used map[int]bool) []byte {
	all := map[int]bool{0: true}

	var add func(glyph int)

	add = func(glyph int) {
		if all[glyph] {
			return
		}

		all[glyph] = true
		for _, part := range components(t.outline(glyph)) {
			add(part)
		}
	}

	for glyph := range used {
		add(glyph)
	}

	glyphs := int(binary.BigEndian.Uint16(t.tables["maxp"][maxpGlyphs:]))

	var glyf, loca []byte

	for glyph := range glyphs {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf))) //nolint:gosec // less than the font

		if all[glyph] {
			glyf = append(glyf, t.outline(glyph)...)
			glyf = append(glyf, make([]byte, -len(glyf)&3)...)
		}
	}

	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf))) //nolint:gosec // less than the font
	head := bytes.Clone(t.tables["head"])
	binary.BigEndian.PutUint16(head[headLocaFormat:], 1)
	binary.BigEndian.PutUint32(head[headChecksum:], 0)

	return assemble(t.tables, map[string][]byte{"glyf": glyf, "loca": loca, "head": head})
}

// assemble writes a font file of tables, some of them instead of others.
func assemble(tables, instead map[string][]byte) []byte {
	const directory, entry = 12, 16

	var names []string

	for _, name := range kept {
		if len(tables[name]) > 0 {
			names = append(names, name)
		}
	}

	n := len(names)
	search, selector := 1, 0

	for search*2 <= n {
		search, selector = search*2, selector+1
	}

	file := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, v := range []int{n, search * entry, selector, (n - search) * entry} {
		file = binary.BigEndian.AppendUint16(file, uint16(v)) //nolint:gosec // a few tables
	}

	var body []byte

	for _, name := range names {
		data, ok := instead[name]
		if !ok {
			data = tables[name]
		}

		file = append(file, name...)
		for _, v := range []uint32{checksum(data), uint32(directory + n*entry + len(body)), uint32(len(data))} { //nolint:gosec // small
			file = binary.BigEndian.AppendUint32(file, v)
		}

		body = append(append(body, data...), make([]byte, -len(data)&3)...)
	}

	return append(file, body...)
}

func checksum(data []byte) (sum uint32) {
	padded := append(bytes.Clone(data), make([]byte, -len(data)&3)...)
	for ; len(padded) > 0; padded = padded[4:] {
		sum += binary.BigEndian.Uint32(padded)
	}

	return sum
}
