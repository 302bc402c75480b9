package contract

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"rihla/models"
)

// x-decimals is how many decimals a number may have. It is not multipleOf, because that is defined over binary floats:
// validators in clients refuse 19.99 as no multiple of 0.01. Here the digits themselves are counted.

// decimalsOf is a schema's x-decimals.
func decimalsOf(s *openapi3.Schema) (int, bool) {
	n, ok := s.Extensions["x-decimals"].(float64)

	return int(n), ok
}

// noLinks is a schema's x-no-links: a text that goes into messages to others, in which there must be no web address.
func noLinks(s *openapi3.Schema) bool { return s.Extensions["x-no-links"] == true }

// hasDecimals reports whether a schema has an x-decimals or an x-no-links anywhere.
func hasDecimals(s *openapi3.Schema) bool {
	if _, ok := decimalsOf(s); ok || noLinks(s) {
		return true
	}

	for _, property := range s.Properties {
		if hasDecimals(property.Value) {
			return true
		}
	}

	for _, part := range s.AllOf {
		if hasDecimals(part.Value) {
			return true
		}
	}

	return s.Items != nil && hasDecimals(s.Items.Value)
}

// checkDecimals adds the numbers of a body that have too many decimals, and texts that have a web address and must not. Values of
// the wrong type are reported elsewhere.
func (p *problems) checkDecimals(s *openapi3.Schema, value any, path string) {
	for _, part := range s.AllOf {
		p.checkDecimals(part.Value, value, path)
	}

	switch v := value.(type) {
	case string, json.Number:
		p.checkText(s, v, path)
	case map[string]any:
		for name, property := range s.Properties {
			if member, ok := v[name]; ok {
				p.checkDecimals(property.Value, member, join(path, name))
			}
		}
	case []any:
		if s.Items != nil {
			// A list that is longer than it may be is refused as a whole: its elements cost nothing.
			if s.MaxItems != nil && uint64(len(v)) > *s.MaxItems {
				return
			}

			for i, item := range v {
				p.checkDecimals(s.Items.Value, item, join(path, strconv.Itoa(i)))
			}
		}
	}
}

// maxNameBytes is what the longest name of the document takes, 120 characters.
const maxNameBytes = 120 * utf8.UTFMax

// checkText is checkDecimals of one text or number.
func (p *problems) checkText(s *openapi3.Schema, value any, path string) {
	switch v := value.(type) {
	case string:
		// A longer name is refused for its length.
		if noLinks(s) && len(v) <= maxNameBytes && models.HasLink(v) {
			p.add(path, "field.web_address")
		}
	case json.Number:
		if limit, ok := decimalsOf(s); ok {
			if _, fraction, _ := strings.Cut(string(v), "."); len(fraction) > limit {
				p.add(path, "field.decimals", "n", limit)
			}
		}
	}
}
