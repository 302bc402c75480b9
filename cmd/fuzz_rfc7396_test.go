package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
)

// rfc7396 is the pseudocode of RFC 7396, section 2, line by line.
func rfc7396(target, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}

	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}

	object = maps.Clone(object)

	for name, value := range members {
		if value == nil {
			delete(object, name)

			continue
		}

		object[name] = rfc7396(object[name], value)
	}

	return object
}

// TestRFC7396 is the table of its appendix A: the measure is measured first.
func TestRFC7396(t *testing.T) {
	t.Parallel()

	for _, row := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		var target, patch any

		decodePlain(t, []byte(row[0]), &target)
		decodePlain(t, []byte(row[1]), &patch)

		got, err := json.Marshal(rfc7396(target, patch))
		require.NoError(t, err)
		require.JSONEq(t, row[2], string(got), "%s with %s", row[0], row[1])
	}
}

// kept is a member of a resource: its path, its last name and what PUT takes for it, nil for what PUT does not know.
type kept struct {
	path, name string
	schema     *openapi3.Schema
}

func (k kept) member(name string) kept {
	m := kept{path: k.path + "." + name, name: name}

	if k.schema != nil && k.schema.Properties[name] != nil {
		m.schema = k.schema.Properties[name].Value
	}

	return m
}

func (k kept) item() kept {
	i := kept{path: k.path + "[]", name: k.name}

	if k.schema != nil && k.schema.Items != nil {
		i.schema = k.schema.Items.Value
	}

	return i
}

// text is what stays of one: its words are brought into the form in which they are kept.
func (k kept) text(s string) string {
	if k.schema != nil {
		s = contract.InputOf(k.name, k.schema).Clean(s)
	}

	return plainText(s)
}

// requireAlike wants every member of the merge's result in the resource, in whatever form it is kept there. A member
// that the result lacks has its usual value, which is for the comparison with PUT to see.
func requireAlike(t *testing.T, at kept, want, got any) {
	t.Helper()

	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		require.True(t, ok, "%s is %v", at.path, got)

		for name, member := range w {
			requireAlike(t, at.member(name), member, g[name])
		}
	case []any:
		g, ok := got.([]any)
		require.True(t, ok && len(g) == len(w), "%s is %v", at.path, got)

		for i := range w {
			requireAlike(t, at.item(), w[i], g[i])
		}
	case nil:
		if list, ok := got.([]any); ok {
			require.Empty(t, list, at.path)
		} else if at.path != ".commission_rate" { // null asks for the usual one
			require.Nil(t, got, at.path)
		}
	case string:
		require.Equal(t, at.text(w), at.text(fmt.Sprint(got)), at.path)
	case json.Number:
		g, ok := got.(json.Number)
		require.True(t, ok, "%s is %v", at.path, got)
		require.True(t, decimal.RequireFromString(w.String()).Round(6).Equal(decimal.RequireFromString(g.String())), "%s: %s, %s", at.path, w, g)
	default:
		require.Equal(t, want, got, at.path)
	}
}

// plainText is what stays of a text whatever form it is kept in: the moment that it names, or its letters; an empty one
// is shown as null.
func plainText(s string) string {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.UTC().Truncate(time.Microsecond).String()
	}

	if s = strings.ToLower(strings.TrimSpace(s)); s == "<nil>" {
		return ""
	}

	return s
}

// sayable reports whether the patch holds nothing that decoding and encoding it again would repair: a name that is there
// twice, half a surrogate pair, bytes that are no text.
func sayable(patch []byte) bool {
	if !utf8.Valid(patch) || bytes.Contains(bytes.ToLower(patch), []byte(`\ud`)) {
		return false
	}

	var text bytes.Buffer

	var value any

	d := json.NewDecoder(bytes.NewReader(patch))
	d.UseNumber()

	if d.Decode(&value) != nil || json.Compact(&text, patch) != nil {
		return false
	}

	// Decoding keeps one of two members with the same name, so that fewer strings and numbers come out than went in.
	again, err := json.Marshal(value)

	return err == nil && tokens(text.Bytes()) == tokens(again)
}

func tokens(text []byte) int {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()

	for n := 0; ; n++ {
		if _, err := d.Token(); err != nil {
			return n
		}
	}
}

// unknownNull reports whether the patch takes away what the resource does not have: for RFC 7396 that is nothing, and
// for the API it is an unknown field (rules: input.fields).
func unknownNull(schema *openapi3.Schema, patch any) bool {
	members, _ := patch.(map[string]any)

	for name, value := range members {
		property := schema.Properties[name]
		if property == nil && value == nil || property != nil && unknownNull(property.Value, value) {
			return true
		}
	}

	return false
}
