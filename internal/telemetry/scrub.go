package telemetry

import (
	"log/slog"
	"regexp"
	"strings"
)

// The names of attributes keep some secrets out of the logs; others are in the texts of errors and paths:
// a driver quotes a value, a caller writes an address into a path.

// hidden stands for what is not shown.
const hidden = "[redacted]"

var (
	// telling is what gives itself away, whatever stands around it.
	telling = regexp.MustCompile(strings.Join([]string{
		`eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`,        // a JWT
		`(?i:bearer|basic)\s+[A-Za-z0-9._~+/-]{8,}=*`,                      // what follows in an Authorization header
		`whsec_[A-Za-z0-9+/=_-]+`,                                          // a webhook's signing secret
		`\bv1a?,[A-Za-z0-9+/]{20,}=*`,                                      // a webhook's signature
		`\$argon2id?\$[^\s"]+`,                                             // the hash of a password
		`[^\s"'<>()\[\]{},;:=/\\?&]+(?:@|%40)[A-Za-z0-9.-]+\.[A-Za-z]{2,}`, // a mail address
		`(?:\+|%2[Bb])\d{8,15}\b`,                                          // a telephone number
	}, "|"))
	// credentials of an address, and the query of one, where tokens travel.
	userinfo = regexp.MustCompile(`(://)[^\s/@"]*@`)
	query    = regexp.MustCompile(`(https?://[^\s"?]*\?)[^\s"]+`)
	// digits that may be the number of a card.
	digits = regexp.MustCompile(`\b\d(?: ?\d){12,18}\b`)
	// complaint is an error of PostgreSQL that quotes a value of a caller: of class 22, data exceptions, and syntax errors,
	// for values are written into the text of queries.
	complaint = regexp.MustCompile(`(?s)ERROR: .*?\(SQLSTATE (?:22[0-9A-Z]{3}|42601)\)`)
	quoted    = regexp.MustCompile(`(?s)".*"`)
)

// Scrub returns the text without secrets and personal addresses, as far as their form shows: tokens, keys, signatures,
// credentials and queries of addresses, mail addresses, telephone and card numbers, and values that the database
// complains about. Names of people look like anything else: their callers must not log them.
func Scrub(text string) string {
	if !suspicious(text) {
		return text
	}

	text = complaint.ReplaceAllStringFunc(text, func(s string) string { return quoted.ReplaceAllString(s, `"`+hidden+`"`) })
	text = userinfo.ReplaceAllString(text, "${1}"+hidden+"@")
	text = query.ReplaceAllString(text, "${1}"+hidden)
	text = telling.ReplaceAllString(text, hidden)

	return digits.ReplaceAllStringFunc(text, func(s string) string {
		if isCard(s) {
			return hidden
		}

		return s
	})
}

// suspicious is a quick look that lets nearly all texts pass, ids and paths above all.
func suspicious(text string) bool {
	run := 0

	for i := range len(text) {
		switch c := text[i]; {
		case c == '@', c == '$', c == '+', c == '%', c == '?', c == ',', c == '"', c == '.':
			return true
		case c >= '0' && c <= '9':
			if run++; run >= 13 {
				return true
			}
		case c != ' ':
			run = 0
		}
	}

	return strings.Contains(text, "whsec_") || strings.Contains(strings.ToLower(text), "bearer ")
}

// isCard is Luhn's check, which all card numbers pass.
func isCard(s string) bool {
	sum, double := 0, false

	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ' ' {
			continue
		}

		n := int(s[i] - '0')
		if double {
			if n *= 2; n > 9 {
				n -= 9
			}
		}

		sum, double = sum+n, !double
	}

	return sum%10 == 0
}

// scrubbed is the attribute with its texts scrubbed; an error becomes its text.
func scrubbed(a slog.Attr) slog.Attr {
	kind := a.Value.Kind()
	if kind == slog.KindString {
		return slog.String(a.Key, Scrub(a.Value.String()))
	}

	if kind == slog.KindAny {
		if err, ok := a.Value.Any().(error); ok {
			return slog.String(a.Key, Scrub(err.Error()))
		}
	}

	return a
}
