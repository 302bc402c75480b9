package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/models"
)

// validatedBody is the local under which the generated handlers look for a body that was checked already, so that they
// bind what was validated instead of decoding a second time without regard to letter case.
const validatedBody = "x-oapi-codegen-validated-body"

// Validate checks parameters and body and returns the body's value. All field errors come at once. A path id that is
// not a UUID is 404, after everything that is wrong with the request itself. A form is the handler's to check.
func (o *Operation) Validate(f *fiber.Ctx, form *Form, body []byte) (any, error) {
	if o.RawBody {
		return nil, nil //nolint:nilnil // the handler reads the bytes that were signed
	}

	var p problems

	if err := o.validateQuery(f, &p); err != nil {
		return nil, err
	}

	o.validateHeaders(f, &p)

	var value any

	if form != nil {
		// The generated handler must not look for a body: it would read all of it.
		f.Locals(validatedBody, map[string]any{})
	} else if o.hasBody() {
		var err error
		if value, err = o.body.jsonBody(f, body, &p); err != nil {
			return nil, err
		}

		if value == nil && len(body) == 0 {
			value = map[string]any{}
		}

		f.Locals(validatedBody, value)
	}

	if err := p.err(); err != nil {
		return nil, err
	}

	for _, name := range o.pathIDs {
		if !isUUID(f.Params(name)) {
			return nil, models.NotFound()
		}
	}

	return value, replaceBody(f, form, value)
}

// replaceBody makes the request's body what was validated: a generated handler decodes the body where it cannot bind the value, as it
// cannot to a json.Number, and would read what was sent.
func replaceBody(f *fiber.Ctx, form *Form, value any) error {
	if form != nil || value == nil {
		return nil
	}

	plain, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode validated body: %w", err)
	}

	f.Request().SetBodyRaw(plain)

	return nil
}

func (o *Operation) validateQuery(f *fiber.Ctx, p *problems) error {
	raw := f.Request().URI().QueryString()
	if len(raw) == 0 {
		o.requireAll(o.query, p)

		return nil
	}

	query, err := url.ParseQuery(string(raw))
	if err != nil {
		return malformed("request.query_unreadable")
	}

	var tidied bool

	for i := range o.query {
		param := &o.query[i]

		// Handlers read the query themselves, and read what was checked.
		if values := query[param.name]; len(values) == 1 && param.clean != nil {
			if text := param.clean(values[0]); text != values[0] && checkable(values[0]) {
				values[0], tidied = text, true
			}
		}

		p.checkParameter(param, query[param.name])
	}

	if tidied {
		f.Request().URI().SetQueryString(query.Encode())
	}

	for i := range o.query {
		delete(query, o.query[i].name)
	}

	// A misspelt filter would silently be none. Callers without a token, such as webhooks and what search engines link
	// to, may add what they like.
	if !o.Public {
		for _, name := range slices.Sorted(maps.Keys(query)) {
			p.add(strings.ToValidUTF8(name, "\uFFFD"), "field.unknown_parameter")
		}
	}

	return nil
}

func (o *Operation) requireAll(params []parameter, p *problems) {
	for i := range params {
		p.checkParameter(&params[i], nil)
	}
}

func (o *Operation) validateHeaders(f *fiber.Ctx, p *problems) {
	for i := range o.headers {
		param := &o.headers[i]

		var values []string
		for _, v := range f.Request().Header.PeekAll(param.name) {
			values = append(values, string(v))
		}

		p.checkParameter(param, values)
	}
}

// checkParameter checks the values that a parameter was given, of which there may be one.
func (p *problems) checkParameter(param *parameter, values []string) {
	switch len(values) {
	case 0:
		if param.required {
			p.add(param.name, "field.required")
		}

		return
	case 1:
	default:
		p.add(param.name, "field.repeated")

		return
	}

	text := values[0]
	if !checkable(text) {
		p.add(param.name, "field.not_utf8")

		return
	}

	value, ok := parameterValue(param.schema, text)
	if !ok {
		p.add(param.name, typeMessage(param.schema))

		return
	}

	// Nothing has this id, and to a list it would mean no filter: its rows would be all instead of none.
	if text == uuid.Nil.String() && param.schema.Format == formatUUID {
		p.add(param.name, "field.nil_uuid")

		return
	}

	p.checkSchemaAt(param.name, param.schema, value)
}

// checkable reports a text that can be stored: UTF-8 without NUL.
func checkable(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// parameterValue reads a parameter's text as its type. Integers are plain: no sign but a minus, no spaces.
func parameterValue(schema *openapi3.Schema, text string) (any, bool) {
	switch {
	case schema.Type.Is("integer"):
		n, err := strconv.ParseInt(text, 10, 64)

		return n, err == nil && text[0] != '+'
	case schema.Type.Is("boolean"):
		return text == "true", text == "true" || text == "false"
	default:
		return text, true
	}
}

// uuidLength is the length of the only form that is accepted, xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
const uuidLength = 36

// isUUID accepts any version.
func isUUID(s string) bool {
	return len(s) == uuidLength && uuid.Validate(s) == nil
}
