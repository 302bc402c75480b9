package standardwebhook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

const (
	// maxNumber and maxExponent bound number literals: beyond them PostgreSQL's numeric overflows.
	maxNumber   = 400
	maxExponent = 1000
	// maxDepth bounds nesting, so that no reader of the stored body runs out of stack.
	maxDepth = 64
)

// storable refuses what is JSON and yet cannot be kept by PostgreSQL as text or jsonb: NUL in a string,
// half a surrogate pair, numbers beyond numeric. Fields that nobody reads count too, as the body is kept whole.
func (p *parser) storable(body []byte) {
	if loneSurrogate(body) {
		p.addf("body", "has an unpaired surrogate in a string")
	}

	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()

	var root any
	if decoder.Decode(&root) != nil {
		p.addf("body", "is nested too deeply")

		return
	}

	p.walk(root, "", 0)
}

func (p *parser) walk(value any, path string, depth int) {
	if depth > maxDepth {
		p.addf("body", "is nested too deeply")

		return
	}

	switch v := value.(type) {
	case string:
		p.noNUL(v, path)
	case json.Number:
		if !modest(v.String()) {
			p.addf(fieldName(path), "is not a number of reasonable size")
		}
	case []any:
		for i, item := range v {
			p.walk(item, path+"."+strconv.Itoa(i), depth+1)
		}
	case map[string]any:
		for key, item := range v {
			p.noNUL(key, path)
			p.walk(item, path+"."+strings.ReplaceAll(key, "\x00", "?"), depth+1)
		}
	}
}

func (p *parser) noNUL(s, path string) {
	if strings.ContainsRune(s, 0) {
		p.addf(fieldName(path), "must not contain NUL")
	}
}

func fieldName(path string) string {
	if path == "" {
		return "body"
	}

	return strings.TrimPrefix(path, ".")
}

func modest(number string) bool {
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

// loneSurrogate looks for \ud800–\udfff escapes that do not form a pair; the JSON decoder would replace
// them silently, a database refuses them. The body is valid JSON already, so every escape is whole.
func loneSurrogate(body []byte) bool {
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
