package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// base is a document with one of everything that the rules look at.
const base = `
openapi: 3.0.3
info: { title: Base, version: 1.2.3 }
security: [{ bearer: [] }]
paths:
  /things:
    parameters:
      - { name: tenant, in: query, schema: { type: string } }
    get:
      operationId: ListThings
      x-roles: [authenticated]
      parameters:
        - { name: color, in: query, schema: { type: string, enum: [RED, BLUE] } }
        - { name: page, in: query, schema: { type: integer, minimum: 1, maximum: 100, default: 1 } }
        - { name: sort, in: query, schema: { type: string, pattern: '^-?(a|b)(,-?(a|b))*$' } }
        - { name: ids, in: query, style: form, explode: true, schema: { type: array, maxItems: 5, items: { type: string } } }
        - { name: X-Trace, in: header, schema: { type: string } }
      responses:
        '200':
          description: Things.
          headers:
            X-Count: { required: true, schema: { type: integer } }
          content:
            application/json: { schema: { $ref: '#/components/schemas/Things' } }
            text/csv: { schema: { type: string } }
        '404': { description: None. }
    post:
      operationId: CreateThing
      x-roles: [ADMIN, STAFF]
      requestBody:
        content:
          application/json: { schema: { $ref: '#/components/schemas/ThingInput' } }
          text/plain: { schema: { type: string } }
      responses:
        '201':
          description: The thing.
          content:
            application/json: { schema: { $ref: '#/components/schemas/Detail' } }
  /ping:
    get:
      operationId: Ping
      security: []
      x-roles: [public]
      responses:
        '204': { description: Alive. }
components:
  securitySchemes:
    bearer: { type: http, scheme: bearer }
    key: { type: apiKey, in: header, name: X-Key }
  schemas:
    Things:
      type: object
      required: [data]
      properties:
        data: { type: array, items: { $ref: '#/components/schemas/Thing' } }
    Thing:
      type: object
      required: [id, state]
      properties:
        id: { type: string, format: uuid }
        state: { type: string, enum: [OPEN, CLOSED] }
        size: { type: integer, minimum: 0, maximum: 10 }
        amount: { type: number, x-decimals: 2 }
        code: { type: string, pattern: ^A, maxLength: 20 }
        at: { type: string, format: date-time, nullable: true }
        parent: { $ref: '#/components/schemas/Thing' }
        labels: { type: object, additionalProperties: { type: string } }
        source:
          oneOf:
            - { title: Web, type: object, required: [url], properties: { url: { type: string } } }
            - { title: Mail, type: object, required: [address], properties: { address: { type: string } } }
    Detail:
      allOf:
        - $ref: '#/components/schemas/Thing'
        - type: object
          required: [owner]
          properties:
            owner: { type: string }
    ThingInput:
      type: object
      additionalProperties: false
      required: [name]
      properties:
        name: { type: string, minLength: 1, maxLength: 50 }
        note: { type: string, nullable: true }
        kind: { type: string, enum: [BIG, SMALL] }
        rate: { type: number, minimum: 0, maximum: 1, x-decimals: 4 }
        zip: { type: string, pattern: '^[0-9]+$' }
        tags: { type: array, minItems: 1, maxItems: 3, uniqueItems: true, items: { type: string, maxLength: 9 } }
        payment:
          anyOf:
            - { title: Card, type: object, required: [number], properties: { number: { type: string } } }
            - { title: Cash, type: object, required: [given], properties: { given: { type: number } } }
`

// rule is one difference, `from` in the released document and `to` in the next. Forward and backward are what breaks on
// the way there and back; empty is nothing, and then there must be an addition unless it is only words.
type rule struct {
	from, to          string
	forward, backward string
	words             bool
}

