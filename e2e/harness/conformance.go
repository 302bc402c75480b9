package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"rihla/api"
)

// Conformance compares answers with the document that the service serves: status, headers and body, and what the
// document can only say in words: the charset, two decimals of money, `Z` of timestamps. Response schemas
// are taken strictly: a field that the document does not have is a difference.
type Conformance struct {
	doc    *openapi3.T
	routes []route
}

type route struct {
	path    string
	pattern *regexp.Regexp
	item    *openapi3.PathItem
}

// NewConformance reads the document.
func NewConformance() (*Conformance, error) {
	doc, err := api.Document()
	if err != nil {
		return nil, err
	}

	c := &Conformance{doc: doc}

	for _, schema := range doc.Components.Schemas {
		tighten(schema.Value)
	}

	// Literal paths are looked at before those with ids: `{` sorts after every letter.
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		pattern := regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
		c.routes = append(c.routes, route{path: path, pattern: regexp.MustCompile("^" + pattern + "$"), item: doc.Paths.Value(path)})
	}

	return c, nil
}

// tighten makes an object refuse fields that it does not name. Schemas that allOf combines become one object first.
func tighten(s *openapi3.Schema) {
	if len(s.AllOf) > 0 {
		merged := openapi3.NewObjectSchema()

		for _, part := range s.AllOf {
			maps.Copy(merged.Properties, part.Value.Properties)
			merged.Required = append(merged.Required, part.Value.Required...)
		}

		*s = *merged
	}

	if s.Type.Is("object") && len(s.Properties) > 0 && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
		s.AdditionalProperties.Has = new(false)
	}
}

// Check returns what is wrong with the answer to a request, or nil.
func (c *Conformance) Check(r *http.Request, a Answer) error {
	path, item := c.find(r.URL.EscapedPath())

	var operation *openapi3.Operation

	if item != nil {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}

		operation = item.Operations()[method]
	}

	if operation == nil { // of no operation: the service may only refuse it
		return checkRefusal(r, a)
	}

	return c.checkOperation(r, a, &routers.Route{
		Spec: c.doc, Server: c.doc.Servers[0], Path: path, PathItem: item, Method: r.Method, Operation: operation,
	})
}

func (c *Conformance) find(path string) (string, *openapi3.PathItem) {
	for _, r := range c.routes {
		if r.pattern.MatchString(path) {
			return r.path, r.item
		}
	}

	return "", nil
}

func (c *Conformance) checkOperation(r *http.Request, a Answer, to *routers.Route) error {
	media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	isJSON := media == "application/json" // application/jsonl is a file
	noBody := len(a.Body) == 0 || r.Method == http.MethodHead

	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: to},
		Status:                 a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: noBody || !isJSON},
	}
	if err := openapi3filter.ValidateResponse(r.Context(), input); err != nil {
		return fmt.Errorf("%d: %w", a.Status, err)
	}

	documented := to.Operation.Responses.Status(a.Status).Value.Content

	switch {
	case noBody && r.Method != http.MethodHead && len(documented) > 0:
		return fmt.Errorf("%d without a body", a.Status)
	case !noBody && !isJSON && documented.Get(a.Header.Get("Content-Type")) == nil:
		return fmt.Errorf("%d with content type %q", a.Status, a.Header.Get("Content-Type"))
	case noBody || !isJSON || to.Path == "/openapi.json":
		return nil
	}

	return checkJSON(a)
}

// checkRefusal is what holds for paths and methods that do not exist.
func checkRefusal(r *http.Request, a Answer) error {
	if a.Status != http.StatusNotFound && a.Status != http.StatusMethodNotAllowed && a.Status != http.StatusBadRequest &&
		(a.Status != http.StatusOK || !strings.HasPrefix(r.URL.Path, "/docs/")) {
		return fmt.Errorf("%d for a path or method that the document does not have", a.Status)
	}

	if a.Status == http.StatusOK || r.Method == http.MethodHead {
		return nil
	}

	if a.Code() == "" {
		return fmt.Errorf("%d without the error envelope", a.Status)
	}

	return checkJSON(a)
}

var (
	contentType = "application/json; charset=utf-8"
	money       = regexp.MustCompile(`^-?\d+\.\d\d$`)
	moment      = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

// untold is what is said in Arabic of a message that has no words.
const untold = "القيمة غير صالحة"

// checkJSON checks what a schema cannot say.
func checkJSON(a Answer) error {
	if got := a.Header.Get("Content-Type"); got != contentType {
		return fmt.Errorf("content type %q", got)
	}

	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()

	var root any
	if err := d.Decode(&root); err != nil {
		return err
	}

	if a.Code() != "" {
		if bytes.Contains(a.Body, []byte(untold)) {
			return fmt.Errorf("a message of the details has no Arabic words: %s", a.Body)
		}

		return nil // the details of an error name fields, and hold messages
	}

	return checkValue("", root)
}

// checkValue checks the form of amounts and moments in a value and below it.
func checkValue(name string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if err := checkValue(key, member); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := checkValue(name, item); err != nil {
				return err
			}
		}
	case json.Number:
		if isMoney(name) && !money.MatchString(v.String()) {
			return fmt.Errorf("%s is %s: not two decimals", name, v)
		}
	case string:
		if strings.HasSuffix(name, "_at") && !moment.MatchString(v) {
			return fmt.Errorf("%s is %s: not UTC with Z", name, v)
		}

		if isMoney(name) {
			return fmt.Errorf("%s is a string", name)
		}
	}

	return nil
}

func isMoney(name string) bool {
	return name == "amount" || strings.HasSuffix(name, "_amount") || name == "price_per_seat"
}
