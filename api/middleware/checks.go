package middleware

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"rihla/api/admission"
	"rihla/api/contract"
	"rihla/internal/auth"
	"rihla/models"
)

// run makes the checks in their order: 413 → 401 → 429 → 403 → 400/415/422 → 404 of an id that is none → 503 of a payment that has no
// place, then the handler. The contents of an early answer never depend on a later check, and a caller without an account any more
// hears 401 in place of every answer but 413 and that 503, which is given before the account is read. Before the caller is known to
// be allowed to send a body, only its declared length is looked at; a body that declares none is cut off at the limit while it is
// read. The signature of a webhook is over its body, which is therefore small.
func (c *Chain) run(f *fiber.Ctx, op *contract.Operation) error {
	ctx := f.UserContext()
	r := requestOf(ctx)

	err := c.settleAccount(ctx, f, op, r, c.check(f, op, r))
	r.writeCookies(f)

	return err
}

func (c *Chain) check(f *fiber.Ctx, op *contract.Operation, r *request) error {
	if r.cookies.asked && crossSite(f) {
		return errCrossSite()
	}

	form := op.FormOf(f)

	op.Deprecated.Announce(f)

	body, err := op.CheckLength(f, form)
	if err != nil {
		c.deps.Limits.Unidentified(f, op, r.ip)

		return err
	}

	if op.RawBody && asksToContinue(f) { // what proves the message is in its body
		return goOn(f)
	}

	if err = c.identify(f, op, r, body); err != nil {
		c.deps.Limits.Unidentified(f, op, r.ip)

		return err
	}

	if err = c.count(f, op, r); err != nil {
		return err
	}

	if r.account != nil {
		r.account.counted = true
	}

	if err = c.admit(f, op, r.principal); err != nil {
		return err
	}

	if asksToContinue(f) {
		return goOn(f)
	}

	if form == nil && !op.RawBody {
		if body, err = contract.ReadBody(f, op.BodyLimit); err != nil {
			return err
		}
	}

	return c.handle(f, op, form, body)
}

// count counts the request once. Error: RATE_LIMITED.
func (c *Chain) count(f *fiber.Ctx, op *contract.Operation, r *request) error {
	if countedBefore(f) {
		return nil
	}

	return c.deps.Limits.Check(f, op, r.ip, r.principal, r.webhook.Channel)
}

// handle validates the request and has it handled, both before its deadline.
func (c *Chain) handle(f *fiber.Ctx, op *contract.Operation, form *contract.Form, body []byte) error {
	timeout := op.Timeout
	if form != nil {
		timeout += contract.UploadTime
	}

	ctx, cancel := context.WithTimeout(f.UserContext(), timeout)
	f.SetUserContext(ctx)

	defer func() {
		// A streamed answer is written after this function: its reader keeps the deadline and ends with it.
		if !f.Response().IsBodyStream() {
			cancel()
		}
	}()

	valid, err := op.Validate(f, form, body)
	if err != nil {
		return err
	}

	if form != nil {
		upload, err := form.Open(f)
		if err != nil {
			return err
		}
		defer upload.Close(f)

		ctx = contract.WithUpload(ctx, upload)
	}

	f.SetUserContext(contract.WithPatch(ctx, op, valid))

	if op.Payments {
		permit, err := c.place(ctx, contract.MethodOf(valid))
		if err != nil {
			return err
		}
		defer permit.Release()
	}

	return c.countPeople(f, op, func() error {
		if key := f.Get(contract.IdempotencyHeader); op.Idempotent && key != "" {
			return c.once(f, op, strings.ToLower(key), valid)
		}

		return f.Next()
	})
}

// place takes one for a payment by the method, which has to be released, and then asks for the caller's account. Errors:
// SERVICE_UNAVAILABLE when there is none; UNAUTHENTICATED.
func (c *Chain) place(ctx context.Context, method models.PaymentMethod) (*admission.Permit, error) {
	r := requestOf(ctx)

	permit, ok := c.deps.Admission.Admit(ctx, method)
	if !ok {
		if r.account != nil {
			r.account.overloaded = true
		}

		return nil, overloaded(c.deps.Admission.After())
	}

	defer func() {
		if r.permit == nil { // an error, or a panic
			permit.Release()
		}
	}()

	if err := c.askAccount(ctx, r); err != nil {
		return nil, err
	}

	r.permit = permit

	return permit, nil
}

// admit asks, within the time of a request, whether the caller may call the operation at all.
func (c *Chain) admit(f *fiber.Ctx, op *contract.Operation, p auth.Principal) error {
	ctx, cancel := context.WithTimeout(f.UserContext(), op.Timeout)
	defer cancel()

	return c.authorize(ctx, op, p)
}

// authorize is what depends on the caller alone: the role, and for staff the state of their provider company.
func (c *Chain) authorize(ctx context.Context, op *contract.Operation, p auth.Principal) error {
	switch {
	case op.Public:
		return nil
	case !op.Allows(p.Role):
		return errNotAllowed()
	case p.MustEnrol && !op.WithoutSecondFactor:
		return auth.ErrSecondFactorNeeded()
	}

	if op.WritesProvider() && p.Role.IsProvider() && c.deps.MayWrite != nil {
		if err := c.deps.MayWrite(ctx, p); err != nil {
			return err
		}
	}

	if !op.StepUp || c.deps.SteppedUp == nil {
		return nil
	}

	p.MustEnrol = false // what is left here is open to accounts that must enrol, and asks for a proof where there is a factor

	return c.deps.SteppedUp(ctx, p)
}

// identify finds out who is calling: a user by a token, a gateway by its signature. Errors: UNAUTHENTICATED,
// INVALID_SIGNATURE.
func (c *Chain) identify(f *fiber.Ctx, op *contract.Operation, r *request, body []byte) error {
	switch {
	case op.RawBody:
		return c.verify(f, op, r, body)
	case op.Public:
		return nil
	default:
		return c.authenticate(f, op, r)
	}
}

// authenticate puts the caller into the request, or returns UNAUTHENTICATED.
func (c *Chain) authenticate(f *fiber.Ctx, op *contract.Operation, r *request) (err error) {
	token, err := tokenOf(f, r)
	if err != nil {
		return unauthenticated(f, err)
	}

	if by, ok := c.deps.Auth.(halfAuthenticator); ok && (op.AccountByHandler || op.Payments && !c.suspects.have(token)) {
		r.principal, err = identifyOnly(f.UserContext(), by, r, token)
	} else {
		r.principal, err = c.deps.Auth.Verify(f.UserContext(), token)
	}

	if err != nil {
		return unauthenticated(f, err)
	}

	r.status = func(ctx context.Context) error {
		p, err := c.deps.Auth.Verify(ctx, token)
		if err == nil && p.MustEnrol && !op.WithoutSecondFactor {
			err = auth.ErrSecondFactorNeeded()
		}

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
