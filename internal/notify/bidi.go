package notify

import (
	"strings"
	"unicode"
)

// Marks around a text of the other direction: without them a reference in an Arabic sentence takes the punctuation and the numbers beside
// it along into its own direction.
const (
	isolate    = "\u2068" // the direction of the text's first letter; from left to right without one
	endIsolate = "\u2069"
	tatweel    = 'ـ' // no letter of one script alone
)

// isolated puts the marks around a value that does not run as the language does.
func (w *writer) isolated(text string) string {
	if strings.Contains(text, isolate) || !w.runsOtherwise(text) {
		return text
	}

	return isolate + text + endIsolate
}

// runsOtherwise reports a value with letters of the other direction; in Arabic also one with digits and no Arabic letter, such as a phone
// number, and an amount, whose digits run from left to right.
func (w *writer) runsOtherwise(text string) bool {
	var arabic, latin, digits bool

	for _, r := range text {
		switch {
		case unicode.Is(unicode.Arabic, r), r == tatweel:
			arabic = true
		case unicode.IsLetter(r):
			latin = true
		case unicode.IsDigit(r):
			digits = true
		}
	}

	if !w.isArabic() {
		return arabic
	}

	return latin || digits && !arabic
}

// inSentence are the values as sentences show them.
func (w *writer) inSentence(v values) values {
	for _, text := range []*string{
		&v.Name, &v.Booking, &v.Trip, &v.Campaign, &v.Note, &v.Company, &v.Account, &v.Role,
	} {
		*text = w.isolated(*text)
	}

	// An amount in Arabic has digits and an abbreviation with a dot: both stay together beside a reference.
	if w.isArabic() && v.Amount != "" {
		v.Amount = isolate + v.Amount + endIsolate
	}

	return v
}
