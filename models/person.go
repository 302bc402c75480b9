package models

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// link finds what mail and telephones turn into something to open: a scheme, a host that begins with www., or a domain or
// an IPv4 address with a path.
var link = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:/+|\b(?:https?|mailto|tel|sms|javascript|data):|www\.|` +
	`[\p{L}\p{M}\p{N}-]+\.(?:[\p{L}\p{M}]{2,}|xn--[a-z0-9-]+)(?::[0-9]+)?[/?#]\S|` +
	`[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]+)?[/?#]\S`)

// HasLink reports a text that contains an address. It is held against names of people, which are sent to strangers: full-width
// letters and invisible characters do not hide one.
func HasLink(text string) bool {
	return link.MatchString(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case r == '。', r == '｡', r == '․', r == '⁄', r == '∕':
			return map[rune]rune{'。': '.', '｡': '.', '․': '.', '⁄': '/', '∕': '/'}[r]
		default:
			return r
		}
	}, norm.NFKC.String(text)))
}
