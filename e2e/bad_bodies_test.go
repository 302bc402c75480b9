package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// badBodies are bodies that no operation takes.
func badBodies(t *testing.T, w *targets) {
	t.Helper()

	for _, p := range w.posts {
		good, err := json.Marshal(p.body)
		require.NoError(t, err)

		first := p.fields()[0]

		for name, tt := range map[string]struct {
			body   string
			status int
			field  string // that the details name
		}{
			"half an object":   {`{"` + first + `":`, 400, ""},
			"no JSON":          {"hello", 400, ""},
			"two values":       {string(good) + string(good), 400, ""},
			"a comma too many": {`{"` + first + `":1,}`, 400, ""},
			"single quotes":    {`{'` + first + `':1}`, 400, ""},
			"NaN":              {`{"` + first + `":NaN}`, 400, ""},
			"nested deeply":    {strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000), 400, ""},
			"a byte of NUL":    {"\x00", 400, ""},
			"a list":           {"[]", 422, "body"},
			"null":             {"null", 422, "body"},
			"text":             {`"text"`, 422, "body"},
			"a number":         {"1e400000000", 422, "body"},
			"not UTF-8":        {`{"` + first + `":"` + "\xff\xfe" + `"}`, 422, "body"},
			"half a surrogate": {`{"` + first + `":"\ud800"}`, 422, "body"},
			"NUL":              {`{"` + first + `":"a\u0000b"}`, 422, first},
			"NUL in a name":    {`{"a\u0000b":1}`, 422, "a\x00b"},
			"a name twice":     {strings.TrimSuffix(string(good), "}") + `,"` + first + `":null}`, 422, first},
			"unknown field":    {strings.TrimSuffix(string(good), "}") + `,"amounts":1}`, 422, "amounts"},
			"other case": {
				strings.Replace(string(good), `"`+first+`"`, `"`+strings.ToUpper(first)+`"`, 1), 422, strings.ToUpper(first),
			},
			"camel case": {strings.TrimSuffix(string(good), "}") + `,"isAdmin":true}`, 422, "isAdmin"},
		} {
			a := w.do(t, p, []byte(tt.body), nil)
			if tt.status == http.StatusBadRequest {
				refused(t, a, tt.status, models.CodeMalformedRequest)

				continue
			}

			refused(t, a, tt.status, models.CodeValidation)
			require.Contains(t, errorDetails(t, a), tt.field, "%s: %s: %s", p.id, name, a.Body)
		}

		if w.operation(p.id).RequestBody.Value.Required {
			refused(t, w.do(t, p, []byte{}, nil), http.StatusBadRequest, models.CodeMalformedRequest)
		}
	}
}

// badValues puts values of every wrong type into every field.
func badValues(t *testing.T, w *targets) {
	t.Helper()

	for _, p := range w.posts {
		schema := w.operation(p.id).RequestBody.Value.Content.Get("application/json").Schema.Value

		for _, field := range p.fields() {
			for _, value := range []any{nil, map[string]any{}, []any{map[string]any{}}, []any{nil}, true, 12345, "", strings.Repeat("x", 3000), 1e300} {
				if value == 12345 && field == "amount" {
					continue
				}

				text, err := json.Marshal(value)
				require.NoError(t, err)

				a := w.do(t, p, p.with(field, value), nil)
				require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s: %s = %.40s: %s", p.id, field, text, a.Body)
				require.Equal(t, models.CodeValidation, a.Code())

				named := false
				for path := range errorDetails(t, a) {
					named = named || path == field || strings.HasPrefix(path, field+".")
				}

				require.True(t, named, "%s: %s = %.40s: %s", p.id, field, text, a.Body)
			}
		}

		for _, field := range schema.Required {
			body := p.with(field, nil)
			delete(body, field)

			a := w.do(t, p, body, nil)
			refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
			require.Equal(t, []string{"is required"}, errorDetails(t, a)[field])
		}
	}
}

