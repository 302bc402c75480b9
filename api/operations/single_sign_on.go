package operations

import (
	"context"
	"net/url"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/models"
)

// consolePath is where single sign-on ends unless the browser asks for a page.
const consolePath = "/console"

// GetSingleSignOn tells whether there is an identity provider.
func (o *Operations) GetSingleSignOn(context.Context, gen.GetSingleSignOnRequestObject) (gen.GetSingleSignOnResponseObject, error) {
	return gen.GetSingleSignOn200JSONResponse{Data: gen.SingleSignOn{Enabled: o.SignOn != nil}}, nil
}

// StartSingleSignOn sends the browser to the identity provider (rules: identity.single-sign-on).
func (o *Operations) StartSingleSignOn(
	ctx context.Context, r gen.StartSingleSignOnRequestObject,
) (gen.StartSingleSignOnResponseObject, error) {
	if o.SignOn == nil {
		return nil, models.NotFound()
	}

	to := consolePath
	if r.Params.ReturnTo != nil {
		to = *r.Params.ReturnTo
	}

	attempt, address, err := o.SignOn.Begin(ctx, to)
	if err != nil {
		return nil, err
	}

	if err := middleware.KeepSignOn(ctx, attempt); err != nil {
		return nil, err
	}

	return gen.StartSingleSignOn303Response{Headers: gen.StartSingleSignOn303ResponseHeaders{Location: address}}, nil
}

// FinishSingleSignOn opens a session by cookie for the browser that comes back. What went wrong is for the page to say: the browser has
// no other.
func (o *Operations) FinishSingleSignOn(
	ctx context.Context, r gen.FinishSingleSignOnRequestObject,
) (gen.FinishSingleSignOnResponseObject, error) {
	if o.SignOn == nil {
		return nil, models.NotFound()
	}

	to, err := o.finishSingleSignOn(ctx, r.Params)
	if err != nil {
		code := models.CodeOf(err)
		if code == models.CodeInternal {
			return nil, err
		}

		to = consolePath + "/sign-in?error=" + url.QueryEscape(string(code))
	}

	return gen.FinishSingleSignOn303Response{Headers: gen.FinishSingleSignOn303ResponseHeaders{Location: to}}, nil
}

func (o *Operations) finishSingleSignOn(ctx context.Context, p gen.FinishSingleSignOnParams) (string, error) {
	attempt, ok := middleware.TakeSignOn(ctx)
	if !ok || p.State == nil || *p.State != attempt.State {
		return "", models.Errorf(models.CodeInvalidState, "This browser waits for no answer of the identity provider.")
	}

	if p.Error != nil || p.Code == nil {
		return "", models.Errorf(models.CodeInvalidCredentials, "The identity provider has refused.")
	}

	who, err := o.SignOn.Finish(ctx, attempt, *p.Code)
	if err != nil {
		return "", err
	}

	u, err := o.Store.Accounts.UserByEmail(ctx, who.Email)

	switch {
	case err != nil && models.CodeOf(err) != models.CodeNotFound:
		return "", err
	case err != nil:
		return "", errNoSignOn()
	case !o.SignOn.Allows(u.Role) || u.LockedAt != nil:
		return "", o.signOnRefused(ctx, &u, errNoSignOn())
	}

	factor := models.SecondFactor("")

	switch {
	case who.SecondFactor:
		factor = models.SecondFactorIssuer
	case u.SecondFactorAt != nil:
		return o.askForCode(ctx, &u)
	}

	plain, token := o.newRefreshToken()

	session, err := o.Store.Accounts.SignOn(ctx, u, from(ctx), token, factor)
	if err != nil {
		return "", o.signOnRefused(ctx, &u, err)
	}

	middleware.UseCookies(ctx)

	_, err = o.tokens(ctx, &u, &session, plain)

	return attempt.ReturnTo, err
}

func errNoSignOn() error {
	return models.Errorf(models.CodeForbidden, "There is no account that may log in this way.")
}

// signOnRefused notes a refusal of an account that exists, which only its owner at the identity provider can cause.
func (o *Operations) signOnRefused(ctx context.Context, u *models.User, refusal error) error {
	if models.CodeOf(refusal) == models.CodeInternal {
		return refusal
	}

	if err := o.Store.Accounts.SignOnRefused(ctx, u, from(ctx)); err != nil {
		return err
	}

	return refusal
}

// askForCode sends the browser to the page that asks for a code of the account's own second factor. The token stands behind the #, which
// browsers send to no server.
func (o *Operations) askForCode(ctx context.Context, u *models.User) (string, error) {
	plain, hash := auth.NewRefreshToken()

	return consolePath + "/sign-in#mfa_token=" + plain, o.Store.Accounts.ChallengeSignOn(ctx, u, hash)
}
