package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestServedDocument(t *testing.T) {
	t.Parallel()

	served, err := ServedDocument("https://api.rihla.test")
	require.NoError(t, err)

	doc, err := openapi3.NewLoader().LoadFromData(served)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	require.Equal(t, "https://api.rihla.test", doc.Servers[0].URL)

	// Nothing is lost on the way from YAML to JSON: apart from the server and the words on access it is the same document.
	own, err := Document()
	require.NoError(t, err)

	own.Servers = doc.Servers

	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			require.Contains(t, op.Description, "**Roles:**", "%s %s", method, path)
			require.NotEmpty(t, op.Summary)
			require.NotEmpty(t, op.Tags)
			op.Description = own.Paths.Find(path).GetOperation(method).Description
		}
	}

	want, err := json.Marshal(own)
	require.NoError(t, err)
	got, err := json.Marshal(doc)
	require.NoError(t, err)
	require.NotContains(t, string(got), "x-go-", "clients of other generators would import our packages")
	require.JSONEq(t, withoutGoTypes(t, want), string(got))

	// Fields stand as they were written: id first.
	require.Less(t, strings.Index(string(served), `"/api/v1/auth/register"`), strings.Index(string(served), `"/healthz"`))
	require.Contains(t, string(served), `"price_per_seat":575.00`)
}

// withoutGoTypes takes the Go types from the document, which are for our own generator.
func withoutGoTypes(t *testing.T, document []byte) string {
	t.Helper()

	var tree any
	require.NoError(t, json.Unmarshal(document, &tree))

	var walk func(node any)

	walk = func(node any) {
		switch n := node.(type) {
		case []any:
			for _, item := range n {
				walk(item)
			}
		case map[string]any:
			maps.DeleteFunc(n, func(name string, _ any) bool { return strings.HasPrefix(name, "x-go-") })

			for _, item := range n {
				walk(item)
			}
		}
	}
	walk(tree)

	out, err := json.Marshal(tree)
	require.NoError(t, err)

	return string(out)
}

// TestPatchesFollowTheirInputs keeps the two schemas of a resource together: a patch has the fields that PUT takes, and
// those that PUT needs cannot be taken away.
func TestPatchesFollowTheirInputs(t *testing.T) {
	t.Parallel()

	doc, err := Document()
	require.NoError(t, err)

	patches := 0

	for name, patch := range doc.Components.Schemas {
		resource, ok := strings.CutSuffix(name, "Patch")
		if !ok {
			continue
		}

		patches++
		input := doc.Components.Schemas[resource+"Input"].Value

		require.Empty(t, patch.Value.Required, name)
		require.False(t, *patch.Value.AdditionalProperties.Has, name)
		require.ElementsMatch(t, slices.Collect(maps.Keys(input.Properties)), slices.Collect(maps.Keys(patch.Value.Properties)), name)

		for field, schema := range patch.Value.Properties {
			require.Equal(t, !slices.Contains(input.Required, field), schema.Value.Nullable, "%s.%s", name, field)

			if own := schema.Value; own.Type.Is("object") {
				continue // a patch of its own
			}

			require.Equal(t, input.Properties[field].Value, schema.Value, "%s.%s", name, field)
		}
	}

	require.NotZero(t, patches)

	// What is corrected is named one by one: no caller writes the whole of a booking.
	const corrected = "/api/v1/admin/bookings/{id}"

	for path, item := range doc.Paths.Map() {
		if path == corrected {
			require.Len(t, item.Patch.RequestBody.Value.Content, 1, path)

			continue
		}

		require.Equal(t, item.Put == nil, item.Patch == nil, path)

		if item.Patch != nil {
			require.Len(t, item.Patch.RequestBody.Value.Content, 2, path)
		}
	}
}

func TestSystemRoutes(t *testing.T) {
	t.Parallel()

	down := errors.New("secret reason")
	b := setup(t, func(d *Deps) {
		d.Checks = map[string]func(context.Context) error{
			"database":     func(context.Context) error { return nil },
			"orchestrator": func(context.Context) error { return down },
			"schema": func(context.Context) error {
				return &models.Error{Code: models.CodeServiceUnavailable, Text: models.Verbatim("is old")}
			},
		}
	})

	a := b.call(t, http.MethodGet, "/readyz", "", "")
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Equal(t, []string{"cannot be reached"}, a.details["orchestrator"])
	require.Equal(t, []string{"is old"}, a.details["schema"], "what is put into words is shown")
	require.NotContains(t, a.details, "database")

	a = b.call(t, http.MethodGet, "/openapi.json", "", "")
	require.Equal(t, "application/json; charset=utf-8", a.header.Get("Content-Type"))
	require.Contains(t, a.body, `"openapi":"3.0.3"`)

	require.Contains(t, b.call(t, http.MethodGet, "/docs", "", "").body, "<rapi-doc")
	require.Contains(t, b.call(t, http.MethodGet, "/docs/rapidoc-9.3.8.js", "", "").body, "RapiDoc 9.3.8")
	require.Contains(t, b.call(t, http.MethodGet, "/docs/menu.js", "", "").body, "aria-expanded")
	require.Equal(t, "gzip", b.call(t, http.MethodGet, "/docs/rapidoc-9.3.8.js", "", "", "Accept-Encoding", "gzip").header.Get("Content-Encoding"))
	require.JSONEq(t, `{"keys":[]}`, b.call(t, http.MethodGet, "/.well-known/jwks.json", "", "").body)
	require.JSONEq(t, `{"data":{"status":"ok"}}`, b.call(t, http.MethodGet, "/healthz", "", "").body)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/metrics", "", "").status)

	hidden := setup(t, func(d *Deps) { d.Metrics = nil })
	require.Equal(t, http.StatusNotFound, hidden.call(t, http.MethodGet, "/metrics", "", "").status, "in production it has an address of its own")

	head := b.call(t, http.MethodHead, "/healthz", "", "")
	require.Equal(t, http.StatusOK, head.status)
	require.Empty(t, head.body)
}
