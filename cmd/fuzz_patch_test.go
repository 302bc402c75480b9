package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// patched is a resource that takes PATCH.
type patched struct {
	name, target string
	role         models.Role
	// input is the body of the PUT on the same path.
	input *openapi3.Schema
}

// TestPatches sends values of every kind for every property of every resource that takes PATCH.
func TestPatches(t *testing.T) {
	t.Parallel()

	b := setupFuzz(t)

	for _, r := range allPatched(t) {
		for _, patch := range patchTable(r) {
			b.checkPatch(t, r, []byte(patch))
		}
	}
}

// FuzzMergePatch sends any merge patch to one resource of each kind. The seeds are few, for the fuzzer has to run all of
// them before it begins.
func FuzzMergePatch(f *testing.F) {
	b := setupFuzz(f)
	resources := allPatched(f)

	for _, r := range resources {
		for _, patch := range patchSeeds(r) {
			f.Add(r.name, []byte(patch))
		}
	}

	f.Fuzz(func(t *testing.T, name string, patch []byte) {
		i := slices.IndexFunc(resources, func(r patched) bool { return r.name == name })
		if i < 0 {
			i = len(name) % len(resources)
		}

		b.checkPatch(t, resources[i], patch)
	})
}

// checkPatch holds the answer to a patch against RFC 7396, worked out here once more, and against what PUT makes of the
// same result. It leaves the resource as it was.
func (b *fuzzBundle) checkPatch(t *testing.T, r patched, patch []byte) {
	t.Helper()

	was := b.get(t, r)
	before := b.fingerprint(t)
	answer := b.call(t, http.MethodPatch, r.target, r.role, patch, map[string]string{"Content-Type": "application/merge-patch+json"})
	now := b.get(t, r)

	if answer.Status != http.StatusOK {
		require.Equal(t, before, b.fingerprint(t), "a refused patch changes nothing")
		require.Equal(t, was, now)
	} else {
		require.Equal(t, now, resource(t, answer), "the answer is the resource")
		b.putBack(t, r, was)
	}

	if !json.Valid(patch) {
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, answer.Status, "%s", answer.Body)

		return
	}

	var decoded any

	decodePlain(t, patch, &decoded)

	merged := rfc7396(inputOf(r.input, was), decoded)
	if answer.Status == http.StatusOK {
		requireAlike(t, kept{schema: r.input}, merged, now)
	} else if !sayable(patch) || unknownNull(r.input, decoded) {
		return // PUT cannot say that, or says less
	}

	text, err := json.Marshal(merged)
	require.NoError(t, err)

	put := b.call(t, http.MethodPut, r.target, r.role, text, map[string]string{"Content-Type": "application/json"})
	require.Equal(t, answer.Status, put.Status, "PATCH %s: %s\nPUT %s: %s", patch, answer.Body, text, put.Body)
	require.Equal(t, answer.Code(), put.Code())

	if put.Status == http.StatusOK {
		same := resource(t, put)
		now["updated_at"] = same["updated_at"]
		require.Equal(t, now, same, "PATCH makes what PUT makes")
		b.putBack(t, r, was)
	}
}

// get reads the resource, without the numbers that only a company's GET shows.
func (b *fuzzBundle) get(t *testing.T, r patched) map[string]any {
	t.Helper()

	o := object(t, b.call(t, http.MethodGet, r.target, r.role, nil, nil))
	delete(o, "stats")

	return o
}

// putBack makes the resource what it was, and forgets the audit entries, which would become many.
func (b *fuzzBundle) putBack(t *testing.T, r patched, was map[string]any) {
	t.Helper()

	text, err := json.Marshal(inputOf(r.input, was))
	require.NoError(t, err)

	back := b.call(t, http.MethodPut, r.target, r.role, text, map[string]string{"Content-Type": "application/json"})
	require.Equal(t, http.StatusOK, back.Status, "%s", back.Body)

	is := object(t, back)
	is["updated_at"] = was["updated_at"]
	require.Equal(t, was, is, "PUT of what GET said changes nothing")
	b.exec(t, "DELETE FROM audit_log")
}

// inputOf is the part of a resource that PUT takes.
func inputOf(schema *openapi3.Schema, resource map[string]any) map[string]any {
	out := map[string]any{}

	for name, property := range schema.Properties {
		value, ok := resource[name]
		if object, is := value.(map[string]any); is && len(property.Value.Properties) > 0 {
			value = inputOf(property.Value, object)
		}

		if ok {
			out[name] = value
		}
	}

	return out
}

// allPatched is one resource of every kind that has a PATCH.
func allPatched(tb testing.TB) []patched {
	tb.Helper()

	ids := map[string]fmt.Stringer{
		"/api/v1/admin/providers/{id}": fuzzProvider, "/api/v1/provider/buses/{id}": fuzzBus, "/api/v1/provider/hotels/{id}": fuzzHotel,
		"/api/v1/provider/rest-stops/{id}": fuzzRestStop, "/api/v1/provider/trips/{id}": fuzzTrip,
		"/api/v1/provider/ad-campaigns/{id}": fuzzCampaign, "/api/v1/admin/users/{id}": fuzzUser(models.RoleSupportAgent),
	}

	doc, err := api.Document()
	require.NoError(tb, err)

	var out []patched

	for path, item := range doc.Paths.Map() {
		if item.Patch == nil || item.Patch.RequestBody.Value.Content.Get("application/merge-patch+json") == nil {
			continue
		}

		id := ids[path]
		require.True(tb, id != nil || !strings.Contains(path, "{id}"), "%s has no resource to patch", path)

		role := models.RoleProviderAdmin
		if strings.Contains(path, "/admin/") {
			role = models.RoleAdmin
		}

		if strings.Contains(path, "/users/") {
			role = models.RoleSuperAdmin
		}

		out = append(out, patched{
			name: strings.Split(path, "/")[4], target: strings.ReplaceAll(path, "{id}", fmt.Sprint(id)), role: role,
			input: item.Put.RequestBody.Value.Content.Get("application/json").Schema.Value,
		})
	}

	slices.SortFunc(out, func(a, b patched) int { return strings.Compare(a.name, b.name) })

	return out
}

