package main

import (
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// direction is the writer of a value that a schema describes. The values that clients send may only be taken more freely than
// before; the values that they read may only be written more strictly.
type direction int

const (
	request direction = iota
	response
)

// schemaPair is two schemas that are compared in a direction.
type schemaPair struct {
	old, current *openapi3.Schema
	way          direction
}

// compareSchema compares what two schemas mean, whichever way they are written: by reference, inline or by allOf.
func (c *changes) compareSchema(where string, way direction, old, current *openapi3.SchemaRef) {
	if old == nil || current == nil {
		if old != current && old == nil && way == request {
			c.breakf(where, "it was anything and has a schema")
		} else if old != current && way == response && current == nil {
			c.breakf(where, "it had a schema and is anything")
		}

		return
	}

	key := schemaPair{old.Value, current.Value, way}
	if c.seen[key] {
		return
	}

	c.seen[key] = true

	olds, currents := alternatives(old.Value), alternatives(current.Value)
	if len(olds) == 1 && len(currents) == 1 {
		c.compareShapes(where, way, shapeOf(olds[0]), shapeOf(currents[0]))

		return
	}

	c.compareAlternatives(where, way, olds, currents)
}

// askedFor marks an alternative of an answer that no client gets before its user has asked for it by what is new, too.
const askedFor = "x-asked-for"

// compareAlternatives compares oneOf and anyOf: whatever could be sent must still match an alternative, whatever can be
// read must match one that was known, or have been asked for.
func (c *changes) compareAlternatives(where string, way direction, olds, currents []*openapi3.Schema) {
	from, to := olds, currents
	message := "alternative %d (%s) is no longer accepted"

	if way == response {
		from, to = currents, olds
		message = "alternative %d (%s) is none of those that clients know"
	}

	for i, source := range from {
		if differences, ok := fit(where, way, source, to); ok {
			c.list = append(c.list, differences...)
		} else if why, asked := source.Extensions[askedFor].(string); asked && way == response {
			c.addf(where, "alternative %d is new, and only answered to who has asked for it: %s", i+1, why)
		} else {
			c.breakf(where, message, i+1, shapeOf(source).title)
		}
	}

	if len(olds) != len(currents) {
		c.addf(where, "%d alternatives instead of %d", len(currents), len(olds))
	}
}

// fit looks for the alternative that the source breaks nothing of and differs least from, and says how it differs.
func fit(where string, way direction, source *openapi3.Schema, among []*openapi3.Schema) (best []change, ok bool) {
	for _, target := range among {
		// Within a trial nothing counts as compared before, and what does not fit leaves no trace.
		trial := &changes{seen: map[schemaPair]bool{}}

		if way == request {
			trial.compareShapes(where, way, shapeOf(source), shapeOf(target))
		} else {
			trial.compareShapes(where, way, shapeOf(target), shapeOf(source))
		}

		if !trial.broken() && (!ok || len(trial.list) < len(best)) {
			best, ok = trial.list, true
		}
	}

	return best, ok
}

func (c *changes) compareShapes(where string, way direction, old, current *shape) {
	c.compareType(where, way, old, current)
	c.compareNull(where, way, old, current)
	c.compareWays(where, way, old, current)
	c.compareEnum(where, way, old, current)
	c.compareBounds(where, way, old, current)
	c.compareRules(where, way, old, current)
	c.compareDefault(where, way, old, current)
	c.compareProperties(where, way, old, current)
	c.compareFurther(where, way, old, current)

	if old.items != nil || current.items != nil {
		c.compareSchema(where+"[]", way, old.items, current.items)
	}
}

func (c *changes) compareType(where string, way direction, old, current *shape) {
	// The wider of the two is what may be sent now, or what could be read before.
	narrow, wide := old, current
	if way == response {
		narrow, wide = current, old
	}

	if old.kind != current.kind {
		if wide.kind == "" || (narrow.kind == openapi3.TypeInteger && wide.kind == openapi3.TypeNumber) {
			c.addf(where, "type %s instead of %s", orAny(current.kind), orAny(old.kind))
		} else {
			c.breakf(where, "type %s instead of %s", orAny(current.kind), orAny(old.kind))
		}
	}

	if old.format != current.format {
		if wide.format == "" || (narrow.format == "int32" && wide.format == "int64") {
			c.addf(where, "format %s instead of %s", orAny(current.format), orAny(old.format))
		} else {
			c.breakf(where, "format %s instead of %s", orAny(current.format), orAny(old.format))
		}
	}
}

func orAny(word string) string {
	if word == "" {
		return "any"
	}

	return word
}

func (c *changes) compareNull(where string, way direction, old, current *shape) {
	switch {
	case old.nullable == current.nullable:
	case way == request && old.nullable:
		c.breakf(where, "it may no longer be null")
	case way == response && current.nullable:
		c.breakf(where, "it may be null")
	default:
		c.addf(where, "nullable is %t", current.nullable)
	}
}

// compareWays finds fields that go one way only now.
func (c *changes) compareWays(where string, way direction, old, current *shape) {
	switch {
	case way == request && current.readOnly && !old.readOnly:
		c.breakf(where, "readOnly: it may no longer be sent")
	case way == response && current.writeOnly && !old.writeOnly:
		c.breakf(where, "writeOnly: it no longer comes")
	case old.readOnly != current.readOnly || old.writeOnly != current.writeOnly:
		c.addf(where, "readOnly is %t, writeOnly is %t", current.readOnly, current.writeOnly)
	}
}

// compareEnum allows new values in both directions: clients treat what they do not know as "other" (rules: api.versions).
func (c *changes) compareEnum(where string, way direction, old, current *shape) {
	switch {
	case old.enum == nil && current.enum == nil:
	case old.enum == nil && way == request:
		c.breakf(where, "only some values are accepted: %v", current.enum)
	case current.enum == nil && way == response:
		c.breakf(where, "it was an enum and may be anything")
	case old.enum == nil || current.enum == nil:
		c.addf(where, "enum %v instead of %v", current.enum, old.enum)
	default:
		c.compareValues(where, way, without(old.enum, current.enum), without(current.enum, old.enum))
	}
}

// compareValues judges the values of an enum that are gone and those that are new. An answer that may have both has
// renamed some: clients no longer find the old name.
func (c *changes) compareValues(where string, way direction, gone, added []string) {
	for _, value := range gone {
		switch {
		case way == request:
			c.breakf(where, "the value %s is no longer accepted", value)
		case len(added) > 0:
			c.breakf(where, "the value %s no longer comes, and others do", value)
		default:
			c.addf(where, "the value %s no longer comes", value)
		}
	}

	for _, value := range added {
		c.addf(where, "new value %s", value)
	}
}

// without are the values that the others do not have.
func without(values, others []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(others, value) })
}

