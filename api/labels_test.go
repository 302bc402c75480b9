package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// withoutLabels are the enums of answers that have none, by schema and field, or by field alone, with the reason.
var withoutLabels = map[string]string{
	"currency": "an ISO 4217 code, which people read as it is", "locale": "a language tag, which a client sets",
	"content_type": "of a file, for programs", "token_type": "of RFC 6750, for programs", "mfa_required": "says which answer it is",
	"Error.code": "ui_message says it in words", "Health.status": "for probes", "FinancialReport.period": "repeats the parameter of the request",
	"TimelineEntry.event": "for programs; message says it in words",
}

// TestEveryEnumHasLabels walks all answers of the document (rules: api.labels).
func TestEveryEnumHasLabels(t *testing.T) {
	t.Parallel()

	used := map[string]bool{}

	for name, schema := range answered(t) {
		for field, p := range properties(schema) {
			if !isEnum(p) || properties(schema)[field+"_label_ar"] != nil && properties(schema)[field+"_label_en"] != nil {
				continue
			}

			_, here := withoutLabels[name+"."+field]
			_, everywhere := withoutLabels[field]
			used[name+"."+field], used[field] = true, true
			require.True(t, here || everywhere, "%s.%s is an enum without labels: add %s_label_ar and _en, or a reason", name, field, field)
		}
	}

	for exception := range withoutLabels {
		require.True(t, used[exception], "%s is no enum without labels", exception)
	}
}

// TestEveryAmountHasACurrency walks all answers of the document (rules: api.currency).
func TestEveryAmountHasACurrency(t *testing.T) {
	t.Parallel()

	found := 0

	for name, schema := range answered(t) {
		for field, p := range properties(schema) {
			if money, ok := p.Value.Extensions["x-go-type"]; !ok || money != "models.Money" {
				continue
			}

			found++

			require.NotNil(t, properties(schema)["currency"], "%s has %s and no currency beside it", name, field)
		}
	}

	require.Greater(t, found, 40)
}

// answered are the schemas of all answers, and of what is in them, by name.
func answered(t *testing.T) map[string]*openapi3.Schema {
	t.Helper()

	doc, err := Document()
	require.NoError(t, err)

	out := map[string]*openapi3.Schema{}

	var walk func(*openapi3.SchemaRef)

	walk = func(s *openapi3.SchemaRef) {
		if s == nil {
			return
		}

		if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
			if out[name] != nil {
				return
			}

			out[name] = s.Value
		}

		for p := range maps.Values(s.Value.Properties) {
			walk(p)
		}

		for _, part := range slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf) {
			walk(part)
		}

		walk(s.Value.Items)
		walk(s.Value.AdditionalProperties.Schema)
	}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, r := range op.Responses.Map() {
				for _, media := range r.Value.Content {
					walk(media.Schema)
				}
			}
		}
	}

	return out
}

// properties are those of a schema and of what it is made of.
func properties(s *openapi3.Schema) openapi3.Schemas {
	out := maps.Clone(s.Properties)
	for _, part := range s.AllOf {
		if out == nil {
			out = openapi3.Schemas{}
		}

		maps.Copy(out, part.Value.Properties)
	}

	return out
}

func isEnum(p *openapi3.SchemaRef) bool {
	return len(p.Value.Enum) > 0 || slices.ContainsFunc(p.Value.AllOf, isEnum)
}