func TestRules(t *testing.T) {
	t.Parallel()

	ping := base[strings.Index(base, "  /ping:"):strings.Index(base, "components:")]

	for name, r := range map[string]rule{
		"path":        {from: ping, to: "", forward: "/ping: the path is gone"},
		"operation":   {from: "    post:\n", to: "    put:\n", forward: "POST /things: the operation is gone", backward: "PUT /things: the operation is gone"},
		"operationId": {from: "operationId: Ping", to: "operationId: Pong", forward: "Pong was Ping", backward: "Ping was Pong"},
		"servers":     {from: "openapi: 3.0.3", to: "openapi: 3.0.3\nservers: [{ url: /v2 }]", forward: "no longer served at /", backward: "no longer served at /v2"},
		"own servers": {from: "operationId: Ping", to: "operationId: Ping\n      servers: [{ url: / }, { url: /v2 }]", backward: "GET /ping: it is no longer served at /v2"},
		"double":      {from: "rate: { type: number,", to: "rate: { type: number, format: double,", words: true},
		"int64":       {from: "X-Count: { required: true, schema: { type: integer } }", to: "X-Count: { required: true, schema: { type: integer, format: int64 } }", words: true},
		"int32 within its bounds": {
			from: "{ type: integer, minimum: 1, maximum: 100, default: 1 }", to: "{ type: integer, format: int32, minimum: 1, maximum: 100, default: 1 }",
			words: true,
		},
		"int32 without bounds": {
			from: "{ type: integer, minimum: 1, maximum: 100, default: 1 }", to: "{ type: integer, format: int32, minimum: 1, default: 1 }",
			forward: "format int32 instead of any", backward: "maximum is 100 and was unlimited",
		},
		"words": {from: "description: Alive.", to: "description: Living.", words: true},

		"role":               {from: "[ADMIN, STAFF]", to: "[ADMIN]", forward: "STAFF may no longer call it"},
		"role, every":        {from: "[ADMIN, STAFF]", to: "[authenticated]", backward: "authenticated may no longer call it"},
		"role, public":       {from: "[public]", to: "[ADMIN]", forward: "public may no longer call it"},
		"security, open":     {from: "security: []\n", to: "\n", forward: "nothing no longer suffices", backward: ""},
		"security, other":    {from: "security: [{ bearer: [] }]", to: "security: [{ key: [] }]", forward: "bearer no longer", backward: "key no longer"},
		"security, choice":   {from: "security: [{ bearer: [] }]", to: "security: [{ bearer: [] }, { key: [] }]", backward: "key no longer suffices"},
		"security, both":     {from: "security: [{ bearer: [] }]", to: "security: [{ bearer: [], key: [] }]", forward: "bearer no longer suffices"},
		"security, scheme":   {from: "name: X-Key", to: "name: X-Token", forward: "security scheme key", backward: "security scheme key"},
		"security, explicit": {from: "operationId: ListThings", to: "operationId: ListThings\n      security: [{ bearer: [] }]", words: true},

		"parameter, optional":     {from: "      parameters:\n        - { name: color", to: "      parameters:\n        - { name: shape, in: query, schema: { type: string } }\n        - { name: color", backward: "query parameter shape is gone"},
		"parameter, required":     {from: "      parameters:\n        - { name: color", to: "      parameters:\n        - { name: shape, in: query, required: true, schema: { type: string } }\n        - { name: color", forward: "new required query parameter shape", backward: "shape is gone"},
		"parameter, of path":      {from: "name: tenant, in: query", to: "name: tenant, required: true, in: query", forward: "query parameter tenant: it has become required"},
		"parameter, to operation": {from: "      parameters:\n        - { name: color", to: "      parameters:\n        - { name: tenant, in: query, schema: { type: string } }\n        - { name: color", words: true},
		"parameter, header case":  {from: "name: X-Trace", to: "name: x-trace", words: true},
		"parameter, style":        {from: "explode: true", to: "explode: false", forward: "written in another way", backward: "written in another way"},
		"parameter, default":      {from: "default: 1 }", to: "default: 2 }", forward: "the default is 2 and was 1", backward: "the default is 1 and was 2"},
		"parameter, no default":   {from: ", default: 1 }", to: " }", forward: "the default is any and was 1"},
		"parameter, sort field":   {from: "'^-?(a|b)(,-?(a|b))*$'", to: "'^-?(a|b|c)(,-?(a|b|c))*$'", backward: "pattern ^-?(a|b)"},

		"body, required":       {from: "      requestBody:\n", to: "      requestBody:\n        required: true\n", forward: "the body has become required"},
		"body, media":          {from: "          text/plain: { schema: { type: string } }\n", to: "", forward: "POST /things body: the content type text/plain is gone"},
		"answer, status":       {from: "        '404': { description: None. }\n", to: "", forward: "GET /things: the answer 404 is gone"},
		"answer, media":        {from: "            text/csv: { schema: { type: string } }\n", to: "", forward: "GET /things 200: the content type text/csv is gone"},
		"answer, header":       {from: "X-Count", to: "X-Total", forward: "header X-Count is gone", backward: "header X-Total is gone"},
		"answer, no header":    {from: "X-Count: { required: true", to: "X-Count: { required: false", forward: "X-Count: it is no longer always there"},
		"answer, header type":  {from: "required: true, schema: { type: integer }", to: "required: true, schema: { type: string }", forward: "header X-Count: type string", backward: "type integer instead of string"},
		"answer, with content": {from: "'204': { description: Alive. }", to: "'204': { description: Alive., content: { text/plain: { schema: { type: string } } } }", forward: "it has a body now", backward: "text/plain is gone"},

		"request field, optional":     {from: "        note: {", to: "        more: { type: string }\n        note: {", backward: "body (application/json) .more: the field is gone"},
		"request field, new required": {from: "required: [name]\n      properties:", to: "required: [name, more]\n      properties:\n        more: { type: string }", forward: ".more: new required field", backward: ".more: the field is gone"},
		"request field, unknown":      {from: "required: [name]", to: "required: [name, other]", forward: ".other: the field has become required"},
		"request field, read-only":    {from: "zip: { type: string,", to: "zip: { type: string, readOnly: true,", forward: ".zip: readOnly"},
		"request field, required":     {from: "required: [name]", to: "required: [name, note]", forward: ".note: the field has become required"},
		"request, null":               {from: "note: { type: string, nullable: true }", to: "note: { type: string }", forward: ".note: it may no longer be null"},
		"request, type":               {from: "given: { type: number }", to: "given: { type: integer }", forward: "alternative 2 (Cash) is no longer accepted"},
		"request, wider number":       {from: "page, in: query, schema: { type: integer", to: "page, in: query, schema: { type: number", backward: "type integer instead of number"},
		"request, any type":           {from: "name: X-Trace, in: header, schema: { type: string }", to: "name: X-Trace, in: header, schema: {}", backward: "type string instead of any"},
		"request, format":             {from: "zip: { type: string,", to: "zip: { type: string, format: uuid,", forward: "format uuid instead of any"},
		"request, pattern":            {from: ", pattern: '^[0-9]+$'", to: "", backward: "pattern ^[0-9]+$ instead of no pattern"},
		"request, other pattern":      {from: "'^[0-9]+$'", to: "'^[0-9A-Z]+$'", forward: "pattern ^[0-9A-Z]+$ instead", backward: "pattern ^[0-9]+$ instead"},
		"request, multipleOf":         {from: "rate: { type: number,", to: "rate: { type: number, multipleOf: 0.5,", forward: "multiple of 0.5"},
		"request, not":                {from: "zip: { type: string,", to: "zip: { type: string, not: { enum: [x] },", forward: "pattern ^[0-9]+$ and not"},
		"request, enum value":         {from: "enum: [BIG, SMALL]", to: "enum: [BIG]", forward: `the value "SMALL" is no longer accepted`},
		"request, enum":               {from: "kind: { type: string, enum: [BIG, SMALL] }", to: "kind: { type: string }", backward: "only some values are accepted"},
		"request, maxLength":          {from: "maxLength: 50", to: "maxLength: 49", forward: "maxLength is 49 and was 50"},
		"request, no maxLength":       {from: ", maxLength: 50", to: "", backward: "maxLength is 50 and was unlimited"},
		"request, minLength":          {from: "minLength: 1", to: "minLength: 2", forward: "minLength is 2 and was 1"},
		"request, minimum":            {from: "rate: { type: number, minimum: 0", to: "rate: { type: number, minimum: 0.1", forward: "minimum is 0.1 and was 0"},
		"request, maximum":            {from: "maximum: 100", to: "maximum: 1000", backward: "maximum is 100 and was 1000"},
		"request, exclusive":          {from: "rate: { type: number, minimum: 0", to: "rate: { type: number, exclusiveMinimum: true, minimum: 0", forward: "values equal to minimum"},
		"request, decimals":           {from: "x-decimals: 4", to: "x-decimals: 2", forward: "x-decimals is 2 and was 4"},
		"request, minItems":           {from: "minItems: 1, ", to: "", backward: "minItems is 1 and was unlimited"},
		"request, maxItems":           {from: "maxItems: 3", to: "maxItems: 2", forward: ".tags: maxItems is 2 and was 3"},
		"request, items":              {from: "maxLength: 9", to: "maxLength: 8", forward: ".tags[]: maxLength is 8 and was 9"},
		"request, unique":             {from: ", uniqueItems: true", to: "", backward: "repeated items"},
		"request, closed":             {from: "      additionalProperties: false\n", to: "", backward: "fewer unknown fields are accepted"},
		"request, alternative":        {from: "            - { title: Cash, type: object, required: [given], properties: { given: { type: number } } }\n", to: "", forward: "(Cash) is no longer accepted"},

		"answer field":            {from: "        code: { type", to: "        cipher: { type", forward: ".code: the field is gone", backward: ".cipher: the field is gone"},
		"answer field, required":  {from: "required: [id, state]", to: "required: [id]", forward: ".data[] .state: the field is no longer always there"},
		"answer field, of allOf":  {from: "            owner: { type: string }\n", to: "            owner: { type: string }\n            since: { type: string }\n", backward: "POST /things 201 .since: the field is gone"},
		"answer, null":            {from: ", nullable: true }\n        parent", to: " }\n        parent", backward: ".at: it may be null"},
		"answer, type":            {from: "size: { type: integer", to: "size: { type: number", forward: ".size: type number instead of integer"},
		"answer, format":          {from: "id: { type: string, format: uuid }", to: "id: { type: string }", forward: ".id: format any instead of uuid"},
		"answer, pattern":         {from: "pattern: ^A", to: "pattern: ^B", forward: "pattern ^B instead of pattern ^A", backward: "pattern ^A instead of pattern ^B"},
		"answer, no pattern":      {from: "pattern: ^A, ", to: "", forward: "no pattern instead of pattern ^A"},
		"answer, maxLength":       {from: "maxLength: 20", to: "maxLength: 21", forward: "maxLength is 21 and was 20"},
		"answer, minimum":         {from: "minimum: 0, maximum: 10", to: "minimum: -1, maximum: 10", forward: "minimum is -1 and was 0"},
		"answer, decimals":        {from: "x-decimals: 2", to: "x-decimals: 3", forward: "x-decimals is 3 and was 2"},
		"answer, enum value":      {from: "enum: [OPEN, CLOSED]", to: "enum: [OPEN, CLOSED, LOST]"},
		"answer, enum renamed":    {from: "enum: [OPEN, CLOSED]", to: "enum: [OPEN, SHUT]", forward: `"CLOSED" no longer comes, and others do`, backward: `"SHUT" no longer comes, and others do`},
		"answer, write-only":      {from: "code: { type: string,", to: "code: { type: string, writeOnly: true,", forward: ".code: writeOnly"},
		"answer, enum":            {from: ", enum: [OPEN, CLOSED] }", to: " }", forward: "it was an enum and may be anything"},
		"answer, unknown fields":  {from: "additionalProperties: { type: string }", to: "additionalProperties: { type: number }", forward: ".labels .*: type number", backward: ".labels .*: type string"},
		"answer, any unknown":     {from: ", additionalProperties: { type: string }", to: "", forward: ".labels .*: unknown fields may be anything"},
		"answer, alternative":     {from: "            - { title: Mail, type: object, required: [address], properties: { address: { type: string } } }\n", to: "", backward: "(Mail) is none of those that clients know"},
		"answer, no alternatives": {from: "          oneOf:\n            - { title: Web, type: object, required: [url], properties: { url: { type: string } } }\n            - { title: Mail, type: object, required: [address], properties: { address: { type: string } } }\n", to: "          { title: Web, type: object, required: [url], properties: { url: { type: string } } }\n", backward: "(Mail) is none of those that clients know"},
		"inline or referenced":    {from: "items: { $ref: '#/components/schemas/Thing' }", to: "items: { allOf: [{ $ref: '#/components/schemas/Thing' }] }", words: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			require.Equal(t, 1, strings.Count(base, r.from), "what is replaced must be there once")

			before, after := parse(t, base), parse(t, strings.Replace(base, r.from, r.to, 1))
			requireChange(t, r.forward, r.words, compare(before, after))
			requireChange(t, r.backward, r.words, compare(after, before))
		})
	}
}

