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
	details map[string][]models.Text
	// reported counts the messages in details.
	reported int
	// objects are the paths of objects whose unknown members have been named.
	objects map[string]bool
}

// full reports whether there is no room for another message. Callers that would put a path into words ask first.
func (p *problems) full() bool { return p.reported >= maxProblems }

// addAt is add for a path that is put into words only while there is room.
func (p *problems) addAt(path fieldPath, key models.Key) {
	if !p.full() {
		p.add(path.String(), key)
	}
}

func (p *problems) add(field string, key models.Key, args ...any) {
	p.say(field, models.TextOf(key, args...))
}

func (p *problems) say(field string, message models.Text) {
	if field == "" {
		field = "body"
	}

	if len(field) > maxFieldName {
		field = strings.ToValidUTF8(field[:maxFieldName], "") + "…"
	}

	if p.details == nil {
		p.details = map[string][]models.Text{}
	}

	messages := p.details[field]
	if p.full() || slices.ContainsFunc(messages, message.Equal) {
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

	return models.InvalidFields("request.invalid_fields", p.details)
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
		p.add(path, "field.invalid")
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

	p.say(path, message(e))
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
			p.add(join(path, name), "field.unknown")
		}
	}
}

// message says which rule a value breaks. A schema may bring its own words in x-message, and their arguments in x-message-args.
func message(e *openapi3.SchemaError) models.Text {
	s := e.Schema

	switch e.SchemaField {
	case "required":
		return models.TextOf("field.required")
	case "nullable":
		return models.TextOf("field.null")
	case "type":
		return models.TextOf(typeMessage(s))
	case "enum":
		if e.Value == nil {
			return models.TextOf("field.null")
		}

		return models.TextOf("field.one_of", "values", enumList(s.Enum))
	case "minLength":
		if s.MinLength == 1 {
			return models.TextOf("field.empty")
		}

		return models.TextOf("field.min_length", "n", s.MinLength)
	case "maxLength":
		return models.TextOf("field.max_length", "n", *s.MaxLength)
	case "minProperties":
		return models.TextOf("field.empty")
	case "minItems":
		return models.TextOf("field.min_items", "n", s.MinItems)
	case "maxItems":
		return models.TextOf("field.max_items", "n", *s.MaxItems)
	case "uniqueItems":
		return models.TextOf("field.item_repeated")
	case "minimum":
		return models.TextOf("field.min", "min", plain(*s.Min))
	case "maximum":
		return models.TextOf("field.max", "max", plain(*s.Max))
	case "pattern", "format":
		return formatMessage(s)
	default:
		return models.TextOf("field.invalid")
	}
}

func formatMessage(s *openapi3.Schema) models.Text {
	if key, ok := s.Extensions["x-message"].(string); ok {
		return models.TextOf(models.Key(key), messageArgs(s)...)
	}

	if key, ok := FormatWords[s.Format]; ok {
		return models.TextOf(key)
	}

	return models.TextOf("field.format")
}

// messageArgs are x-message-args: names or lists of names, by the argument.
func messageArgs(s *openapi3.Schema) (args []any) {
	given, _ := s.Extensions["x-message-args"].(map[string]any)

	for name, value := range given {
		list, ok := value.([]any)
		if !ok {
			args = append(args, name, fmt.Sprint(value))

			continue
		}

		args = append(args, name, enumList(list))
	}

	return args
}

func typeMessage(s *openapi3.Schema) models.Key {
	switch {
	case s.Type.Is("string"):
		return "field.text"
	case s.Type.Is("integer"):
		return "field.integer"
	case s.Type.Is("number"):
		return "field.number"
	case s.Type.Is("boolean"):
		return "field.boolean"
	case s.Type.Is("array"):
		return "field.list"
	case s.Type.Is("object"):
		return "field.object"
	default:
		return "field.wrong_type"
	}
}

func enumList(values []any) []string {
	var names []string

	for _, v := range values {
		if v != nil {
			names = append(names, fmt.Sprint(v))
		}
	}

	return names
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
