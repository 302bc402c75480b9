package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
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
			"not UTF-8":        {`{"` + first + `":"` + "\xff\xfe" + `"}`, 400, ""},
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
				if takes(schema.Properties[field].Value, value) || value == nil && !slices.Contains(schema.Required, field) {
					continue // null is the same as leaving an optional field out
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

// takes reports whether a field may have the value. No text among the values has a format.
func takes(s *openapi3.Schema, value any) bool {
	_, text := value.(string)

	return s.VisitJSON(value) == nil && (!text || s.Format == "")
}

// needlessBodies go to operations that take none: the service does not read them, and a missing resource is not found.
func needlessBodies(t *testing.T, w *targets) {
	t.Helper()

	for _, p := range w.bare {
		for _, body := range []string{"", "hello", "{", "[]", "null", `{"id":1}`, "\x00\xff", strings.Repeat(`{"a":`, 10000)} {
			for _, contentType := range []string{"application/json", "text/plain", "multipart/form-data; boundary=x", ";;;"} {
				refused(t, w.do(t, p, []byte(body), map[string]string{"Content-Type": contentType}), http.StatusNotFound, models.CodeNotFound)
			}
		}
	}
}

// badForms are bodies that hold no files.
func badForms(t *testing.T, w *targets) {
	t.Helper()

	for _, p := range w.forms {
		for _, contentType := range []string{
			"application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/mixed; boundary=x", "image/png", ";;;", "",
		} {
			a := w.do(t, p, []byte("{}"), map[string]string{"Content-Type": contentType})
			refused(t, a, http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)
		}

		for _, body := range []string{"", "hello", "{}", "--x", "--x\r\n", "--x\r\n\r\n", "--y--\r\n"} {
			a := w.do(t, p, []byte(body), map[string]string{"Content-Type": "multipart/form-data; boundary=x"})
			refused(t, a, http.StatusBadRequest, models.CodeMalformedRequest)
		}

		for part, status := range map[string]int{
			`name="photos"; filename="x.png"`: http.StatusUnsupportedMediaType, `name="files"; filename="x.png"`: http.StatusUnprocessableEntity,
		} {
			a := w.do(t, p, formOf(part, []byte("no picture")), map[string]string{"Content-Type": "multipart/form-data; boundary=x"})
			require.Equal(t, status, a.Status, "%s: %s", part, a.Body)
		}
	}
}

// formOf is a form of one part, between lines of --x.
func formOf(part string, content []byte) []byte {
	head := "--x\r\nContent-Disposition: form-data; " + part + "\r\nContent-Type: image/png\r\n\r\n"

	return slices.Concat([]byte(head), content, []byte("\r\n--x--\r\n"))
}

// badSizes sends more than 1 MiB, with and without saying so beforehand.
func badSizes(t *testing.T, w *targets) {
	t.Helper()

	for _, size := range []int{1<<20 + 1, 10 << 20} {
		filler := bytes.Repeat([]byte("x"), size)

		for _, p := range slices.Concat(w.posts, w.bare) {
			refused(t, w.do(t, p, filler, nil), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
			refused(t, chunked(t, p.caller, p.method, w.URL+p.path, filler), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
		}

		for _, channel := range models.Channels() {
			path := "/api/v1/payments/" + channel.Path()

			a, err := w.Anybody().Do(http.MethodPost, path, filler, w.Signed(channel, "large", filler))
			require.NoError(t, err)
			refused(t, a, http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
			refused(t, chunked(t, w.Anybody(), http.MethodPost, w.URL+path, filler), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
		}
	}
}

// chunked sends a body without a Content-Length.
func chunked(t *testing.T, c *harness.Caller, method, url string, body []byte) harness.Answer {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, url, io.MultiReader(bytes.NewReader(body)))
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
		files := w.operation(p.id).RequestBody.Value.Content["multipart/form-data"] != nil

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
			if files && strings.HasPrefix(header["Content-Type"], "multipart/") {
				continue
			}

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
				body, header := w.request(t, op.OperationID)

				a, err := w.mayCall(op).Do(method, before+id+after+"?"+needed(path).Encode(), body, header)
				require.NoError(t, err)
				require.Equal(t, http.StatusNotFound, a.Status, "%s %s: %s", op.OperationID, id, a.Body)
				require.JSONEq(t, `{"error":{"code":"NOT_FOUND","message":"The resource does not exist.","ui_message":"العنصر المطلوب غير موجود."}}`, string(a.Body))
			}
		}
	}
}

// mayCall is a SUPER_ADMIN, or of a company where they may not.
func (w *targets) mayCall(op *openapi3.Operation) *harness.Caller {
	roles := fmt.Sprint(op.Extensions["x-roles"])
	if strings.Contains(roles, string(models.RoleProviderAdmin)) && !strings.Contains(roles, string(models.RoleSuperAdmin)) {
		return w.As(models.RoleProviderAdmin)
	}

	return w.As(models.RoleSuperAdmin)
}

// request is what an operation would accept, as a body and its header.
func (w *targets) request(t *testing.T, operation string) (body any, header map[string]string) {
	t.Helper()

	for _, p := range w.posts {
		if p.id == operation {
			return p.body, nil
		}
	}

	for _, p := range w.forms {
		if p.id == operation {
			var picture bytes.Buffer

			require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))))

			return formOf(`name="photos"; filename="x.png"`, picture.Bytes()), map[string]string{"Content-Type": "multipart/form-data; boundary=x"}
		}
	}

	if operation == takesList {
		return []map[string]any{{"passenger_id": uuid.New(), "at": "2026-11-28T09:00:00Z", "device_id": "phone-1"}}, nil
	}

	return nil, nil
}
