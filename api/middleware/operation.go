package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"rihla/models"
)

const (
	// defaultTimeout is a request's deadline unless the operation has an x-timeout.
	defaultTimeout = 15 * time.Second
	// defaultBodyLimit is the largest body unless the operation has an x-body-limit.
	defaultBodyLimit = 1 << 20
	// unaskedBodyLimit is the largest body that is read before the caller is known to be allowed to send it.
	unaskedBodyLimit = 64 << 10
	// idempotencyHeader makes an operation that declares it idempotent (rules: idempotency.where).
	idempotencyHeader = "Idempotency-Key"
)

// operation is one operation of the document, compiled to what its checks need.
type operation struct {
	id     string
	method string
	// path is the route as Fiber writes it, /api/v1/bookings/:id.
	path string
	// public needs no token; else roles may call it, and no roles means every role.
	public bool
	roles  []models.Role
	limit  limitClass
	// rawBody leaves the body to the handler, which verifies a signature over it before it believes anything.
	rawBody    bool
	idempotent bool
	timeout    time.Duration
	bodyLimit  int
	// pathIDs are the names of path parameters, all of them UUIDs.
	pathIDs []string
	query   []parameter
	headers []parameter
	body    *bodyRule
	// deprecated is nil while the operation is not.
	deprecated *deprecation
	// merge is the body of the PUT on the same path: what the result of a PATCH must be.
	merge *bodyRule
}

// parameter is a query or header parameter.
type parameter struct {
	name     string
	required bool
	schema   *openapi3.Schema
}

// bodyRule is what an operation accepts as its body.
type bodyRule struct {
	required bool
	// schemas has a nil schema for a media type that the handler reads itself.
	schemas map[string]*openapi3.Schema
	// decimals says that some number in it has an x-decimals.
	decimals bool
	// keepNulls is set for a merge patch, in which null takes a field away.
	keepNulls bool
	// form is set when it may be multipart/form-data.
	form *formRule
}

// compile turns the document into operations by method and Fiber route, `POST /api/v1/bookings`.
func compile(doc *openapi3.T) (map[string]*operation, error) {
	operations := map[string]*operation{}

	var errs []error

	for path, item := range doc.Paths.Map() {
		for method, source := range item.Operations() {
			op, err := compileOperation(doc, method, path, item, source)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", method, path, err))

				continue
			}

			operations[op.key()] = op
		}
	}

	return operations, errors.Join(errs...)
}

func (o *operation) key() string { return o.method + " " + o.path }

func compileOperation(doc *openapi3.T, method, path string, item *openapi3.PathItem, source *openapi3.Operation) (*operation, error) {
	op := &operation{
		id: source.OperationID, method: method, path: fiberPath(path),
		timeout: defaultTimeout, bodyLimit: defaultBodyLimit,
	}

	if err := op.compileExtensions(source.Extensions); err != nil {
		return nil, err
	}

	if err := op.agreeWithSecurity(doc, source); err != nil {
		return nil, err
	}

	for _, ref := range slices.Concat(item.Parameters, source.Parameters) {
		if err := op.compileParameter(ref.Value); err != nil {
			return nil, err
		}
	}

	if source.RequestBody != nil {
		op.body = compileBody(source.RequestBody.Value)
	}

	if err := op.compileMerge(item); err != nil {
		return nil, err
	}

	var err error
	if op.deprecated, err = compileDeprecation(source); err != nil {
		return nil, err
	}

	if op.idempotent && op.public {
		return nil, errors.New("an Idempotency-Key belongs to a user, and a public operation has none")
	}

	if op.idempotent && op.body != nil && op.body.form != nil {
		return nil, errors.New("an Idempotency-Key needs the body's hash, and a form is not read before the handler runs")
	}

	return op, nil
}

func (o *operation) compileExtensions(ext map[string]any) error {
	if err := o.compileRoles(ext["x-roles"]); err != nil {
		return err
	}

	name, _ := ext["x-limit"].(string)
	o.limit = limitClass(name)

	switch o.limit {
	case limitNone, limitAnonymous, limitWebhook, limitLogin, limitMedia:
	case limitByRole:
		if o.public {
			return errors.New("x-limit by-role needs a caller, and the operation is public")
		}
	default:
		return fmt.Errorf("x-limit %q is not one of none, anonymous, by-role, webhook, login, media", name)
	}

	o.rawBody, _ = ext["x-raw-body"].(bool)

	if seconds, ok := ext["x-timeout"].(float64); ok {
		o.timeout = time.Duration(seconds * float64(time.Second))
	}

	if limit, ok := ext["x-body-limit"].(float64); ok {
		o.bodyLimit = int(limit)
	}

	if o.rawBody && o.bodyLimit > unaskedBodyLimit {
		return fmt.Errorf("x-raw-body needs an x-body-limit of at most %d: the signature is over the body", unaskedBodyLimit)
	}

	return nil
}

