package models

import "strings"

// bookingNumberPrefix is how every booking number begins, and bookingAlphabet Crockford's base32.
const (
	bookingNumberPrefix = "RB-"
	bookingAlphabet     = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	bookingNumberLength = 7 // characters behind the prefix, the last of which is the check character
)

// bookingSpelling reads what people write for the letters of the alphabet.
var bookingSpelling = strings.NewReplacer("O", "0", "I", "1", "L", "1", " ", "", "-", "")

// arabicDigits are those of Arabic and of Persian keyboards.
var arabicDigits = strings.NewReplacer(
	"٠", "0", "١", "1", "٢", "2", "٣", "3", "٤", "4", "٥", "5", "٦", "6", "٧", "7", "٨", "8", "٩", "9",
	"۰", "0", "۱", "1", "۲", "2", "۳", "3", "۴", "4", "۵", "5", "۶", "6", "۷", "7", "۸", "8", "۹", "9")

// ASCIIDigits writes Arabic-Indic digits as 0 to 9 and leaves everything else as it is.
func ASCIIDigits(text string) string { return arabicDigits.Replace(text) }

// ParseBookingNumber reads a booking number, RB-7XK2M9Q, as people write it: in any case, with spaces or without the hyphen,
// O for 0, I or L for 1, in Arabic-Indic digits. number is in its own form; it is empty when the text does not look like
// one. ok reports whether the check character is that of the others: it is not after any one character that was mistaken,
// and after most two neighbours that were exchanged.
func ParseBookingNumber(text string) (number string, ok bool) {
	upper := strings.ToUpper(CleanReference(text))

	rest, found := strings.CutPrefix(upper, "RB")
	if !found {
		return "", false
	}

	body := bookingSpelling.Replace(rest)
	if len(body) != bookingNumberLength || strings.Trim(body, bookingAlphabet) != "" {
		return "", false
	}

	number, ok = bookingNumberPrefix+body, checkCharacter(body[:bookingNumberLength-1]) == body[bookingNumberLength-1]
	// Without hyphen or digit it may as well be a name.
	if !ok && !strings.ContainsAny(rest[:1], "- ") && !strings.ContainsAny(body, "0123456789") {
		return "", false
	}

	return number, ok
}

// checkCharacter is Luhn's algorithm modulo 32.
func checkCharacter(body string) byte {
	const n = len(bookingAlphabet)

	sum, factor := 0, 2

	for i := len(body) - 1; i >= 0; i-- {
		product := factor * strings.IndexByte(bookingAlphabet, body[i])
		sum += product/n + product%n
		factor = 3 - factor
	}

	return bookingAlphabet[(n-sum%n)%n]
}
