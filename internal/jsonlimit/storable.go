package jsonlimit

import (
	"strconv"
	"strings"
)

// maxNumber and maxExponent bound number literals: beyond them PostgreSQL's numeric overflows.
const (
	maxNumber   = 400
	maxExponent = 1000
)

// IsModest reports a number literal that PostgreSQL keeps: of at most 400 characters, with an exponent of at most 1000 either way.
func IsModest(number string) bool {
	if len(number) > maxNumber {
		return false
	}

	_, exponent, ok := strings.Cut(strings.ToLower(number), "e")
	if !ok {
		return true
	}

	n, err := strconv.Atoi(exponent)

	return err == nil && n <= maxExponent && n >= -maxExponent
}

// LoneSurrogate looks for \ud800–\udfff escapes that do not form a pair; the JSON decoder would replace
// them silently, a database refuses them. The body is valid JSON already, so every escape is whole.
func LoneSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}

		i++ // the escaped character: of a double backslash nothing more

		unit, ok := escapedUnit(body, i)
		if !ok {
			continue
		}

		i += 4

		switch {
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		case unit >= 0xd800 && unit < 0xdc00:
			low, paired := uint64(0), i+2 < len(body) && body[i+1] == '\\'
			if paired {
				low, paired = escapedUnit(body, i+2)
			}

			if !paired || low < 0xdc00 || low > 0xdfff {
				return true
			}

			i += 6
		}
	}

	return false
}

// escapedUnit reads the UTF-16 unit of a `u0041` at position at.
func escapedUnit(body []byte, at int) (uint64, bool) {
	if at+5 > len(body) || body[at] != 'u' {
		return 0, false
	}

	unit, err := strconv.ParseUint(string(body[at+1:at+5]), 16, 32)

	return unit, err == nil
}
