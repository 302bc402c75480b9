package contract

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// tidy brings a value that was read into the form that is checked, hashed and handled: texts are cleaned as their property asks for (see
// Input), and, unless nulls mean something (a merge patch), an optional member that is null is left out. Members that the schema does
// not know stay as they are. Objects and lists are changed in place.
func tidy(schema *openapi3.Schema, value any, keepNulls bool) any {
	return tidyProperty("", schema, value, keepNulls)
}

// tidyProperty is tidy of a property, or of an element of a list of that name.
func tidyProperty(property string, schema *openapi3.Schema, value any, keepNulls bool) any {
	switch v := value.(type) {
	case string:
		return InputOf(property, schema).Clean(v)
	case map[string]any:
		for name, member := range v {
			property, required := propertyOf(schema, name)

			switch {
			case property == nil:
			case member == nil && !required && !property.Nullable && !keepNulls:
				delete(v, name)
			default:
				v[name] = tidyProperty(name, property, member, keepNulls)
			}
		}
	case []any:
		if schema.Items == nil {
			break
		}

		for i, item := range v {
			v[i] = tidyProperty(property, schema.Items.Value, item, keepNulls)
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
