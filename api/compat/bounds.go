package main

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// bound is a limit of values, lengths or decimals.
type bound struct {
	value float64
	// lower says that values stand above it.
	lower bool
}

// addBounds keeps the tighter of two bounds of a name.
func (s *shape) addBounds(from *openapi3.Schema) {
	add := func(name string, value float64, lower bool) {
		if old, ok := s.bounds[name]; ok {
			if lower {
				value = math.Max(value, old.value)
			} else {
				value = math.Min(value, old.value)
			}
		}

		s.bounds[name] = bound{value, lower}
	}

	for name, value := range map[string]*float64{"minimum": from.Min, "maximum": from.Max} {
		if value != nil {
			add(name, *value, name == "minimum")
		}
	}

	for name, value := range map[string]uint64{"minLength": from.MinLength, "minItems": from.MinItems, "minProperties": from.MinProps} {
		if value > 0 {
			add(name, float64(value), true)
		}
	}

	for name, value := range map[string]*uint64{"maxLength": from.MaxLength, "maxItems": from.MaxItems, "maxProperties": from.MaxProps} {
		if value != nil {
			add(name, float64(*value), false)
		}
	}

	// An exclusive bound, or uniqueness, allows 0 of these; a schema without the rule counts as 1.
	for name, set := range map[string]bool{
		"values equal to minimum": from.ExclusiveMin.IsTrue(), "values equal to maximum": from.ExclusiveMax.IsTrue(),
		"repeated items": from.UniqueItems,
	} {
		if set {
			add(name, 0, false)
		}
	}

	if decimals, ok := number(from.Extensions["x-decimals"]); ok {
		add("x-decimals", decimals, false)
	}
}

func number(extension any) (float64, bool) {
	switch v := extension.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case uint64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()

		return f, err == nil
	default:
		return 0, false
	}
}

// compareBounds finds bounds of requests that are narrower, and of answers that are wider.
func (c *changes) compareBounds(where string, way direction, old, current *shape) {
	for _, name := range union(old.bounds, current.bounds) {
		before, had := old.bounds[name]
		after, has := current.bounds[name]

		if had && has && before == after {
			continue
		}

		narrower := !had
		if had && has {
			narrower = (after.value > before.value) == before.lower
		}

		text := name + " is " + limit(after, has) + " and was " + limit(before, had)
		if narrower == (way == request) {
			c.breakf(where, "%s", text)
		} else {
			c.addf(where, "%s", text)
		}
	}
}

func limit(b bound, set bool) string {
	if !set {
		return "unlimited"
	}

	return strconv.FormatFloat(b.value, 'f', -1, 64)
}

// compareRules finds rules that are new to requests or gone from answers. Whether one expression accepts all that another
// does cannot be told, but for whitelists of sort fields.
func (c *changes) compareRules(where string, way direction, old, current *shape) {
	if slices.Equal(old.rules, current.rules) {
		return
	}

	narrow, wide := old.rules, current.rules
	if way == response {
		narrow, wide = current.rules, old.rules
	}

	fewer := !slices.ContainsFunc(wide, func(rule string) bool { return !slices.Contains(narrow, rule) })
	if fewer || sortsAllOf(wide, narrow) {
		c.addf(where, "%s instead of %s", ruleList(current.rules), ruleList(old.rules))
	} else {
		c.breakf(where, "%s instead of %s", ruleList(current.rules), ruleList(old.rules))
	}
}

func ruleList(rules []string) string {
	if len(rules) == 0 {
		return "no pattern"
	}

	return "pattern " + strings.Join(rules, " and ")
}

// sortsAllOf says that both are whitelists of sort fields and that wide has all of narrow.
func sortsAllOf(wide, narrow []string) bool {
	if len(wide) != 1 || len(narrow) != 1 {
		return false
	}

	has, ok := sortFields(wide[0])
	needs, also := sortFields(narrow[0])

	return ok && also && !slices.ContainsFunc(needs, func(field string) bool { return !slices.Contains(has, field) })
}

// sortFields are a and b of ^-?(a|b)(,-?(a|b))*$.
func sortFields(pattern string) ([]string, bool) {
	list, ok := strings.CutPrefix(pattern, "^-?(")
	if !ok {
		return nil, false
	}

	list, _, _ = strings.Cut(list, ")")

	return strings.Split(list, "|"), pattern == "^-?("+list+")(,-?("+list+"))*$"
}
