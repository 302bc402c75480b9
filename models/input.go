package models

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// What people type and paste is brought into one form before it is checked, compared and kept (rules: input.words). The functions are
// pure, and applied twice they change nothing more.

// CleanText is a text of one line, such as a name or a title: without control characters and characters that cannot be seen, which hide
// or turn around what is beside them, and without spaces around it. Joiners stay between letters that they shape, as in Persian names,
// and in emoji. A text of which nothing can be seen is empty.
func CleanText(text string) string {
	return clean(text, func(r rune) rune {
		if isBreak(r) || r == '\t' {
			return ' '
		}

		return r
	})
}

// CleanLines is CleanText for a text of several lines.
func CleanLines(text string) string {
	return clean(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) rune {
		switch {
		case isBreak(r):
			return '\n'
		case r == '\t':
			return ' '
		default:
			return r
		}
	})
}

// CleanReference is what identifies something outside: the reference of a bank, a plate or license number. Digits are ASCII, dashes are
// hyphens, one space is between its parts, and nothing invisible is in it.
func CleanReference(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case isBreak(r), r == '\t', unicode.Is(unicode.Zs, r):
			return ' '
		case isJoiner(r):
			return -1
		default:
			return asciiForm(r)
		}
	}, clean(width.Fold.String(text), func(r rune) rune { return r }))

	return strings.Join(strings.Fields(text), " ")
}

// CleanNumber is CleanReference of something that has no spaces: a document's number.
func CleanNumber(text string) string { return strings.ReplaceAll(CleanReference(text), " ", "") }

// CleanPhone is a phone number without what people write between its digits. What is no part of a number stays, so that it is refused.
func CleanPhone(text string) string { return withoutGaps(text, phoneGaps) }

// CleanCode is a one-time code, or a recovery code, without what people write between its groups.
func CleanCode(text string) string { return withoutGaps(text, codeGaps) }

// withoutGaps is CleanNumber without gaps. An accent or a variation selector may have stood on one of them, and is nothing without it.
func withoutGaps(text string, gaps *strings.Replacer) string {
	return clean(gaps.Replace(CleanNumber(text)), func(r rune) rune { return r })
}

// CleanExact is what is compared character by character, such as an email address or the token of a link: nothing invisible is in it,
// and no space around it. Letter case stays.
func CleanExact(text string) string {
	return strings.Map(func(r rune) rune {
		if isJoiner(r) {
			return -1
		}

		return r
	}, CleanText(text))
}

// CleanAmount is an amount in the one form that ParseMoney reads, `1150.25`, when it is certain which number is meant: a comma, also the
// Arabic one, stands before three digits, and then as often as it has to. Any other text is returned as it was cleaned, and is no amount.
func CleanAmount(text string) string {
	plain := amountSpelling.Replace(CleanNumber(text))
	if grouped.MatchString(plain) {
		return strings.ReplaceAll(plain, ",", "")
	}

	return plain
}

var (
	phoneGaps      = strings.NewReplacer("-", "", "(", "", ")", "", ".", "")
	codeGaps       = strings.NewReplacer("-", "")
	amountSpelling = strings.NewReplacer("\u066b", ".", "\u066c", ",")
	grouped        = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$`)
)

// asciiForm writes digits and dashes as ASCII has them.
func asciiForm(r rune) rune {
	switch {
	case r >= '٠' && r <= '٩':
		return '0' + r - '٠'
	case r >= '۰' && r <= '۹':
		return '0' + r - '۰'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0xfe58, r == 0xfe63:
		return '-'
	default:
		return r
	}
}

// isBreak reports a character that ends a line or a page.
func isBreak(r rune) bool {
	return r >= '\n' && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// invisible are characters without a picture of their own that are needed nowhere: controls, marks, embeddings, overrides and isolates of
// direction, spaces without width, fillers, tags. Those of Arabic numbers and of the Quran are not among them: they can be seen.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0000, 0x0008, 1},
		{0x000e, 0x001f, 1},
		{0x007f, 0x0084, 1},
		{0x0086, 0x009f, 1},
		{0x00ad, 0x00ad, 1},
		{0x034f, 0x034f, 1},
		{0x061c, 0x061c, 1},
		{0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1},
		{0x180b, 0x180f, 1},
		{0x200b, 0x200b, 1},
		{0x200e, 0x200f, 1},
		{0x202a, 0x202e, 1},
		{0x2060, 0x206f, 1},
		{0x2800, 0x2800, 1},
		{0x3164, 0x3164, 1},
		{0xfeff, 0xfeff, 1},
		{0xffa0, 0xffa0, 1},
		{0xfff9, 0xfffb, 1},
	},
	R32:         []unicode.Range32{{0x1bca0, 0x1bca3, 1}, {0x1d173, 0x1d17a, 1}, {0xe0000, 0xe00ff, 1}},
	LatinOffset: 5,
}

// joining are the scripts whose letters a joiner between them shapes.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
}

// clean leaves out what cannot be seen, writes what is left with a function, and trims. Controls that end a line or are a tab get to the
// function.
func clean(text string, write func(rune) rune) string {
	if isPlain(text) {
		return strings.TrimSpace(text)
	}

	var (
		kept []rune
		seen bool
	)

	for _, r := range text {
		if unicode.Is(invisible, r) {
			continue
		}

		seen = seen || unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
		kept = append(kept, write(r))
	}

	if !seen {
		return ""
	}

	return strings.TrimFunc(string(shaped(kept)), func(r rune) bool { return unicode.IsSpace(r) || isJoiner(r) })
}

// isPlain reports printable ASCII, which most texts are.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}

	return true
}

// shaped leaves out joiners and variation selectors that shape nothing.
func shaped(text []rune) []rune {
	out := text[:0]

	for i, r := range text {
		var before, after rune
		if len(out) > 0 {
			before = out[len(out)-1]
		}

		if i+1 < len(text) {
			after = text[i+1]
		}

		switch {
		case isJoiner(r) && !joins(before, after):
		case unicode.Is(unicode.Variation_Selector, r) && !varies(before):
		default:
			out = append(out, r)
		}
	}

	return out
}

// joins reports whether a joiner between two characters shapes them. A variation selector is the end of the first one, and never
// begins the second.
func joins(before, after rune) bool {
	emoji := func(r rune) bool { return unicode.In(r, unicode.So, unicode.Sk) }
	letter := func(r rune) bool { return unicode.In(r, joining...) && unicode.In(r, unicode.L, unicode.M) }

	return letter(before) && letter(after) || (emoji(before) || unicode.Is(unicode.Variation_Selector, before)) && emoji(after)
}

// varies reports whether a character can have a variant: a symbol, a digit or a Chinese one.
func varies(r rune) bool { return unicode.In(r, unicode.S, unicode.N, unicode.P, unicode.Han) }
