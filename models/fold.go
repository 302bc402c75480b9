package models

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold is what a search compares of a text. It is the database's search_fold (migration 0062), step by step: a test runs the same
// texts through both. Letters have no case, no diacritics and no hamza; presentation forms and full-width characters are plain ones; the
// forms of alef, yeh, heh and kaf are one each; digits, dashes and apostrophes are those of ASCII; what cannot be seen is left out.
// Names that are written in one word or in two (Abdullah, Abu Bakr, Nour al-Din) are one word, and several waws are one (Dawood).
func Fold(text string) string {
	folded := strings.Map(func(r rune) rune {
		switch to, other := foldedTo[r]; {
		case other:
			return to
		case unicode.Is(unfolded, r):
			return -1
		default:
			return r
		}
	}, strings.ToLower(norm.NFKD.String(text)))

	folded = replaceAll(folded, "  ", " ")
	for _, joined := range []string{"عبد ", " الله", " الدين"} {
		folded = strings.ReplaceAll(folded, joined, strings.TrimSpace(joined))
	}

	const father = "ابو"
	for folded = replaceAll(folded, "وو", "و"); strings.Contains(folded, father+" "); folded = replaceAll(folded, "وو", "و") {
		folded = strings.ReplaceAll(folded, father+" ", father)
	}

	return folded
}

// replaceAll replaces until nothing is left to be replaced.
func replaceAll(text, from, to string) string {
	for strings.Contains(text, from) {
		text = strings.ReplaceAll(text, from, to)
	}

	return text
}

// foldedTo are characters that stand for another one, after their decomposition (NFKD).
var foldedTo = func() map[rune]rune {
	to := map[rune]rune{'`': '\''}

	for into, from := range map[rune]string{
		'\u0627': "\u0671\u0672\u0673",                               // alef
		'\u064a': "\u0649\u06cc\u06cd\u06ce\u06d0\u06d1\u06d2",       // yeh
		'\u0647': "\u0629\u06c1\u06be\u06c3\u06d5",                   // heh, and ta marbuta
		'\u0643': "\u06a9\u06aa",                                     // kaf
		'\u03c3': "\u03c2",                                           // sigma at the end of a word
		'i':      "\u0131",                                           // without its dot
		'-':      "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",       // dashes, minus
		'\'':     "\u02bb\u02bc\u02be\u02bf\u2018\u2019\u201b\u2032", // apostrophes
		',':      "\u060c\u066c",                                     // also between thousands
		'.':      "\u066b",                                           // before decimals
		';':      "\u061b",                                           //
		'?':      "\u061f",                                           //
		' ':      "\t\v\f\r\u0085\u1680\u2028\u2029",                 // what is a space and does not become one by NFKD
	} {
		for _, r := range from {
			to[r] = into
		}
	}

	for digit := range rune(10) {
		to['٠'+digit], to['۰'+digit] = '0'+digit, '0'+digit
	}

	return to
}()

// unfolded are the characters that a fold leaves out: marks above and below letters, the hamza, which people write or leave out, tatweel,
// and what cannot be seen. A line feed stays.
var unfolded = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0001, 0x0008, 1},
		{0x000e, 0x001f, 1},
		{0x007f, 0x009f, 1},
		{0x00ad, 0x00ad, 1},
		{0x0300, 0x036f, 1},
		{0x0483, 0x0489, 1},
		{0x0591, 0x05bd, 1},
		{0x05bf, 0x05bf, 1},
		{0x05c1, 0x05c2, 1},
		{0x05c4, 0x05c5, 1},
		{0x05c7, 0x05c7, 1},
		{0x0610, 0x061a, 1},
		{0x061c, 0x061c, 1},
		{0x0621, 0x0621, 1},
		{0x0640, 0x0640, 1},
		{0x064b, 0x065f, 1},
		{0x0670, 0x0670, 1},
		{0x0674, 0x0674, 1},
		{0x06d6, 0x06ed, 1},
		{0x08ca, 0x08ff, 1},
		{0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1},
		{0x180b, 0x180f, 1},
		{0x1ab0, 0x1aff, 1},
		{0x1dc0, 0x1dff, 1},
		{0x200b, 0x200f, 1},
		{0x202a, 0x202e, 1},
		{0x2060, 0x206f, 1},
		{0x20d0, 0x20ff, 1},
		{0x2800, 0x2800, 1},
		{0xfe00, 0xfe0f, 1},
		{0xfe20, 0xfe2f, 1},
		{0xfeff, 0xfeff, 1},
		{0xfff9, 0xfffb, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe0fff, 1}},
}