// patchSeeds are a patch that says everything, and a few that nothing takes.
func patchSeeds(r patched) []string {
	var some []string

	for _, name := range slices.Sorted(maps.Keys(r.input.Properties)) {
		some = append(some, fmt.Sprintf(`{%q:null}`, name))
	}

	return append(some, exampleOf(r), `{"status":"INACTIVE","name":" x "}`, `{"driver":{"phone":null},"features":[]}`, `[]`, `{"a":{"b":[1e2,-0.5]}}`)
}

// patchTable is what is bad everywhere, and for each property values of its own kind and of every other.
func patchTable(r patched) []string {
	seeds := []string{
		`{}`, `null`, `[]`, `7`, `"x"`, `true`, ``, ` `, `{`, "\xff", "\ufeff{}", `{"a":null}`, `{"a":1,"a":2}`, `{"":{}}`, `{"id":null}`, `{"\u0000":null}`,
		`{"id":"` + fuzzRival.String() + `"}`, `{"provider_id":"` + fuzzRival.String() + `"}`, `{"deleted_at":null}`, `{"NAME":"x"}`,
		strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), `{"name":"x"}{"name":"y"}`, `[{"op":"replace","path":"/name","value":"x"}]`,
	}

	for _, name := range slices.Sorted(maps.Keys(r.input.Properties)) {
		property := r.input.Properties[name].Value

		for _, value := range append(valueSeeds(property), examples(r.input.Example, name)...) {
			seeds = append(seeds, fmt.Sprintf(`{%q:%s}`, name, value))
		}

		for _, inner := range slices.Sorted(maps.Keys(property.Properties)) {
			for _, value := range valueSeeds(property.Properties[inner].Value) {
				seeds = append(seeds, fmt.Sprintf(`{%q:{%q:%s}}`, name, inner, value))
			}
		}

		seeds = append(seeds, fmt.Sprintf(`{%q:1,%q:null}`, name, name), fmt.Sprintf(`{%q:"x"}`, strings.ToUpper(name)))
	}

	return append(seeds, exampleOf(r))
}

// exampleOf is the document's example of the whole resource.
func exampleOf(r patched) string {
	text, err := json.Marshal(r.input.Example)
	if err != nil {
		return "{}"
	}

	return string(text)
}

// valueSeeds are values of every type, and for the schema's own those at the edges of what API and database can keep.
func valueSeeds(schema *openapi3.Schema) []string {
	seeds := []string{`null`, `""`, `0`, `1.5`, `true`, `[]`, `{}`}

	for _, e := range schema.Enum {
		seeds = append(seeds, fmt.Sprintf(`%q`, e))
	}

	switch {
	case schema.Type.Is("number"), schema.Type.Is("integer"):
		return append(seeds, `-0`, `1`, `1.0`, `0.10`, `1e2`, `1e-7`, `89.9999999`, `-0.0000001`, `1e400000000`, `99999999999999`, `123456789012.34`, `0.001`, `101`, `"1"`)
	case schema.Type.Is("array"):
		return append(seeds, `[null]`, `[""]`, `["wifi","wifi"]`, `["a\u0000"]`, `[[]]`, `["`+fuzzRestStop.String()+`"]`,
			`["`+fuzzID(302).String()+`","`+fuzzID(301).String()+`"]`)
	case schema.Format == "uuid":
		for _, id := range []int{0, 2, 101, 198, 199, 201, 298, 301, 401} {
			seeds = append(seeds, `"`+fuzzID(id).String()+`"`)
		}

		return append(seeds, `"x"`, `"00000000-0000-0000-0000-000000000000"`, `"`+strings.ToUpper(fuzzBus.String())+`"`)
	case schema.Format == "date", schema.Format == "date-time":
		return append(seeds, `"2099-06-01"`, `"2099-06-01T00:00:00Z"`, `"2099-06-01T03:00:00.123456789+03:00"`, `"9999-12-31T23:59:59Z"`, `"9999-12-31"`,
			`"0001-01-01T00:00:00Z"`, `"2016-12-31T23:59:60Z"`, `"9999-12-31T23:59:59-12:00"`, `"9999-12-31T23:59:59.9999999Z"`,
			`"0001-01-01T00:00:00+03:00"`, `"0000-12-31T23:59:59-12:00"`, `"0001-01-01"`, `"0001-01-02"`)
	default:
		return append(seeds, `" "`, `"x"`, `" padded "`, `"\u0000"`, `"\ud800"`, `"قيمة \ud83d\ude00"`, `"`+strings.Repeat("x", 3000)+`"`,
			`"`+strings.Repeat("س", 100)+`"`, `"FUZZ 1"`, `"fuzz 1 "`, `"A@B.SA"`, `"+966500000001"`, `"00966500000001"`)
	}
}

func examples(example any, name string) []string {
	object, _ := example.(map[string]any)

	text, err := json.Marshal(object[name])
	if err != nil || object[name] == nil {
		return nil
	}

	return []string{string(text)}
}

// resource is the resource of an answer, without what a change of its state concerns: that is in this answer alone.
func resource(t *testing.T, answer harness.Answer) map[string]any {
	t.Helper()

	out := object(t, answer)
	delete(out, "affected_trips")
	delete(out, "affected_trips_total")

	return out
}
