package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"rihla/internal/jsonlimit"
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
// It is stricter than encoding/json where leniency lets two readers see two things: duplicate names, half surrogates and
// NUL become field errors in p. Its cost is in proportion to the length of data. Errors: MALFORMED_REQUEST,
// TOO_MANY_MEMBERS, and the context's when the request's deadline has passed.
func decodeJSON(ctx context.Context, data []byte, p *problems) (any, error) {
	if !utf8.Valid(data) {
		return nil, malformed("request.not_utf8")
	}

	if !json.Valid(data) {
		return nil, malformed("request.not_json")
	}

	if err := jsonlimit.Check(data, maxDepth); err != nil {
		return nil, jsonError(err)
	}

	if hasHalfSurrogate(data) {
		p.add("body", "field.half_surrogate")

		return nil, p.err()
	}

	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()

	value, err := (&jsonReader{ctx: ctx, d: d, p: p}).value()
	if err != nil {
		return nil, jsonError(err)
	}

	return value, nil
}

// jsonReader walks the tokens of a document that is known to be valid JSON.
type jsonReader struct {
	ctx context.Context //nolint:containedctx // the reader lives for one call of decodeJSON
	d   *json.Decoder
	p   *problems
	// path leads to the value that is being read. It is put into words only for a report: a name of 256 KiB in front of
	// 100,000 elements would be copied 100,000 times.
	path fieldPath
}

func (r *jsonReader) value() (any, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}

	token, err := r.d.Token()
	if err != nil {
		return nil, err
	}

	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object()
		}

		return r.array()
	case json.Number:
		return r.number(string(t)), nil
	case string:
		r.text(t)

		return t, nil
	default:
		return token, nil
	}
}

func (r *jsonReader) object() (any, error) {
	object := map[string]any{}

	for r.d.More() {
		token, err := r.d.Token()
		if err != nil {
			return nil, err
		}

		name, _ := token.(string)
		r.path = append(r.path, pathStep{name: name})

		r.text(name)

		value, err := r.value()
		if err != nil {
			return nil, err
		}

		if _, twice := object[name]; twice {
			r.p.addAt(r.path, "field.repeated")
		}

		r.path = r.path[:len(r.path)-1]
		object[name] = value
	}

	_, err := r.d.Token()

	return object, err
}

func (r *jsonReader) array() (any, error) {
	array := []any{}

	for r.d.More() {
		r.path = append(r.path, pathStep{index: len(array), element: true})

		value, err := r.value()
		if err != nil {
			return nil, err
		}

		r.path = r.path[:len(r.path)-1]
		array = append(array, value)
	}

	_, err := r.d.Token()

	return array, err
}

// text refuses NUL, which PostgreSQL cannot store.
func (r *jsonReader) text(s string) {
	if strings.IndexByte(s, 0) >= 0 {
		r.p.addAt(r.path, "field.nul")
	}
}

// number writes a number out plainly, `1.150e3` as `1150`, so that amounts have one form.
func (r *jsonReader) number(s string) any {
	if len(s) <= maxNumber {
		if !strings.ContainsAny(s, ".eE") {
			return json.Number(s)
		}

		if d, err := decimal.NewFromString(s); err == nil && d.Exponent() <= maxExponent && d.Exponent() >= -maxExponent {
			return json.Number(d.String())
		}
	}

	r.p.addAt(r.path, "field.too_many_digits")

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

// fieldPath is the way from a document to one of its values.
type fieldPath []pathStep

// pathStep is a member's name or an element's index.
type pathStep struct {
	name    string
	index   int
	element bool
}

// String is the dotted path, passengers.0.name, cut off soon after maxFieldName bytes.
func (p fieldPath) String() string {
	var b strings.Builder

	for i, step := range p {
		if b.Len() > maxFieldName {
			break
		}

		if i > 0 && b.Len() > 0 {
			b.WriteByte('.')
		}

		if step.element {
			b.WriteString(strconv.Itoa(step.index))
		} else {
			b.WriteString(step.name[:min(len(step.name), maxFieldName+1)])
		}
	}

	return b.String()
}

// join makes the dotted path of a field, passengers.0.name.
func join(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}