// badSizes sends more than 1 MiB, with and without saying so beforehand.
func badSizes(t *testing.T, w *targets) {
	t.Helper()

	for _, size := range []int{1<<20 + 1, 10 << 20} {
		filler := bytes.Repeat([]byte("x"), size)

		for _, p := range w.posts {
			refused(t, w.do(t, p, filler, nil), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
			refused(t, chunked(t, p.caller, w.URL+p.path, filler), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
		}

		for _, channel := range models.Channels() {
			path := "/api/v1/payments/" + channel.Path()

			a, err := w.Anybody().Do(http.MethodPost, path, filler, w.Signed(channel, "large", filler))
			require.NoError(t, err)
			refused(t, a, http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
			refused(t, chunked(t, w.Anybody(), w.URL+path, filler), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
		}
	}
}

// chunked sends a body without a Content-Length.
func chunked(t *testing.T, c *harness.Caller, url string, body []byte) harness.Answer {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.MultiReader(bytes.NewReader(body)))
	require.NoError(t, err)
	require.Zero(t, r.ContentLength)

	r.Header.Set("Content-Type", "application/json")

	a, err := c.Send(r)
	require.NoError(t, err)

	return a
}

// badMediaTypes sends a good body under a wrong name.
func badMediaTypes(t *testing.T, w *targets) {
	t.Helper()

	for _, p := range w.posts {
		for _, header := range []map[string]string{
			{"Content-Type": "text/plain"},
			{"Content-Type": "application/xml"},
			{"Content-Type": "application/x-www-form-urlencoded"},
			{"Content-Type": "multipart/form-data; boundary=x"},
			{"Content-Type": "application/json; charset=iso-8859-1"},
			{"Content-Type": "application/jsonp"},
			{"Content-Type": "application/"},
			{"Content-Type": ";;;"},
			{"Content-Type": ""},
			{"Content-Encoding": "gzip"},
			{"Content-Encoding": "br, gzip"},
		} {
			a := w.do(t, p, p.body, header)
			require.Equal(t, http.StatusUnsupportedMediaType, a.Status, "%s: %v: %s", p.id, header, a.Body)
			require.Equal(t, models.CodeUnsupportedMediaType, a.Code())
		}
	}
}

// badKeys sends Idempotency-Keys that are no UUID v4.
func badKeys(t *testing.T, w *targets) {
	t.Helper()

	for _, p := range w.posts {
		accepts := false
		for _, parameter := range w.operation(p.id).Parameters {
			accepts = accepts || parameter.Value.Name == "Idempotency-Key"
		}

		if !accepts {
			continue
		}

		for _, key := range []string{
			"1", "not-a-uuid", strings.Repeat("a", 300), uuid.Nil.String(), models.NewID().String(), models.Derive("key").String(),
			strings.ReplaceAll(uuid.NewString(), "-", ""), "{" + uuid.NewString() + "}", uuid.NewString() + ",",
		} {
			a := w.do(t, p, p.body, map[string]string{"Idempotency-Key": key})
			refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
			require.Contains(t, errorDetails(t, a), "Idempotency-Key")
		}
	}
}

// badPathIDs asks for what is no id, and for ids that nothing has.
func badPathIDs(t *testing.T, w *targets) {
	t.Helper()

	admin := w.As(models.RoleSuperAdmin)

	for path, item := range w.doc.Paths.Map() {
		before, after, has := strings.Cut(path, "{")
		if !has {
			continue
		}

		_, after, _ = strings.Cut(after, "}")

		for method, op := range item.Operations() {
			for _, id := range []string{
				"1", "x", "null", "undefined", "-", "%20", "%00", "%ff", "..%2f..", "%27%20OR%201=1", strings.Repeat("9", 500),
				strings.ReplaceAll(uuid.NewString(), "-", ""), "%7B" + uuid.NewString() + "%7D", uuid.Nil.String(), uuid.NewString(),
			} {
				var body any

				for _, p := range w.posts {
					if p.id == op.OperationID {
						body = p.body
					}
				}

				a, err := admin.Do(method, before+id+after, body, nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusNotFound, a.Status, "%s %s: %s", op.OperationID, id, a.Body)
				require.JSONEq(t, `{"error":{"code":"NOT_FOUND","message":"The resource does not exist."}}`, string(a.Body))
			}
		}
	}
}
