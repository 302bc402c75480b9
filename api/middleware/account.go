package middleware

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"rihla/api/contract"
	"rihla/internal/auth"
	"rihla/models"
)

// An operation with `x-account-check: handler` reads its caller's account by the statement that reads what is asked for, instead of by
// one of its own before it. The chain then only checks the token itself, and the handler brings the account by JudgeAccount. Nothing
// leaves the chain without that verdict (settleAccount), and no other refusal comes before it: 401 stays in front of 429, 422 and 404.
//
// An operation with `x-admission` has its account read by the chain, once the payment has a place: what is refused because there is too
// much to do must not wait for the database itself. That one answer, which is the same for everybody, leaves without a verdict.

// halfAuthenticator is an Authenticator that can be asked for the two halves of Verify.
type halfAuthenticator interface {
	Identify(ctx context.Context, token string) (auth.Principal, error)
	Judge(p auth.Principal, now auth.AccountStatus, err error) error
}

// accountCheck is the check of a request's account that its handler has to bring.
type accountCheck struct {
	token   string
	judge   func(now auth.AccountStatus, err error) error
	judged  bool
	verdict error
	// counted is set when the request was counted against the account.
	counted bool
	// overloaded is set when the request was refused because there is no place for it.
	overloaded bool
}

// JudgeAccount says whether the caller may be answered, by how the account stands now and the error of reading that: NOT_FOUND for one
// that does not exist any more. A handler of an operation with `x-account-check: handler` calls it before it looks at anything else
// that it has read, and returns its error; on any other operation the account was checked before. Errors: UNAUTHENTICATED; err.
func JudgeAccount(ctx context.Context, now auth.AccountStatus, err error) error {
	check := requestOf(ctx).account
	if check == nil {
		return nil
	}

	check.judged, check.verdict = true, check.judge(now, err)

	return check.verdict
}

// identifyOnly checks the token of a request whose account the handler looks up. Error: UNAUTHENTICATED.
func identifyOnly(ctx context.Context, by halfAuthenticator, r *request, token string) (auth.Principal, error) {
	p, err := by.Identify(ctx, token)
	if err != nil {
		return auth.Principal{}, err
	}

	r.account = &accountCheck{
		token: token,
		judge: func(now auth.AccountStatus, err error) error { return by.Judge(p, now, err) },
	}

	return p, nil
}

var errAccountNotJudged = errors.New("the handler has answered without judging its caller's account")

// askAccount looks up the account of a request that has been let in before it. Errors: UNAUTHENTICATED, SERVICE_UNAVAILABLE.
func (c *Chain) askAccount(ctx context.Context, r *request) error {
	if r.account == nil {
		return nil
	}

	r.account.judged, r.account.verdict = true, r.status(ctx)
	if models.CodeOf(r.account.verdict) == models.CodeUnauthenticated {
		c.suspects.add(r.account.token)
	}

	return r.account.verdict
}

// comesFirst reports whether a refusal is one that a caller hears before that of an account without a second factor.
func comesFirst(err error) bool {
	switch models.CodeOf(err) {
	case models.CodePayloadTooLarge, models.CodeRateLimited, models.CodeForbidden:
		return true
	default:
		return false
	}
}

// settleAccount is the last word on a request whose account its handler had to judge. A handler that has not judged it cannot answer,
// and of an error that came before it the account is looked up now. ctx is without the operation's deadline.
func (c *Chain) settleAccount(ctx context.Context, f *fiber.Ctx, op *contract.Operation, r *request, err error) error {
	check := r.account

	switch {
	case check == nil, check.overloaded:
		return err
	case check.judged && check.verdict == nil:
		return err
	case check.judged:
		err = check.verdict
	case err == nil:
		err = errAccountNotJudged
	default:
		refused := r.status(ctx)
		if refused == nil || models.CodeOf(refused) == models.CodeSecondFactorNeeded && comesFirst(err) {
			return err
		}

		err = refused
	}

	f.Response().ResetBody() // whatever was made for a caller who is not let in

	if models.CodeOf(err) != models.CodeUnauthenticated {
		return err
	}

	if check.counted {
		c.deps.Limits.TakeBack(f, op, r.principal)
	}

	c.deps.Limits.Unidentified(f, op, r.ip)

	r.principal = auth.Principal{}

	return unauthenticated(f, err)
}
