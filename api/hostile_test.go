package api

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"rihla/internal/testkit/cputime"
)

// hostileSize is the size of every body here, the largest that operations take.
const hostileSize = 1 << 20

// jsonOperation is an operation that takes JSON, alone or as a part of a form.
type jsonOperation struct {
	method, path, role string
	schema             *openapi3.Schema
	form               bool
}

func (o jsonOperation) String() string {
	if o.form {
		return o.method + " " + o.path + " (form)"
	}

	return o.method + " " + o.path
}

// jsonOperations are all of them that do not take their body as it is.
func jsonOperations(tb testing.TB) []jsonOperation {
	tb.Helper()

	doc, err := Document()
	require.NoError(tb, err)

	var out []jsonOperation

	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil || op.Extensions["x-raw-body"] == true {
				continue
			}

			for _, content := range slices.Sorted(maps.Keys(op.RequestBody.Value.Content)) {
				o := jsonOperation{method: method, path: withIDs(path), role: roleFor(op)}
				o.schema = op.RequestBody.Value.Content[content].Schema.Value

				if content == "multipart/form-data" {
					payload := o.schema.Properties["payload"]
					if payload == nil {
						continue
					}

					o.schema, o.form = payload.Value, true
				}

				out = append(out, o)
			}
		}
	}

	slices.SortFunc(out, func(a, b jsonOperation) int { return strings.Compare(a.String(), b.String()) })
	require.Greater(tb, len(out), 20)

	return out
}

func withIDs(path string) string {
	var out strings.Builder

	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			continue
		}

		if strings.HasPrefix(part, "{") {
			part = tripID.String()
		}

		out.WriteString("/" + part)
	}

	return out.String()
}

// roleFor is a role that may call the operation; empty for a public one.
func roleFor(op *openapi3.Operation) string {
	roles, _ := op.Extensions["x-roles"].([]any)

	switch role, _ := roles[0].(string); role {
	case "public":
		return ""
	case "authenticated":
		return "END_USER"
	default:
		return role
	}
}

// serve has the app answer a request on the calling goroutine and returns the status.
func serve(b *bundle, o jsonOperation, body []byte) int {
	var (
		request fasthttp.Request
		ctx     fasthttp.RequestCtx
	)

	request.Header.SetMethod(o.method)
	request.SetRequestURI(o.path)
	request.Header.SetHost("a")
	request.Header.SetContentType(contentTypeOf(o))

	if o.role != "" {
		request.Header.Set("Authorization", "Bearer "+o.role)
	}

	if o.form {
		body = []byte(formBody("payload", string(body)))
	}

	request.SetBodyRaw(body)
	ctx.Init(&request, nil, nil)
	b.app.Handler()(&ctx)

	return ctx.Response.StatusCode()
}

func contentTypeOf(o jsonOperation) string {
	switch {
	case o.form:
		return formType
	case o.method == http.MethodPatch:
		return "application/merge-patch+json"
	default:
		return "application/json"
	}
}

// harmless is a body of a size that is one string.
func harmless(size int) []byte {
	return []byte(`{"name":"` + strings.Repeat("a", max(0, size-len(`{"name":""}`))) + `"}`)
}

// filled is a body of hostileSize, or of most units if that is less: head, units with their number put in, and tail.
func filled(head, unit, tail string, most int) []byte {
	return filledTo(hostileSize, head, unit, tail, most)
}

func filledTo(size int, head, unit, tail string, most int) []byte {
	var b bytes.Buffer

	b.WriteString(head)

	for i := 0; i < most && b.Len()+len(unit)+len(tail)+8 < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}

		if strings.Contains(unit, "%d") {
			fmt.Fprintf(&b, unit, i)
		} else {
			b.WriteString(unit)
		}
	}

	b.WriteString(tail)

	return b.Bytes()
}

const (
	noLimit = hostileSize
	// mostMembers and mostElements just pass the limits.
	mostMembers  = 1_990
	mostElements = 19_990
)

// hostileBodies are shapes that cost, or once cost, more than their size, for any operation.
func hostileBodies() map[string][]byte {
	long := strings.Repeat("k", hostileSize/2)
	part := strings.Repeat("k", hostileSize/8)

	return map[string][]byte{
		"unknown members":                    filled(`{`, `"a%d":1`, `}`, noLimit),
		"unknown members, as many as may be": filled(`{`, `"a%d":1`, `}`, mostMembers),
		"unknown members with long names":    filled(`{`, `"`+strings.Repeat("n", 480)+`%d":1`, `}`, mostMembers),
		"unknown objects":                    filled(`{`, `"a%d":{"b":{}}`, `}`, mostMembers/2),
		"one member again and again":         filled(`{`, `"a":1`, `}`, noLimit),
		"one member, as often as may be":     filled(`{`, `"a":1`, `}`, mostMembers),
		"a long name over elements":          filled(`{"`+long+`":[`, `0`, `]}`, noLimit),
		"a long name over few elements":      filled(`{"`+long+`":[`, `0`, `]}`, mostElements),
		"a long name over NULs":              filled(`{"`+long+`":[`, `"\u0000"`, `]}`, mostElements),
		"a long name over members":           filled(`{"`+long+`":{`, `"a%d":0`, `}}`, mostMembers),
		"a long name over repeated members":  filled(`{"`+long+`":{`, `"a":0`, `}}`, mostMembers),
		"a long name over large numbers":     filled(`{"`+long+`":[`, `1e99`, `]}`, mostElements),
		"long names in each other":           filled(strings.Repeat(`{"`+part+`":`, 6)+"[", `0`, "]"+strings.Repeat("}", 6), mostElements),
		"elements":                           filled(`[`, `0`, `]`, noLimit),
		"empty objects":                      filled(`[`, `{}`, `]`, noLimit),
		"deep arrays":                        []byte(strings.Repeat("[", hostileSize/2) + strings.Repeat("]", hostileSize/2)),
		"deep objects":                       []byte(strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000)),
		"NULs":                               filled(`[`, `"\u0000"`, `]`, noLimit),
		"surrogate pairs":                    []byte(`{"a":"` + strings.Repeat(`\ud83d\ude00`, hostileSize/13) + `"}`),
		"backslashes":                        []byte(`{"a":"` + strings.Repeat(`\\`, hostileSize/3) + `"}`),
		"digits":                             []byte(`{"a":` + strings.Repeat("1", hostileSize-16) + `}`),
		"zeros behind the point":             []byte(`{"a":0.` + strings.Repeat("0", hostileSize-16) + `}`),
		"large exponents":                    filled(`[`, `1e999999999`, `]`, noLimit),
		"spaces":                             []byte(`{"a":` + strings.Repeat(" ", hostileSize-16) + `1}`),
		"no end":                             filled(`[`, `0`, ``, noLimit),
		"not UTF-8 at its end":               append(filled(`["`, `a`, ``, noLimit), 0xff, '"', ']'),
	}
}

