package middleware

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

const (
	// maxDepth is far more than any body of the API has.
	maxDepth = 32
	// maxNumber is how many characters a number may have, and maxExponent how far its point may be moved: without them
	// 1e400000000 is eleven bytes to send and gigabytes to write out.
	maxNumber   = 40
	maxExponent = 30
)

// decodeJSON reads exactly one JSON value: objects as map[string]any, numbers as plain json.Number without exponent.
// It is stricter than encoding/json where leniency lets two readers see two things: duplicate names, invalid UTF-8,
// half surrogates and NUL become field errors in p. The error is 400.
func decodeJSON(data []byte, p *problems) (any, error) {
	if !utf8.Valid(data) {
		p.add("body", "must be valid UTF-8")

		return nil, p.err()
	}

	if !json.Valid(data) {
		return nil, malformed("The body is not valid JSON.")
	}

	if hasHalfSurrogate(data) {
		p.add("body", "must not contain half of a surrogate pair")

		return nil, p.err()
	}

	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()

	value, err := (&jsonReader{d: d, p: p}).value("", 0)
	if err != nil {
		return nil, jsonError(err)
	}

	return value, nil
}

// jsonReader walks the tokens of a document that is known to be valid JSON.
type jsonReader struct {
	d *json.Decoder
	p *problems
}

func (r *jsonReader) value(path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}

	token, err := r.d.Token()
	if err != nil {
		return nil, err
	}

	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(path, depth)
		}

		return r.array(path, depth)
	case json.Number:
		return r.number(path, string(t)), nil
	case string:
		r.text(path, t)

		return t, nil
	default:
		return token, nil
	}
}

func (r *jsonReader) object(path string, depth int) (any, error) {
	object := map[string]any{}

	for r.d.More() {
		token, err := r.d.Token()
		if err != nil {
			return nil, err
		}

		name, _ := token.(string)
		field := join(path, name)

		r.text(field, name)

		value, err := r.value(field, depth+1)
		if err != nil {
			return nil, err
		}

		if _, twice := object[name]; twice {
			r.p.add(field, "is given more than once")
		}

		object[name] = value
	}

	_, err := r.d.Token()

	return object, err
}

func (r *jsonReader) array(path string, depth int) (any, error) {
	array := []any{}

	for r.d.More() {
		value, err := r.value(join(path, strconv.Itoa(len(array))), depth+1)
		if err != nil {
			return nil, err
		}

		array = append(array, value)
	}

	_, err := r.d.Token()

	return array, err
}

// text refuses NUL, which PostgreSQL cannot store.
func (r *jsonReader) text(path, s string) {
	if strings.IndexByte(s, 0) >= 0 {
		r.p.add(path, "must not contain the NUL character")
	}
}

// number writes a number out plainly, `1.150e3` as `1150`, so that amounts have one form.
func (r *jsonReader) number(path, s string) any {
	if len(s) <= maxNumber {
		if !strings.ContainsAny(s, ".eE") {
			return json.Number(s)
		}

		if d, err := decimal.NewFromString(s); err == nil && d.Exponent() <= maxExponent && d.Exponent() >= -maxExponent {
			return json.Number(d.String())
		}
	}

	r.p.add(path, "is a number with too many digits")

	return json.Number("0")
}

// hasHalfSurrogate finds \ud800–\udfff escapes that are not a pair: encoding/json would silently replace them. In valid
// JSON a backslash stands in strings only.
func hasHalfSurrogate(data []byte) bool {
	const escape = len(`\uXXXX`)

	for i := bytes.IndexByte(data, '\\'); i >= 0 && i < len(data); {
		switch high := surrogate(data[i:]); {
		case data[i] != '\\':
			i++
		case data[i+1] != 'u':
			i += len(`\n`)
		case high == 0:
			i += escape
		case high == 'h' && surrogate(data[i+escape:]) == 'l':
			i += escape + escape
		default:
			return true
		}
	}

	return false
}

// surrogate is 'h' or 'l' when data begins with the escape of a high or low surrogate, else 0.
func surrogate(data []byte) byte {
	if len(data) < len(`\uXXXX`) || data[0] != '\\' || data[1] != 'u' || data[2] != 'd' && data[2] != 'D' {
		return 0
	}

	switch c := data[3] | ' '; {
	case c >= '8' && c <= '9', c == 'a', c == 'b':
		return 'h'
	case c >= 'c' && c <= 'f':
		return 'l'
	default:
		return 0
	}
}

// join makes the dotted path of a field, passengers.0.name.
func join(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}