// TestAlternativeThatIsAskedFor: what no client gets before its user has asked for it breaks none, in answers; what must be sent does.
func TestAlternativeThatIsAskedFor(t *testing.T) {
	t.Parallel()

	const from, to = "{ title: Mail, type: object,", "{ title: Mail, x-asked-for: by what is new, type: object,"

	asked := strings.Replace(base, from, to, 1)
	require.NotEqual(t, base, asked)

	line := slices.IndexFunc(strings.Split(base, "\n"), func(l string) bool { return strings.Contains(l, from) })
	without := strings.Join(slices.Delete(strings.Split(base, "\n"), line, line+1), "\n")

	requireChange(t, "", false, compare(parse(t, without), parse(t, asked)))
	requireChange(t, "(Mail) is none of those that clients know", false, compare(parse(t, without), parse(t, base)))
}

func requireChange(t *testing.T, want string, words bool, found []change) {
	t.Helper()

	var breaks, reasons []string

	all := make([]string, 0, len(found))

	for _, c := range found {
		all = append(all, c.String())
		if c.kind == breaking {
			breaks = append(breaks, c.String())
			reasons = append(reasons, c.what)
		}
	}

	switch {
	case words:
		require.Empty(t, all)
	case want == "":
		require.Empty(t, breaks)
		require.NotEmpty(t, all, "an addition is one, too")
	default:
		// A change to a shared schema breaks every operation that uses it, and nothing else does.
		require.Contains(t, strings.Join(breaks, "\n"), want)
		require.Len(t, slices.Compact(reasons), 1, all)
	}
}

