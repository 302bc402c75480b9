package middleware

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// x-decimals is how many decimals a number may have. It is not multipleOf, because that is defined over binary floats:
// validators in clients refuse 19.99 as no multiple of 0.01. Here the digits themselves are counted.

// decimalsOf is a schema's x-decimals.
func decimalsOf(s *openapi3.Schema) (int, bool) {
	n, ok := s.Extensions["x-decimals"].(float64)

	return int(n), ok
}

// hasDecimals reports whether a schema has an x-decimals anywhere.
func hasDecimals(s *openapi3.Schema) bool {
	if _, ok := decimalsOf(s); ok {
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

// checkDecimals adds the numbers of a body that have too many decimals. Values of the wrong type are reported elsewhere.
func (p *problems) checkDecimals(s *openapi3.Schema, value any, path string) {
	for _, part := range s.AllOf {
		p.checkDecimals(part.Value, value, path)
	}

	switch v := value.(type) {
	case json.Number:
		if limit, ok := decimalsOf(s); ok {
			if _, fraction, _ := strings.Cut(string(v), "."); len(fraction) > limit {
				p.add(path, fmt.Sprintf("must be a number with at most %d decimals", limit))
			}
		}
	case map[string]any:
		for name, property := range s.Properties {
			if member, ok := v[name]; ok {
				p.checkDecimals(property.Value, member, join(path, name))
			}
		}
	case []any:
		if s.Items != nil {
			for i, item := range v {
				p.checkDecimals(s.Items.Value, item, join(path, strconv.Itoa(i)))
			}
		}
	}
}
