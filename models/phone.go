package models

import (
	"regexp"
	"strings"
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
	digits := CleanPhone(phone)

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

// minPhoneDigits is how many digits a search needs to be compared with phone numbers as such.
const minPhoneDigits = 5

// PhonePart is what phone numbers have to contain for a search to find them; "" for a text that can be no part of one.
func PhonePart(search string) string {
	text, digits := CleanReference(search), 0

	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case !strings.ContainsRune("+-() ./", r):
			return ""
		}
	}

	if digits < minPhoneDigits {
		return ""
	}

	// A number may have been written without the country's code: one of this country is looked for without it.
	if number, _ := E164(text); len(NationalNumber(number)) >= minPhoneDigits {
		return NationalNumber(number)
	}

	return text
}
