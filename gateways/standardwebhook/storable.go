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
	// maxReports and maxField bound an answer that echoes names of the caller.
	maxReports = 50
	maxField   = 200
)

// storable refuses what is JSON and yet cannot be kept by PostgreSQL as text or jsonb: NUL in a string,
// half a surrogate pair, numbers beyond numeric. Fields that are not read count too, as the body is kept whole.
func (p *parser) storable(body []byte) {
	if loneSurrogate(body) {
		p.addf("body", "has an unpaired surrogate in a string")
	}

	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()

	var root any
	if decoder.Decode(&root) != nil {
		p.addf("body", "is not JSON that can be kept")

		return
	}

	p.checkValue(root, nil)
}

// checkValue looks at a value and what it holds. The path is put into words for a report alone: it would be copied for every
// element behind a long name.
func (p *parser) checkValue(value any, path []string) {
	if p.reported >= maxReports {
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
			p.checkValue(item, append(path, strconv.Itoa(i)))
		}
	case map[string]any:
		for key, item := range v {
			p.noNUL(key, path)
			p.checkValue(item, append(path, key))
		}
	}
}

func (p *parser) noNUL(s string, path []string) {
	if strings.ContainsRune(s, 0) {
		p.addf(fieldName(path), "must not contain NUL")
	}
}

// fieldName is the dotted path, cut off soon after maxField bytes.
func fieldName(path []string) string {
	if len(path) == 0 {
		return "body"
	}

	var b strings.Builder

	for i, key := range path {
		if b.Len() > maxField {
			break
		}

		if i > 0 {
			b.WriteByte('.')
		}

		b.WriteString(strings.ReplaceAll(key[:min(len(key), maxField)], "\x00", "?"))
	}

	return strings.ToValidUTF8(b.String(), "")
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
