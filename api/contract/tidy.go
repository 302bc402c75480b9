package contract

import (
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
)

// visiblePattern marks, in the document, text that people read: it must not be blank. ECMAScript, whose expressions
// OpenAPI uses, knows all spaces of Unicode by it, and Go only those of ASCII.
const visiblePattern = `\S`

// tidy brings a value that was read into the form that is checked, hashed and handled: text that must not be blank has
// no spaces around it, and, unless nulls mean something (a merge patch), an optional member that is null is left out.
// Members that the schema does not know stay as they are. Objects and lists are changed in place.
func tidy(schema *openapi3.Schema, value any, keepNulls bool) any {
	switch v := value.(type) {
	case string:
		if schema.Pattern == visiblePattern {
			return trimText(v)
		}
	case map[string]any:
		for name, member := range v {
			property, required := propertyOf(schema, name)

			switch {
			case property == nil:
			case member == nil && !required && !property.Nullable && !keepNulls:
				delete(v, name)
			default:
				v[name] = tidy(property, member, keepNulls)
			}
		}
	case []any:
		if schema.Items == nil {
			break
		}

		for i, item := range v {
			v[i] = tidy(schema.Items.Value, item, keepNulls)
		}
	}

	return value
}

// propertyOf is a member's schema, nil when the schema has none of the name, and whether the member must be there.
func propertyOf(schema *openapi3.Schema, name string) (property *openapi3.Schema, required bool) {
	if ref := schema.Properties[name]; ref != nil {
		property = ref.Value
	}

	for _, r := range schema.Required {
		required = required || r == name
	}

	for _, part := range schema.AllOf {
		p, r := propertyOf(part.Value, name)
		if property == nil {
			property = p
		}

		required = required || r
	}

	return property, required
}

// trimText takes spaces and zero-width characters from both ends, and everything when nothing can be seen.
func trimText(s string) string {
	if !strings.ContainsFunc(s, isVisible) {
		return ""
	}

	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || zeroWidth[r] })
}

// zeroWidth are characters that neither join nor direct what is around them, and cannot be seen.
var zeroWidth = map[rune]bool{'\u180e': true, '\u200b': true, '\u2060': true, '\ufeff': true}

// fillers are letters and symbols by their category, and blank.
var fillers = map[rune]bool{'\u115f': true, '\u1160': true, '\u2800': true, '\u3164': true, '\uffa0': true}

// isVisible reports whether a character can be seen by itself: a letter, digit, punctuation mark or symbol.
func isVisible(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !fillers[r]
}