func (o *operation) compileRoles(value any) error {
	names, _ := value.([]any)
	if len(names) == 0 {
		return errors.New("x-roles is missing: say [public], [authenticated] or name the roles")
	}

	for _, n := range names {
		name, _ := n.(string)

		switch {
		case name == "public" && len(names) == 1:
			o.public = true
		case name == "authenticated" && len(names) == 1:
		case slices.Contains(models.Roles(), models.Role(name)):
			o.roles = append(o.roles, models.Role(name))
		default:
			return fmt.Errorf("x-roles: %v is not a role", n)
		}
	}

	return nil
}

// agreeWithSecurity keeps what the document tells clients (security) and what is enforced (x-roles) the same.
func (o *operation) agreeWithSecurity(doc *openapi3.T, source *openapi3.Operation) error {
	security := doc.Security
	if source.Security != nil {
		security = *source.Security
	}

	bearer := slices.ContainsFunc(security, func(r openapi3.SecurityRequirement) bool {
		_, ok := r["bearerAuth"]

		return ok
	})
	if bearer == o.public {
		return errors.New("security and x-roles disagree on whether a token is needed")
	}

	return nil
}

func (o *operation) compileParameter(p *openapi3.Parameter) error {
	if p.Schema == nil || p.Schema.Value == nil {
		return fmt.Errorf("parameter %s has no schema", p.Name)
	}

	compiled := parameter{name: p.Name, required: p.Required, schema: p.Schema.Value}

	switch t := p.Schema.Value.Type; {
	case t.Is("string"), t.Is("integer"), t.Is("boolean"):
	default:
		return fmt.Errorf("parameter %s is neither string, integer nor boolean", p.Name)
	}

	switch p.In {
	case openapi3.ParameterInPath:
		if p.Schema.Value.Format != formatUUID {
			return fmt.Errorf("path parameter %s is not a uuid", p.Name)
		}

		o.pathIDs = append(o.pathIDs, p.Name)
	case openapi3.ParameterInQuery:
		o.query = append(o.query, compiled)
	case openapi3.ParameterInHeader:
		o.headers = append(o.headers, compiled)
		o.idempotent = o.idempotent || p.Name == idempotencyHeader
	default:
		return fmt.Errorf("parameter %s is in %s", p.Name, p.In)
	}

	return nil
}

func compileBody(body *openapi3.RequestBody) *bodyRule {
	rule := &bodyRule{required: body.Required, schemas: map[string]*openapi3.Schema{}}

	for mediaType, content := range body.Content {
		if mediaType == fiber.MIMEMultipartForm && content.Schema != nil {
			rule.form = compileForm(content)
		}

		if !isJSON(mediaType) || content.Schema == nil {
			rule.schemas[mediaType] = nil

			continue
		}

		rule.schemas[mediaType] = content.Schema.Value
		rule.decimals = rule.decimals || hasDecimals(content.Schema.Value)
	}

	return rule
}

// compileMerge finds what a PATCH leads to.
func (o *operation) compileMerge(item *openapi3.PathItem) error {
	if o.method != http.MethodPatch {
		return nil
	}

	if o.body == nil || item.Put == nil || item.Put.RequestBody == nil {
		return errors.New("a merge patch needs a body, and a PUT on the same path")
	}

	o.body.keepNulls = true
	o.merge = compileBody(item.Put.RequestBody.Value)
	if o.merge.schemas["application/json"] == nil {
		return errors.New("the PUT on the same path takes no JSON")
	}

	return nil
}

// writesProvider reports whether the operation changes what belongs to a provider company.
func (o *operation) writesProvider() bool {
	return o.method != http.MethodGet && slices.ContainsFunc(o.roles, models.Role.IsProvider)
}

// allows reports whether a role may call the operation.
func (o *operation) allows(role models.Role) bool {
	return len(o.roles) == 0 || slices.Contains(o.roles, role)
}

// hasBody reports whether requests of this operation may carry a body that matters.
func (o *operation) hasBody() bool { return o.body != nil && o.method != http.MethodGet }

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// fiberPath writes a path template as Fiber and the code generator do: {id} becomes :id.
func fiberPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}
