package middleware

import (
	"context"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/auth"
	"rihla/models"
)

// run is contract §1's order of checks: 413 → 401 → 429 → 403 → 400/415/422 → 404, then the handler. What a caller
// learns from an early answer never depends on a later check.
func (c *Chain) run(f *fiber.Ctx, op *operation) error {
	r := requestOf(f.UserContext())
	form, timeout := op.formOf(f), op.timeout

	op.deprecated.announce(f)

	body, err := op.takeBody(f, form)
	if err != nil {
		c.limits.unidentified(f, op, r)

		return err
	}

	if err = c.identify(f, op, r, body); err != nil {
		c.limits.unidentified(f, op, r)

		return err
	}

	if err = c.limits.check(f, op, r); err != nil {
		return err
	}

	if form != nil {
		timeout += uploadTime
	}

	ctx, cancel := context.WithTimeout(f.UserContext(), timeout)
	f.SetUserContext(ctx)

	defer func() {
		// A streamed answer is written after this function: its reader keeps the deadline and ends with it.
		if !f.Response().IsBodyStream() {
			cancel()
		}
	}()

	if err = c.authorize(ctx, op, r.principal); err != nil {
		return err
	}

	valid, err := op.validate(f, form, body)
	if err != nil {
		return err
	}

	if form != nil {
		if r.upload, err = form.open(f); err != nil {
			return err
		}
		defer r.upload.close(f)
	}

	if op.merge != nil {
		r.merge = &mergePatch{patch: valid, target: op.merge}
	}

	if key := f.Get(idempotencyHeader); op.idempotent && key != "" {
		return c.once(f, op, strings.ToLower(key), valid)
	}

	return f.Next()
}

// takeBody reads the body, up to its limit. A form is left on the connection for the handler: only the length that it
// says it has is looked at, so that nobody who may not upload fills the memory. One that does not say it is cut off at
// the limit while it is read.
func (o *operation) takeBody(f *fiber.Ctx, form *formRule) ([]byte, error) {
	if form == nil {
		return readBody(f, o.bodyLimit)
	}

	if f.Request().Header.ContentLength() > form.limit {
		return nil, tooLarge(form.limit)
	}

	return nil, nil
}

// authorize is what depends on the caller alone: the role, and for staff the state of their provider company.
func (c *Chain) authorize(ctx context.Context, op *operation, p auth.Principal) error {
	switch {
	case op.public:
		return nil
	case !op.allows(p.Role):
		return errNotAllowed()
	case op.writesProvider() && p.Role.IsProvider() && c.mayWrite != nil:
		return c.mayWrite(ctx, p)
	default:
		return nil
	}
}

// identify finds out who is calling: a user by a token, a gateway by its signature. Errors: UNAUTHENTICATED,
// INVALID_SIGNATURE.
func (c *Chain) identify(f *fiber.Ctx, op *operation, r *request, body []byte) error {
	switch {
	case op.rawBody:
		return c.verify(f, op, body)
	case op.public:
		return nil
	default:
		return c.authenticate(f, r)
	}
}

// verify wants each header of the signature exactly once, and a signature that is the gateway's.
func (c *Chain) verify(f *fiber.Ctx, op *operation, body []byte) error {
	h := http.Header{}

	for i := range op.headers {
		name := op.headers[i].name

		values := f.Request().Header.PeekAll(name)
		if len(values) != 1 || len(values[0]) == 0 {
			return models.Errorf(models.CodeInvalidSignature, "The webhook signature is not valid.")
		}

		h.Set(name, string(values[0]))
	}

	if c.signed == nil {
		return nil
	}

	return c.signed(op.path, h, body)
}

const bearerPrefix = "bearer "

// authenticate puts the caller into the request, or returns UNAUTHENTICATED.
func (c *Chain) authenticate(f *fiber.Ctx, r *request) error {
	header := f.Get(fiber.HeaderAuthorization)
	if len(header) <= len(bearerPrefix) || !strings.EqualFold(header[:len(bearerPrefix)], bearerPrefix) {
		return unauthenticated(f, models.Errorf(models.CodeUnauthenticated, "A valid access token is required."))
	}

	token := strings.TrimSpace(header[len(bearerPrefix):])

	principal, err := c.auth.Verify(f.UserContext(), token)
	if err != nil {
		return unauthenticated(f, err)
	}

	r.principal = principal
	r.standing = func(ctx context.Context) error {
		_, err := c.auth.Verify(ctx, token)

		return err
	}

	return nil
}

// unauthenticated adds the challenge that RFC 9110 wants with a 401.
func unauthenticated(f *fiber.Ctx, err error) error {
	if models.CodeOf(err) == models.CodeUnauthenticated {
		f.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}

	return err
}
