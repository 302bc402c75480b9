package contract

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
	// IdempotencyHeader makes an operation that declares it idempotent (rules: idempotency.where).
	IdempotencyHeader = "Idempotency-Key"
)

// Operation is one operation of the document, compiled to what its checks need.
type Operation struct {
	// ID is its operationId.
	ID     string
	Method string
	// Path is the route as Fiber writes it, /api/v1/bookings/:id.
	Path string
	// Public needs no token; else roles may call it, and no roles means every role.
	Public bool
	roles  []models.Role
	Limit  LimitClass
	// Payments says that the operation begins a payment by the payment_method of its body, of which a process has a bounded number under way.
	Payments bool
	// RawBody leaves the body unread by the checks of the document: a signature is over its bytes.
	RawBody bool
	// Idempotent operations take an Idempotency-Key.
	Idempotent bool
	// AccountByHandler leaves it to the handler to look up the caller's account (middleware.JudgeAccount).
	AccountByHandler bool
	// WithoutSecondFactor operations are open to accounts that must have a second factor and have none.
	WithoutSecondFactor bool
	// StepUp operations need a code that was typed lately, of accounts with a second factor.
	StepUp bool
	// People is what its answers have of people other than the caller.
	People People
	// Timeout bounds the request, BodyLimit its body in bytes.
	Timeout   time.Duration
	BodyLimit int
	// pathIDs are the names of path parameters, all of them UUIDs.
	pathIDs []string
	query   []parameter
	headers []parameter
	body    *bodyRule
	// Deprecated is nil while the operation is not.
	Deprecated *deprecation
	// merge is the body of the PUT on the same path: the result of a PATCH must match it.
	merge *bodyRule
}

// parameter is a query or header parameter.
type parameter struct {
	name     string
	required bool
	schema   *openapi3.Schema
	// clean brings its text into the form that is checked; nil for one that stays as it is.
	clean func(string) string
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
	form *Form
}