// hostileFields are shapes made for the operation's own fields.
func hostileFields(schema *openapi3.Schema) map[string][]byte {
	out := map[string][]byte{}
	names := slices.Sorted(maps.Keys(schema.Properties))

	for shape, text := range map[string]string{
		"at signs": "@", "parentheses": "(", "brackets": "[", "points": "a.", "colons": ":", "quotes": `\"`, "spaces": " ", "letters": "a",
		"an address": "a@b.", "escapes": "%41", "commas": "a@b.c,", "signs": "ﷺ",
	} {
		each := strings.Repeat(text, hostileSize/max(1, len(names))/(len(text)+1))
		members := make([]string, len(names))

		for i, name := range names {
			members[i] = fmt.Sprintf(`"%s":"%s"`, name, each)
		}

		out["texts of "+shape] = []byte("{" + strings.Join(members, ",") + "}")
	}

	for _, name := range names {
		if !schema.Properties[name].Value.Type.Is("array") {
			continue
		}

		for _, item := range []string{`0`, `{}`, `{"a":1}`, `[]`, `"` + strings.Repeat("x", 40) + `"`, `null`} {
			most := mostElements
			if strings.Contains(item, ":") {
				most = mostMembers - 1
			}

			out["many of "+name+": "+item] = filled(`{"`+name+`":[`, item, `]}`, most)
		}
	}

	return out
}

// TestHostileBodiesCostTheirSize sends bodies that are made to be expensive to every operation that reads JSON. Their
// cost is held to that of a harmless body of the same size, on the same machine at the same time.
func TestHostileBodiesCostTheirSize(t *testing.T) {
	t.Parallel()

	b := setup(t)
	general := hostileBodies()
	every := 1

	switch { // the race detector makes reading a body twenty times as dear
	case cputime.Race:
		every = 24
	case testing.Short():
		every = 8
	}

	for i, o := range jsonOperations(t) {
		bodies := maps.Clone(general)
		maps.Copy(bodies, hostileFields(o.schema))

		for j, shape := range slices.Sorted(maps.Keys(bodies)) {
			if (i+j)%every != 0 { // the operations together meet every shape
				continue
			}

			require.LessOrEqual(t, len(bodies[shape]), hostileSize, shape)
			inProportion(t, b, o, bodies[shape], shape)
		}
	}
}

// inProportion fails when an operation refuses a body at a far higher cost than a harmless one of the largest size that is taken:
// the body has that size, unless a limit keeps its shape from growing to it.
func inProportion(tb testing.TB, b *bundle, o jsonOperation, body []byte, shape string) {
	tb.Helper()

	status := 0

	cputime.RequireInProportion(tb,
		func() { status = serve(b, o, body) }, func() { serve(b, o, harmless(hostileSize)) }, "%s: %s", o, shape)
	require.GreaterOrEqual(tb, status, http.StatusBadRequest, "%s: %s", o, shape)
	require.Less(tb, status, http.StatusInternalServerError, "%s: %s", o, shape)
}

func TestTooManyMembers(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for name, body := range map[string][]byte{
		"members":    filled(`{`, `"a%d":1`, `}`, 2_001),
		"duplicates": filled(`{`, `"a":1`, `}`, 2_001),
		"elements":   filled(`{"passengers":[`, `0`, `]}`, 20_001),
	} {
		a := b.call(t, http.MethodPost, bookingPath, "END_USER", string(body))
		require.Equal(t, http.StatusUnprocessableEntity, a.status, name)
		require.Equal(t, "TOO_MANY_MEMBERS", a.code, name)

		a = b.call(t, http.MethodPost, busesPath, "PROVIDER_ADMIN", formBody("payload", string(body)), "Content-Type", formType)
		require.Equal(t, "TOO_MANY_MEMBERS", a.code, name)
	}

	// Within the limits the answer lists the first fifty problems.
	a := b.call(t, http.MethodPost, bookingPath, "END_USER", string(filled(`{`, `"a%d":1`, `}`, 2_000)))
	require.Equal(t, "VALIDATION_ERROR", a.code)
	require.Len(t, a.details, 50)
}