// compareDefault looks at what a request means that leaves a field out; a default that was said nowhere can be added.
func (c *changes) compareDefault(where string, way direction, old, current *shape) {
	switch {
	case way == response || old.fallback == current.fallback:
	case old.fallback == "":
		c.addf(where, "default %s", current.fallback)
	default:
		c.breakf(where, "the default is %s and was %s", orAny(current.fallback), old.fallback)
	}
}

func (c *changes) compareProperties(where string, way direction, old, current *shape) {
	for _, name := range union(old.properties, current.properties) {
		before, after := old.properties[name], current.properties[name]
		in := where + " ." + name

		switch {
		case before == nil && current.required[name] && way == request:
			c.breakf(in, "new required field")
		case before == nil:
			c.addf(in, "new field")
		case after == nil:
			c.breakf(in, "the field is gone")
		default:
			c.compareSchema(in, way, before, after)
		}
	}

	for _, name := range union(old.required, current.required) {
		in := where + " ." + name
		was, is := old.required[name], current.required[name]

		switch {
		case was == is || (old.properties[name] == nil) != (current.properties[name] == nil):
		case way == request && is:
			c.breakf(in, "the field has become required")
		case way == response && was:
			c.breakf(in, "the field is no longer always there")
		default:
			c.addf(in, "required is %t", is)
		}
	}
}

// compareFurther compares what is said about fields that have no name in the document.
func (c *changes) compareFurther(where string, way direction, old, current *shape) {
	in := where + " .*"

	switch {
	case old.further != nil && current.further != nil:
		c.compareSchema(in, way, old.further, current.further)
	case old.closed == current.closed && old.further == nil && current.further == nil:
	case way == request && (current.closed || old.further == nil && !old.closed):
		c.breakf(in, "fewer unknown fields are accepted")
	case way == response && old.further != nil && !current.closed:
		c.breakf(in, "unknown fields may be anything")
	default:
		c.addf(in, "other unknown fields")
	}
}
