package models

import (
	"regexp"
	"strings"
	"unicode"
)

// homeCountry is the country whose national numbers are understood: Saudi Arabia.
const homeCountry = "966"

var (
	international = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	national      = regexp.MustCompile(`^0?([1-9][0-9]{8})$`)
)

// E164 is a phone number in its one international spelling, `+966501234567`. It takes what people write: Arabic digits,
// punctuation, 00 for the plus, no plus at all, and national numbers of Saudi Arabia. ok is false for what is no number.
func E164(phone string) (number string, ok bool) {
	digits := strings.Map(func(r rune) rune {
		switch {
		case r >= '٠' && r <= '٩':
			return '0' + r - '٠'
		case r >= '۰' && r <= '۹':
			return '0' + r - '۰'
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), strings.ContainsRune("-–().", r):
			return -1
		default:
			return r
		}
	}, phone)

	switch plain, abroad := strings.CutPrefix(digits, "00"); {
	case strings.HasPrefix(digits, "+"):
		number = digits
	case abroad:
		number = "+" + plain
	case national.MatchString(digits):
		number = "+" + homeCountry + national.FindStringSubmatch(digits)[1]
	default:
		number = "+" + digits
	}

	// A zero after the country code is a habit, not a digit of the number.
	if rest, home := strings.CutPrefix(number, "+"+homeCountry+"0"); home {
		number = "+" + homeCountry + rest
	}

	return number, international.MatchString(number)
}

// NationalNumber is an E.164 number of Saudi Arabia without the country's code, `501234567`; "" for one of another country.
func NationalNumber(number string) string {
	rest, home := strings.CutPrefix(number, "+"+homeCountry)
	if !home {
		return ""
	}

	return rest
}
