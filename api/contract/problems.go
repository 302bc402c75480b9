package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"rihla/models"
)

const (
	// maxProblems and maxFieldName bound an answer that echoes field names of the caller.
	maxProblems  = 50
	maxFieldName = 200
)

// problems collects what is wrong with a request, by field: the first maxProblems messages.
type problems struct {
	details map[string][]string
	// reported counts the messages in details.
	reported int
	// objects are the paths of objects whose unknown members have been named.
	objects map[string]bool
}

// full reports whether there is no room for another message. Callers that would put a path into words ask first.
func (p *problems) full() bool { return p.reported >= maxProblems }

// addAt is add for a path that is put into words only while there is room.
func (p *problems) addAt(path fieldPath, message string) {
	if !p.full() {
		p.add(path.String(), message)
	}
}

func (p *problems) add(field, message string) {
	if field == "" {
		field = "body"
	}

	if len(field) > maxFieldName {
		field = strings.ToValidUTF8(field[:maxFieldName], "") + "…"
	}

	if p.details == nil {
		p.details = map[string][]string{}
	}

	messages := p.details[field]
	if p.full() || slices.Contains(messages, message) {
		return
	}

	p.details[field] = append(messages, message)
	p.reported++
}

// err is VALIDATION_ERROR with everything that was found, or nil.
func (p *problems) err() error {
	if len(p.details) == 0 {
		return nil
	}

	return &models.Error{Code: models.CodeValidation, Message: "The request has invalid fields.", Details: p.details}
}

// checkSchema checks a body.
func (p *problems) checkSchema(schema *openapi3.Schema, value any) {
	p.checkSchemaAt("", schema, value)
}

// checkSchemaAt lets kin-openapi find what is wrong, and says it in our words: kin's messages quote schemas and values.
func (p *problems) checkSchemaAt(path string, schema *openapi3.Schema, value any) {
	if err := schema.VisitJSON(value, visitOptions...); err != nil {
		p.addSchemaError(path, err)
	}
}

// visitOptions are built once; the formats are ours and stay ours, kin's own registry is global.
var visitOptions = []openapi3.SchemaValidationOption{
	openapi3.MultiErrors(), openapi3.VisitAsRequest(), openapi3.WithStringFormatValidators(stringFormats),
}

func (p *problems) addSchemaError(path string, err error) {
	if p.full() {
		return
	}

	switch e := err.(type) { //nolint:errorlint // a tree is walked, layer by layer
	case openapi3.MultiError:
		for _, one := range e {
			p.addSchemaError(path, one)
		}
	case *openapi3.SchemaError:
		p.addOne(path, e)
	default:
		p.add(path, "is not valid")
	}
}

func (p *problems) addOne(path string, e *openapi3.SchemaError) {
	for _, key := range e.JSONPointer() {
		path = join(path, key)
	}

	if e.SchemaField == "properties" {
		p.addUnknown(path, e)

		return
	}

	if nested, ok := errors.AsType[openapi3.MultiError](e.Origin); ok && e.SchemaField == "allOf" {
		p.addSchemaError("", nested)

		return
	}

	p.add(path, message(e))
}

// addUnknown names the fields that the schema does not have, all of an object at once: kin reports each of them with the
// whole object. Names are compared exactly.
func (p *problems) addUnknown(path string, e *openapi3.SchemaError) {
	if p.objects[path] {
		return
	}

	if p.objects == nil {
		p.objects = map[string]bool{}
	}

	p.objects[path] = true
	object, _ := e.Value.(map[string]any)

	for _, name := range slices.Sorted(maps.Keys(object)) {
		if p.full() {
			return
		}

		if e.Schema.Properties[name] == nil {
			p.add(join(path, name), "is not a known field")
		}
	}
}

// message says in plain English which rule a value breaks. A schema may bring its own words in x-message.
func message(e *openapi3.SchemaError) string {
	s := e.Schema

	switch e.SchemaField {
	case "required":
		return "is required"
	case "nullable":
		return "must not be null"
	case "type":
		return typeMessage(s)
	case "enum":
		if e.Value == nil {
			return "must not be null"
		}

		return "must be one of " + enumList(s.Enum)
	case "minLength":
		if s.MinLength == 1 {
			return "must not be empty"
		}

		return fmt.Sprintf("must have at least %d characters", s.MinLength)
	case "maxLength":
		return fmt.Sprintf("must have at most %d characters", *s.MaxLength)
	case "minItems":
		return "must have at least " + count(s.MinItems, "item")
	case "maxItems":
		return "must have at most " + count(*s.MaxItems, "item")
	case "uniqueItems":
		return "must not have the same item twice"
	case "minimum":
		return "must be at least " + plain(*s.Min)
	case "maximum":
		return "must be at most " + plain(*s.Max)
	case "pattern", "format":
		return formatMessage(s)
	default:
		return "is not valid"
	}
}

func formatMessage(s *openapi3.Schema) string {
	if words, ok := s.Extensions["x-message"].(string); ok {
		return words
	}

	if words, ok := FormatWords[s.Format]; ok {
		return words
	}

	return "has an invalid format"
}

func typeMessage(s *openapi3.Schema) string {
	switch {
	case s.Type.Is("string"):
		return "must be a string"
	case s.Type.Is("integer"):
		return "must be an integer"
	case s.Type.Is("number"):
		return "must be a number"
	case s.Type.Is("boolean"):
		return "must be true or false"
	case s.Type.Is("array"):
		return "must be a list"
	case s.Type.Is("object"):
		return "must be an object"
	default:
		return "has the wrong type"
	}
}

func enumList(values []any) string {
	var names []string

	for _, v := range values {
		if v != nil {
			names = append(names, fmt.Sprint(v))
		}
	}

	return strings.Join(names, ", ")
}

func count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return strconv.FormatUint(n, 10) + " " + noun + "s"
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
