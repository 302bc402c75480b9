// Package brand is what pages, tickets and mails have in common: the name, the logo and the colours. The console has the same logo
// (console/public/icon.svg) and colours (console/src/app/theme.css) in files of its own, which a test compares with these.
package brand

import (
	_ "embed"
	"html/template"
	"strings"

	"rihla/models"
)

// Colours, of which text on the ground beside it has a contrast of at least 4.5:1.
const (
	Colour = "#0b7285" // of buttons, links and the logo's ground
	Strong = "#095c6b" // of a button under the pointer
	Accent = "#fcc419" // of the logo's destination
	Ground = "#f4f6f8" // behind cards
	Card   = "#ffffff"
	Text   = "#1b2429"
	Soft   = "#56626b" // of labels
	Line   = "#dfe4e8"
	Mark   = "#e3f2f5" // behind what is pointed out
	Bad    = "#a11d1d"
	BadBg  = "#fde5e5"
)

// Palette has the colours for templates of mails, in which programs know no variables of style sheets.
type Palette struct{ Colour, Strong, Accent, Ground, Card, Text, Soft, Line, Mark template.CSS }

// Colours is the palette.
func Colours() Palette {
	return Palette{
		Colour: Colour, Strong: Strong, Accent: Accent, Ground: Ground, Card: Card, Text: Text, Soft: Soft, Line: Line, Mark: Mark,
	}
}

// CSS declares the colours for the style sheets of pages: var(--brand) and so on.
const CSS template.CSS = ":root{--brand:" + Colour + ";--brand-strong:" + Strong + ";--accent:" + Accent + ";--ground:" + Ground +
	";--card:" + Card + ";--ink:" + Text + ";--soft:" + Soft + ";--line:" + Line + ";--mark:" + Mark + ";--bad:" + Bad +
	";--bad-ground:" + BadBg + "}\n"

//go:embed icon.svg
var icon string

// Icon is the logo for a page; its size is a matter of the page's style. Within HTML an SVG needs no name space.
func Icon() template.HTML {
	return template.HTML(strings.Replace(icon, ` xmlns="http://www.w3.org/2000/svg"`, "", 1)) //nolint:gosec // our own file, embedded
}

// IconPNG is the logo for mails, 96 pixels wide: mail programs show no SVG. It is icon.svg as a browser draws it.
//
//go:embed icon.png
var IconPNG []byte

// Countdown is a script that fills #countdown with the time that is left until its data-expires.
//
//go:embed countdown.js
var Countdown template.JS

// Name is the name that people read.
func Name(locale models.Locale) string { return models.Label{AR: "رحلة", EN: "Rihla"}.In(locale) }
