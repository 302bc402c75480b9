package operations

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/internal/store/accounts"
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

	address, err := o.beginSignOn(ctx, r.Params.ReturnTo, uuid.Nil)
	if err != nil {
		return nil, err
	}

	return gen.StartSingleSignOn303Response{Headers: gen.StartSingleSignOn303ResponseHeaders{Location: address}}, nil
}

// StepUpBySignOn has the owner of a session that the identity provider has signed in sign in there anew (rules: identity.step-up).
func (o *Operations) StepUpBySignOn(ctx context.Context, r gen.StepUpBySignOnRequestObject) (gen.StepUpBySignOnResponseObject, error) {
	if o.SignOn == nil {
		return nil, models.NotFound()
	}

	caller := middleware.Principal(ctx)

	factor, _, err := o.Store.Accounts.SteppedUp(ctx, caller.UserID, caller.SessionID)

	switch {
	case err != nil:
		return nil, sessionOver(err)
	case factor != models.FactorIssuer:
		return nil, models.NewError(models.CodeInvalidState, "sign_on.no_second_factor")
	}

	address, err := o.beginSignOn(ctx, r.Body.ReturnTo, caller.SessionID)
	if err != nil {
		return nil, err
	}

	return gen.StepUpBySignOn200JSONResponse{Data: gen.SignOnAddress{Location: address}}, nil
}

func (o *Operations) beginSignOn(ctx context.Context, returnTo *string, session uuid.UUID) (string, error) {
	to := consolePath
	if returnTo != nil {
		to = *returnTo
	}

	attempt, address, err := o.SignOn.Begin(ctx, to, session)
	if err != nil {
		return "", err
	}

	if old := middleware.RefreshCookie(ctx); old != "" && !attempt.IsStepUp() {
		attempt.Replaces = auth.HashRefreshToken(old)
	}

	return address, middleware.KeepSignOn(ctx, attempt)
}

// FinishSingleSignOn opens a session by cookie for the browser that comes back, or steps one up. What went wrong is for the page to say:
// the browser has no other.
func (o *Operations) FinishSingleSignOn(
	ctx context.Context, r gen.FinishSingleSignOnRequestObject,
) (gen.FinishSingleSignOnResponseObject, error) {
	if o.SignOn == nil {
		return nil, models.NotFound()
	}

	attempt, ok := middleware.TakeSignOn(ctx, valueOf(r.Params.State))

	if !ok {
		return finished(signOnFailed(attempt, models.CodeInvalidState)), nil // this browser waits for no answer of the provider
	}

	to, err := o.finishSingleSignOn(ctx, attempt, r.Params)
	if err != nil {
		code := models.CodeOf(err)
		if code == models.CodeInternal {
			return nil, err
		}

		to = signOnFailed(attempt, code)
	}

	return finished(to), nil
}

func finished(to string) gen.FinishSingleSignOn303Response {
	return gen.FinishSingleSignOn303Response{Headers: gen.FinishSingleSignOn303ResponseHeaders{Location: to}}
}

// signOnFailed is where a browser goes whose sign-on has failed. One that was to step a session up keeps that session, and its page.
func signOnFailed(a auth.SignOnAttempt, code models.Code) string {
	if page, err := url.Parse(a.ReturnTo); err == nil && a.IsStepUp() {
		query := page.Query()
		query.Set("step_up_error", string(code))
		page.RawQuery = query.Encode()

		return page.String()
	}

	return consolePath + "/sign-in?error=" + url.QueryEscape(string(code))
}

