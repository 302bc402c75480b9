package operations

import (
	"context"

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

	queued, err := o.Store.Accounts.SendLink(ctx, actor(ctx), u.ID, models.TokenVerifyEmail)
	if queued {
		o.mailQueued(ctx)
	}

	return gen.SendVerification202Response{}, err
}

// VerifyEmail takes the token of that mail.
func (o *Operations) VerifyEmail(ctx context.Context, r gen.VerifyEmailRequestObject) (gen.VerifyEmailResponseObject, error) {
	return gen.VerifyEmail204Response{}, o.Store.Accounts.VerifyEmail(ctx, actor(ctx), auth.HashRefreshToken(r.Body.Token))
}

// ForgotPassword sends a link to the owner of an address. Whether there is an account shows neither in the answer nor in its time: the
// work is done after it. When there is too much of it the answer waits for a place, for any address. Error: SERVICE_UNAVAILABLE.
func (o *Operations) ForgotPassword(ctx context.Context, r gen.ForgotPasswordRequestObject) (gen.ForgotPasswordResponseObject, error) {
	by, email := actor(ctx), r.Body.Email

	select {
	case o.resets <- struct{}{}:
	case <-ctx.Done():
		return nil, models.Errorf(models.CodeServiceUnavailable, "Too many ask for a new password now. Try again.")
	}

	go func() {
		defer func() { <-o.resets }()

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

// ResetPassword takes the token of a mail for a forgotten password, or of an invitation.
func (o *Operations) ResetPassword(ctx context.Context, r gen.ResetPasswordRequestObject) (gen.ResetPasswordResponseObject, error) {
	if auth.IsCommonPassword(r.Body.Password) {
		return nil, commonPassword("password")
	}

	hash, err := o.Passwords.Hash(ctx, r.Body.Password)
	if err != nil {
		return nil, err
	}

	return gen.ResetPassword204Response{}, o.Store.Accounts.ResetPassword(ctx, actor(ctx), auth.HashRefreshToken(r.Body.Token), hash)
}