func parse(t *testing.T, text string) *openapi3.T {
	t.Helper()

	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	require.NoError(t, err)

	return doc
}

// TestRelease holds version and changelog to what has changed.
func TestRelease(t *testing.T) {
	t.Parallel()

	const (
		breaks = "[ADMIN, STAFF]\x00[ADMIN]"
		adds   = "enum: [OPEN, CLOSED]\x00enum: [OPEN, CLOSED, LOST]"
		words  = "description: Alive.\x00description: Living."
	)

	for name, c := range map[string]struct {
		change, version string
		changelog       string
		code            int
		says            string
	}{
		"nothing":                       {"", "1.2.3", "", exitCompatible, "0 breaking changes, 0 additions; ok"},
		"words":                         {words, "1.2.4", "1.2.4", exitCompatible, "; ok"},
		"words, same version":           {words, "1.2.3", "", exitIncompatible, "other words after 1.2.3 need 1.2.4"},
		"addition":                      {adds, "1.3.0", "1.3.0", exitCompatible, "1 additions; ok"},
		"addition, same version":        {adds, "1.2.3", "", exitIncompatible, "additions after 1.2.3 need 1.3.0"},
		"addition, patch":               {adds, "1.2.4", "1.2.4", exitIncompatible, "additions after 1.2.3 need 1.3.0"},
		"addition, older":               {adds, "0.9.0", "0.9.0", exitIncompatible, "additions after 1.2.3 need 1.3.0"},
		"addition, later":               {adds, "1.10.0", "1.10.0", exitCompatible, "; ok"},
		"addition, not in changelog":    {adds, "1.3.0", "1.4.0", exitIncompatible, "no entry for 1.3.0"},
		"breaking":                      {breaks, "1.3.0", "1.3.0", exitIncompatible, "needs a new major version"},
		"breaking, major":               {breaks, "2.0.0", "2.0.0", exitCompatible, "1 breaking changes"},
		"breaking, major, no changelog": {breaks, "2.0.0", "", exitIncompatible, "no entry for 2.0.0"},
		"version of no kind":            {adds, "next", "next", exitIncompatible, `"next" is not MAJOR.MINOR.PATCH`},
		"unreadable":                    {"openapi: 3.0.3\x00openapi: [", "1.2.3", "", exitCannotTell, "compat: load"},
		"invalid":                       {"operationId: Ping\x00operationId: ListThings", "1.2.3", "", exitCannotTell, "ListThings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			released, current, changelog := filepath.Join(dir, "v1.yaml"), filepath.Join(dir, "openapi.yaml"), filepath.Join(dir, "CHANGELOG.md")

			next := strings.Replace(base, "1.2.3", c.version, 1)
			if from, to, ok := strings.Cut(c.change, "\x00"); ok {
				next = strings.Replace(next, from, to, 1)
			}

			log := "# Changelog\n\n## [1.2.3] - 2026-11-21\n\n- First.\n"
			if c.changelog != "" {
				log += "\n## [" + c.changelog + "] - unreleased\n\n### Changed\n\n- More.\n"
			}

			for path, text := range map[string]string{released: base, current: next, changelog: log} {
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}

			var out strings.Builder

			code := run([]string{"-released", released, "-document", current, "-changelog", changelog}, &out, &out)
			require.Equal(t, c.code, code, out.String())
			require.Contains(t, out.String(), c.says)
		})
	}
}

// TestReleasedVersionHasItsDay keeps the released document from being replaced without a release.
func TestReleasedVersionHasItsDay(t *testing.T) {
	t.Parallel()

	r := report{releasedVersion: "1.2.3", version: "1.2.3"}
	r.judgeRelease(true, "## [1.2.3] - unreleased\n\n- First.\n")
	require.Len(t, r.faults, 1)
	require.Contains(t, r.faults[0], "no dated entry for the released version")
}

// TestUsage tells a wrong call from an incompatible document.
func TestUsage(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	require.Equal(t, exitCannotTell, run([]string{"one", "two"}, &out, &out))
	require.Equal(t, exitCannotTell, run([]string{"-nonsense"}, &out, &out))
	require.Equal(t, exitCompatible, run([]string{"-h"}, &out, &out))
	require.Contains(t, out.String(), "the last released document")
}

// TestDocument is the check itself: the document in the tree may be released as it stands.
func TestDocument(t *testing.T) {
	t.Parallel()

	found, err := check("../released/v1.yaml", "../openapi.yaml", "../../CHANGELOG.md")
	require.NoError(t, err)

	var out strings.Builder

	found.write(&out, false)
	require.False(t, found.failed(), out.String())
}
