package main

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// shape is what a schema without alternatives says, with its allOf merged into it.
type shape struct {
	// title is what a reader may know the schema by.
	title  string
	kind   string // the type; empty is any
	format string
	// nullable says that null is allowed; enum leaves it out.
	nullable bool
	// readOnly is for answers only, writeOnly for requests.
	readOnly, writeOnly bool

	enum   []string // as JSON; nil is any value
	bounds map[string]bound
	// rules are what two schemas can only have in common or not: patterns, steps and what must not be.
	rules    []string
	fallback string // the default as JSON; empty is none

	properties map[string]*openapi3.SchemaRef
	required   map[string]bool
	// closed refuses further fields; further is the schema of them.
	closed  bool
	further *openapi3.SchemaRef
	items   *openapi3.SchemaRef
}

// alternatives are the schemas one of which must match: those of oneOf and anyOf, each with all that is said beside them.
func alternatives(s *openapi3.Schema) []*openapi3.Schema {
	refs := slices.Concat(s.OneOf, s.AnyOf)
	if len(refs) == 0 {
		return []*openapi3.Schema{s}
	}

	rest := *s
	rest.OneOf, rest.AnyOf = nil, nil

	var all []*openapi3.Schema

	for _, ref := range refs {
		for _, one := range alternatives(ref.Value) {
			all = append(all, &openapi3.Schema{
				Title: one.Title, Nullable: s.Nullable, Extensions: one.Extensions, AllOf: openapi3.SchemaRefs{{Value: &rest}, {Value: one}},
			})
		}
	}

	return all
}

func shapeOf(s *openapi3.Schema) *shape {
	out := &shape{properties: map[string]*openapi3.SchemaRef{}, required: map[string]bool{}, bounds: map[string]bound{}}
	out.add(s)

	out.dropWideFormat()

	// allOf with nullable beside it is the usual way to make a referenced schema nullable.
	out.nullable = nullable(s)

	return out
}

// dropWideFormat forgets the format of a number that takes nothing away from what type and bounds allow: it is for clients that choose
// a type by it.
func (s *shape) dropWideFormat() {
	lowest, low := s.bounds["minimum"]
	highest, high := s.bounds["maximum"]

	switch s.kind + " " + s.format {
	case "number double", "integer int64":
		s.format = ""
	case "integer int32":
		if low && high && lowest.value >= math.MinInt32 && highest.value <= math.MaxInt32 {
			s.format = ""
		}
	}
}

func nullable(s *openapi3.Schema) bool {
	if s.Nullable {
		return true
	}

	if s.Type != nil || len(s.AllOf) == 0 {
		return false
	}

	return !slices.ContainsFunc(s.AllOf, func(part *openapi3.SchemaRef) bool { return !nullable(part.Value) })
}

func (s *shape) add(from *openapi3.Schema) {
	if s.title == "" {
		s.title = from.Title
	}

	if from.Type != nil && len(from.Type.Slice()) > 0 {
		s.kind = from.Type.Slice()[0]
	}

	if from.Format != "" {
		s.format = from.Format
	}

	if from.Default != nil {
		s.fallback = asJSON(from.Default)
	}

	s.readOnly = s.readOnly || from.ReadOnly
	s.writeOnly = s.writeOnly || from.WriteOnly

	s.addEnum(from.Enum)
	s.addBounds(from)
	s.addRules(from)
	s.addFields(from)

	for _, part := range from.AllOf {
		s.add(part.Value)
	}
}

func (s *shape) addEnum(values []any) {
	if len(values) == 0 {
		return
	}

	known := make([]string, 0, len(values))

	for _, value := range values {
		if value != nil {
			known = append(known, asJSON(value))
		}
	}

	if s.enum != nil {
		known = slices.DeleteFunc(known, func(value string) bool { return !slices.Contains(s.enum, value) })
	}

	s.enum = known
}

func (s *shape) addRules(from *openapi3.Schema) {
	if from.Pattern != "" {
		s.rules = append(s.rules, from.Pattern)
	}

	if from.MultipleOf != nil {
		s.rules = append(s.rules, "multiple of "+asJSON(*from.MultipleOf))
	}

	if from.Not != nil {
		s.rules = append(s.rules, "not "+asJSON(from.Not.Value))
	}

	slices.Sort(s.rules)
	s.rules = slices.Compact(s.rules)
}

func (s *shape) addFields(from *openapi3.Schema) {
	for name, property := range from.Properties {
		if other := s.properties[name]; other != nil {
			property = &openapi3.SchemaRef{Value: &openapi3.Schema{AllOf: openapi3.SchemaRefs{other, property}}}
		}

		s.properties[name] = property
	}

	for _, name := range from.Required {
		s.required[name] = true
	}

	if has := from.AdditionalProperties.Has; has != nil && !*has {
		s.closed = true
	}

	if from.AdditionalProperties.Schema != nil {
		s.further = from.AdditionalProperties.Schema
	}

	if from.Items != nil {
		s.items = from.Items
	}
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error() // nothing that was read from a document ends here
	}

	return string(text)
}