func (o *Operations) finishSingleSignOn(ctx context.Context, a auth.SignOnAttempt, p gen.FinishSingleSignOnParams) (string, error) {
	if p.Error != nil || p.Code == nil {
		return "", o.signOnRefused(ctx, nil, o.SignOn.Refused(valueOf(p.Error)))
	}

	who, err := o.SignOn.Finish(ctx, a, *p.Code)
	if err != nil {
		return "", o.signOnRefused(ctx, nil, err)
	}

	u, err := o.Store.Accounts.UserByEmail(ctx, who.Email)

	switch {
	case err != nil && models.CodeOf(err) != models.CodeNotFound:
		return "", err
	case err != nil:
		return "", o.signOnRefused(ctx, nil, auth.NewSignOnError(models.CodeForbidden, "sign_on.no_account"))
	case !o.SignOn.Allows(u.Role):
		return "", o.signOnRefused(ctx, &u, auth.NewSignOnError(models.CodeForbidden, "sign_on.role"))
	case u.LockedAt != nil:
		return "", o.signOnRefused(ctx, &u, auth.NewSignOnError(models.CodeForbidden, "sign_on.locked"))
	case a.IsStepUp():
		if _, err = o.Store.Accounts.StepUpBySignOn(ctx, u, a.Session, from(ctx), who.At); models.CodeOf(err) == models.CodeInvalidState {
			err = o.signOnRefused(ctx, &u, auth.NewSignOnError(models.CodeInvalidState, "sign_on.session_over"))
		}

		return a.ReturnTo, err
	default:
		return o.openSignedOn(ctx, a, &u, who)
	}
}

// openSignedOn opens the session of an owner whom the identity provider has seen, or asks for a code first.
func (o *Operations) openSignedOn(ctx context.Context, a auth.SignOnAttempt, u *models.User, who auth.SignedOn) (string, error) {
	factor := models.SecondFactor("")

	switch {
	case who.SecondFactor:
		factor = models.SecondFactorIssuer
	case u.SecondFactorAt != nil:
		return o.askForCode(ctx, u)
	}

	plain, token := o.newRefreshToken()

	session, err := o.Store.Accounts.SignOn(ctx, *u, accounts.Opening{
		Token: token, From: from(ctx), SecondFactor: factor, ProvedAt: who.At,
	})
	if err != nil {
		return "", o.signOnRefused(ctx, u, err)
	}

	if len(a.Replaces) > 0 {
		if err := o.Store.Accounts.RevokeRefreshToken(ctx, a.Replaces); err != nil {
			return "", err
		}
	}

	middleware.UseCookies(ctx)

	_, err = o.tokens(ctx, u, &session, plain)

	return a.ReturnTo, err
}

// signOnRefused notes in the log and in the audit log why a sign-on has failed. u is nil when it is not known whose it was.
func (o *Operations) signOnRefused(ctx context.Context, u *models.User, refusal error) error {
	reason := models.Verbatim(string(models.CodeOf(refusal)))
	if why, ok := errors.AsType[*auth.SignOnError](refusal); ok {
		reason = why.Reason
	} else if models.CodeOf(refusal) == models.CodeInternal {
		return refusal
	}

	o.Log.WarnContext(ctx, "single sign-on failed", "request_id", middleware.RequestID(ctx), "reason", reason.String())

	// An account's are bounded by what its owner does at the provider. Those of strangers are not, and one line of each kind tells enough.
	if u == nil && !o.signOnNotes.due(reason.String(), o.Now()) {
		return refusal
	}

	if err := o.Store.Accounts.SignOnRefused(ctx, u, from(ctx), reason); err != nil {
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

// signOnNoteEvery is how often the audit log of one process has the same reason of sign-ons whose account is not known.
const signOnNoteEvery = time.Minute

// signOnNotes are when each reason was noted last. Reasons are a few constants and the codes of OAuth 2.0. The zero value is ready.
type signOnNotes struct {
	mu    sync.Mutex
	noted map[string]time.Time
}

// maxSignOnReasons bounds them all the same: a provider writes its codes.
const maxSignOnReasons = 100

func (n *signOnNotes) due(reason string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()

	at, known := n.noted[reason]
	if known && now.Sub(at) < signOnNoteEvery {
		return false
	}

	if n.noted == nil || !known && len(n.noted) >= maxSignOnReasons {
		n.noted = map[string]time.Time{}
	}

	n.noted[reason] = now

	return true
}
