package contract

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// TestDocumentFaultsStopTheStart takes a sound document and breaks it in one way at a time.
func TestDocumentFaultsStopTheStart(t *testing.T) {
	t.Parallel()

	const sound = `
openapi: 3.0.3
info: {title: t, version: '1'}
security: [{bearerAuth: []}]
components: {securitySchemes: {bearerAuth: {type: http, scheme: bearer}}}
paths:
  /a/{id}:
    get:
      operationId: GetA
      x-roles: [ADMIN]
      x-limit: by-role
      parameters: [{name: id, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {'200': {description: ok}}
`

	for _, tt := range []struct{ name, old, replacement, message string }{
		{"sound", "", "", ""},
		{"no roles", "x-roles: [ADMIN]", "x-other: 1", "x-roles is missing"},
		{"empty roles", "[ADMIN]", "[]", "x-roles is missing"},
		{"unknown role", "[ADMIN]", "[BOSS]", "not a role"},
		{"public among others", "[ADMIN]", "[public, ADMIN]", "not a role"},
		{"public with a token", "[ADMIN]", "[public]", "by-role needs a caller"},
		{"security says otherwise", "[ADMIN]\n      x-limit: by-role", "[public]\n      x-limit: none", "disagree"},
		{"no limit", "x-limit: by-role", "x-other: 1", "x-limit"},
		{"path id of another kind", "format: uuid", "maxLength: 9", "not a uuid"},
		{"list parameter", "schema: {type: string, format: uuid}}]", "schema: {type: string, format: uuid}}, {name: q, in: query, schema: {type: array, items: {type: string}}}]", "neither string"},
		{"account check that is none", "x-roles: [ADMIN]", "x-roles: [authenticated]\n      x-account-check: none", "x-account-check none is not handler"},
		{"account checked by the handler", "x-roles: [ADMIN]", "x-roles: [authenticated]\n      x-account-check: handler", ""},
		{"account checked after the role", "limit: by-role", "limit: by-role\n      x-account-check: handler", "every signed-in role"},
		{"merge patch of nothing", "    get:\n", "    patch:\n", "a PUT on the same path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			doc, err := openapi3.NewLoader().LoadFromData([]byte(strings.Replace(sound, tt.old, tt.replacement, 1)))
			require.NoError(t, err)

			_, err = Compile(doc)
			if tt.message != "" {
				require.ErrorContains(t, err, tt.message)

				return
			}

			require.NoError(t, err)
		})
	}
}
