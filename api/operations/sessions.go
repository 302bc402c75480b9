package operations

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/models"
)

// ListSessions are the caller's own (rules: identity.sessions).
func (o *Operations) ListSessions(ctx context.Context, _ gen.ListSessionsRequestObject) (gen.ListSessionsResponseObject, error) {
	caller := middleware.Principal(ctx)

	open, err := o.Store.Accounts.Sessions(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}

	return gen.ListSessions200JSONResponse{Data: mapEach(open, func(s *models.Session) gen.OpenSession {
		return gen.OpenSession{
			ID: s.ID, Current: s.ID == caller.SessionID, UserAgent: s.UserAgent, Address: s.Address, CreatedAt: utc(s.CreatedAt),
			LastUsedAt: utc(s.UsedAt), ExpiresAt: utc(s.ExpiresAt), SecondFactor: s.SecondFactor != "",
		}
	})}, nil
}

// EndSession ends one of the caller's own sessions.
func (o *Operations) EndSession(ctx context.Context, r gen.EndSessionRequestObject) (gen.EndSessionResponseObject, error) {
	caller := middleware.Principal(ctx)
	if err := o.Store.Accounts.EndSession(ctx, actor(ctx), caller.UserID, r.ID); err != nil {
		return nil, err
	}

	if r.ID == caller.SessionID && middleware.ByCookie(ctx) {
		middleware.ClearSession(ctx)
	}

	return gen.EndSession204Response{}, nil
}

// EndSessions ends all of the caller's sessions.
func (o *Operations) EndSessions(ctx context.Context, _ gen.EndSessionsRequestObject) (gen.EndSessionsResponseObject, error) {
	if err := o.Store.Accounts.EndSessions(ctx, actor(ctx), middleware.Principal(ctx).UserID); err != nil {
		return nil, sessionOver(err)
	}

	if middleware.ByCookie(ctx) {
		middleware.ClearSession(ctx)
	}

	return gen.EndSessions204Response{}, nil
}

// SendVerification sends the mail once more that verifies the caller's address.
func (o *Operations) SendVerification(
	ctx context.Context, _ gen.SendVerificationRequestObject,
) (gen.SendVerificationResponseObject, error) {
	u, err := o.Store.Accounts.UserByID(ctx, middleware.Principal(ctx).UserID)
	if err != nil {
		return nil, sessionOver(err)
	}

	if u.EmailVerifiedAt != nil {
		return gen.SendVerification202Response{}, nil
	}

	if ok, err := o.Store.Accounts.MayMailUnproved(ctx, actor(ctx), &u, models.TokenVerifyEmail); err != nil || !ok {
		return gen.SendVerification202Response{}, err
	}

	queued, err := o.Store.Accounts.SendLink(ctx, actor(ctx), u.ID, models.TokenVerifyEmail)
	if queued {
		o.mailQueued(ctx)
	}

	return gen.SendVerification202Response{}, err
}

// VerifyEmail takes the token of that mail. Who has opened the account is in a session of it or knows its password (rules:
// identity.unproven).
func (o *Operations) VerifyEmail(ctx context.Context, r gen.VerifyEmailRequestObject) (gen.VerifyEmailResponseObject, error) {
	hash := auth.HashRefreshToken(r.Body.Token)

	u, err := o.Store.Accounts.LinkUser(ctx, hash, models.TokenVerifyEmail)
	if err != nil {
		return nil, err
	}

	proved, err := o.opened(ctx, &u, r.Body.Password)
	if err != nil {
		return nil, err
	}

	taken, err := o.Store.Accounts.VerifyEmail(ctx, actor(ctx), hash, proved)
	if taken {
		o.mailQueued(ctx)
	}

	return gen.VerifyEmail204Response{}, err
}

// opened reports whether the caller of a public operation is in a session of the account, or knows its password. A caller in a session of
// another account has to say the password: who has two accounts, and the link of one in the browser of the other, would lose the first as
// a stranger's. Errors: VALIDATION_ERROR on a missing or wrong one; those of a log-in.
func (o *Operations) opened(ctx context.Context, u *models.User, password *string) (bool, error) {
	another := false

	if caller := middleware.CookieSession(ctx); caller.SessionID != uuid.Nil {
		session, err := o.Store.Accounts.Session(ctx, caller.UserID, caller.SessionID)
		live := err == nil && session.ExpiresAt.After(o.Now())

		if live && caller.UserID == u.ID {
			return true, nil
		}

		another = live
	}

	switch {
	case password == nil && another && u.EmailVerifiedAt == nil:
		return false, models.Invalid("password", "account.password_of_other_session")
	case password == nil:
		return false, nil
	}

	return true, o.proveOwner(ctx, u, &gen.PasswordProof{Password: password})
}

// ForgotPassword sends a link to the owner of an address. Whether there is an account shows neither in the answer nor in its time: the
// work is done after it. When there is too much of it the answer waits for a place, for any address. Error: SERVICE_UNAVAILABLE.
func (o *Operations) ForgotPassword(ctx context.Context, r gen.ForgotPasswordRequestObject) (gen.ForgotPasswordResponseObject, error) {
	by, email := actor(ctx), r.Body.Email

	select {
	case o.resets <- struct{}{}:
	case <-ctx.Done():
		return nil, models.NewError(models.CodeServiceUnavailable, "account.too_many_resets")
	}

	go func() {
		defer func() { <-o.resets }()

		// Not beside the answer, nor beside the next one of the same caller: what it takes would show in their times.
		time.Sleep(resetAfter + rand.N(resetAfter)) //nolint:gosec // no secret

		ctx, cancel := detached(ctx)
		defer cancel()

		queued, err := o.Store.Accounts.AskForReset(ctx, by, email)
		if err != nil {
			o.Log.WarnContext(ctx, "mail for a forgotten password not queued", "request_id", by.RequestID, "error", err)
		}

		if queued {
			o.mailQueued(ctx)
		}
	}()

	return gen.ForgotPassword202Response{}, nil
}

// FinishResets waits for the resets that were answered and are not queued yet, once no request comes any more.
func (o *Operations) FinishResets() {
	for range cap(o.resets) {
		o.resets <- struct{}{}
	}
}

// ResetPassword takes the token of a mail for a forgotten password, or of an invitation.
func (o *Operations) ResetPassword(ctx context.Context, r gen.ResetPasswordRequestObject) (gen.ResetPasswordResponseObject, error) {
	if auth.IsCommonPassword(r.Body.Password) {
		return nil, commonPassword("password")
	}

	// An invented token costs no hash.
	token := auth.HashRefreshToken(r.Body.Token)
	if _, err := o.Store.Accounts.LinkUser(ctx, token, models.TokenResetPassword, models.TokenInvitation); err != nil {
		return nil, err
	}

	hash, err := o.Passwords.Hash(ctx, r.Body.Password)
	if err != nil {
		return nil, err
	}

	return gen.ResetPassword204Response{}, o.Store.Accounts.ResetPassword(ctx, actor(ctx), token, hash)
}