// Compile turns the document into operations by method and Fiber route, `POST /api/v1/bookings`.
func Compile(doc *openapi3.T) (map[string]*Operation, error) {
	operations := map[string]*Operation{}

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

func (o *Operation) key() string { return o.Method + " " + o.Path }

func compileOperation(doc *openapi3.T, method, path string, item *openapi3.PathItem, source *openapi3.Operation) (*Operation, error) {
	op := &Operation{
		ID: source.OperationID, Method: method, Path: fiberPath(path),
		Timeout: defaultTimeout, BodyLimit: defaultBodyLimit,
	}

	if err := op.compileExtensions(source.Extensions); err != nil {
		return nil, err
	}

	if err := op.checkRolesMatchSecurity(doc, source); err != nil {
		return nil, err
	}

	if err := op.compilePeople(source); err != nil {
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
	if op.Deprecated, err = compileDeprecation(source); err != nil {
		return nil, err
	}

	if op.Payments && !op.namesMethod() {
		return nil, errors.New("x-admission needs a body with a required payment_method")
	}

	if op.Idempotent && op.Public {
		return nil, errors.New("an Idempotency-Key belongs to a user, and a public operation has none")
	}

	if op.Idempotent && op.body != nil && op.body.form != nil {
		return nil, errors.New("an Idempotency-Key needs the body's hash, and a form is not read before the handler runs")
	}

	return op, nil
}

func (o *Operation) compileExtensions(ext map[string]any) error {
	if err := o.compileRoles(ext["x-roles"]); err != nil {
		return err
	}

	name, _ := ext["x-limit"].(string)
	o.Limit = LimitClass(name)

	switch o.Limit {
	case LimitNone, LimitAnonymous, LimitWebhook, LimitLogin, LimitMedia:
	case LimitByRole:
		if o.Public {
			return errors.New("x-limit by-role needs a caller, and the operation is public")
		}
	default:
		return fmt.Errorf("x-limit %q is not one of none, anonymous, by-role, webhook, login, media", name)
	}

	if admission, found := ext["x-admission"]; found && admission != "payments" {
		return fmt.Errorf("x-admission %v is not payments", admission)
	} else if found {
		o.Payments = true
	}

	o.RawBody, _ = ext["x-raw-body"].(bool)
	o.WithoutSecondFactor, _ = ext["x-without-second-factor"].(bool)
	o.StepUp, _ = ext["x-step-up"].(bool)

	if o.Public && (o.WithoutSecondFactor || o.StepUp) {
		return errors.New("x-without-second-factor and x-step-up are about a caller, and the operation is public")
	}

	if err := o.compileAccountCheck(ext["x-account-check"]); err != nil {
		return err
	}

	if seconds, ok := ext["x-timeout"].(float64); ok {
		o.Timeout = time.Duration(seconds * float64(time.Second))
	}

	if limit, ok := ext["x-body-limit"].(float64); ok {
		o.BodyLimit = int(limit)
	}

	if o.RawBody && o.BodyLimit > unaskedBodyLimit {
		return fmt.Errorf("x-raw-body needs an x-body-limit of at most %d: the signature is over the body", unaskedBodyLimit)
	}

	return nil
}

// compileAccountCheck allows the handler to look up the account where nothing depends on it before: every role may call the operation,
// and it changes nothing.
func (o *Operation) compileAccountCheck(value any) error {
	switch {
	case value == nil:
		return nil
	case value != "handler":
		return fmt.Errorf("x-account-check %v is not handler", value)
	case o.Public || len(o.roles) > 0 || o.Method != http.MethodGet:
		return errors.New("x-account-check: handler is for a GET that every signed-in role may call")
	}

	o.AccountByHandler = true

	return nil
}

func (o *Operation) compileRoles(value any) error {
	names, _ := value.([]any)
	if len(names) == 0 {
		return errors.New("x-roles is missing: say [public], [authenticated] or name the roles")
	}

	for _, n := range names {
		name, _ := n.(string)

		switch {
		case name == "public" && len(names) == 1:
			o.Public = true
		case name == "authenticated" && len(names) == 1:
		case slices.Contains(models.Roles(), models.Role(name)):
			o.roles = append(o.roles, models.Role(name))
		default:
			return fmt.Errorf("x-roles: %v is not a role", n)
		}
	}

	return nil
}

// checkRolesMatchSecurity keeps what the document tells clients (security) and what is enforced (x-roles) the same.
func (o *Operation) checkRolesMatchSecurity(doc *openapi3.T, source *openapi3.Operation) error {
	security := doc.Security
	if source.Security != nil {
		security = *source.Security
	}

	bearer := slices.ContainsFunc(security, func(r openapi3.SecurityRequirement) bool {
		_, ok := r["bearerAuth"]

		return ok
	})
	if bearer == o.Public {
		return errors.New("security and x-roles disagree on whether a token is needed")
	}

	return nil
}

func (o *Operation) compileParameter(p *openapi3.Parameter) error {
	if p.Schema == nil || p.Schema.Value == nil {
		return fmt.Errorf("parameter %s has no schema", p.Name)
	}

	compiled := parameter{
		name: p.Name, required: p.Required, schema: p.Schema.Value, clean: cleaned[ParameterOf(p.Name, p.Schema.Value)],
	}

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
		o.Idempotent = o.Idempotent || p.Name == IdempotencyHeader
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

// compileMerge finds what a merge patch leads to.
func (o *Operation) compileMerge(item *openapi3.PathItem) error {
	if o.Method != http.MethodPatch {
		return nil
	}

	if o.body != nil && !o.body.merges() {
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

// WritesProvider reports whether the operation changes what belongs to a provider company.
func (o *Operation) WritesProvider() bool {
	return o.Method != http.MethodGet && slices.ContainsFunc(o.roles, models.Role.IsProvider)
}

// Pages reports whether the answer is a page of a list, whose size the request may say.
func (o *Operation) Pages() bool {
	return slices.ContainsFunc(o.query, func(p parameter) bool { return p.name == "per_page" })
}

// Allows reports whether a role may call the operation.
func (o *Operation) Allows(role models.Role) bool {
	return len(o.roles) == 0 || slices.Contains(o.roles, role)
}

// paymentMethod is the name of the property of a body that says how a payment is made.
const paymentMethod = "payment_method"

// namesMethod reports whether the operation's body names a payment method.
func (o *Operation) namesMethod() bool {
	if o.body == nil || o.body.schemas["application/json"] == nil {
		return false
	}

	return slices.Contains(o.body.schemas["application/json"].Required, paymentMethod)
}

// MethodOf is the payment method that a validated body names.
func MethodOf(valid any) models.PaymentMethod {
	body, _ := valid.(map[string]any)
	method, _ := body[paymentMethod].(string)

	return models.PaymentMethod(method)
}

// hasBody reports whether requests of this operation may carry a body that matters.
func (o *Operation) hasBody() bool { return o.body != nil && o.Method != http.MethodGet }

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// fiberPath writes a path template as Fiber and the code generator do: {id} becomes :id.
func fiberPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}
