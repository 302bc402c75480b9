package operations

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/internal/store/accounts"
	"rihla/models"
)

// Register opens an END_USER account.
func (o *Operations) Register(ctx context.Context, r gen.RegisterRequestObject) (gen.RegisterResponseObject, error) {
	if auth.IsCommonPassword(r.Body.Password) {
		return nil, commonPassword("password")
	}

	if err := o.mayRegister(ctx); err != nil {
		return nil, err
	}

	hash, err := o.Passwords.HashOfStranger(ctx, r.Body.Password)
	if err != nil {
		return nil, err
	}

	u, mailed, err := o.Store.Accounts.Register(ctx, actor(ctx), models.User{
		ID: models.NewID(), Name: r.Body.Name, Email: r.Body.Email, Phone: r.Body.Phone,
		PasswordHash: hash, Role: models.RoleEndUser, Locale: middleware.Locale(ctx),
	})
	if mailed { // to the owner of an address that has an account, too
		o.mailQueued(ctx)
	}

	if err != nil {
		return nil, err
	}

	return gen.Register201JSONResponse{
		Body:    gen.UserAnswer{Data: userOf(&u)},
		Headers: gen.Register201ResponseHeaders{Location: "/api/v1/me"},
	}, nil
}

// mayRegister counts a registration of the caller's network. Error: RATE_LIMITED.
func (o *Operations) mayRegister(ctx context.Context) error {
	now := o.Now()

	ok, next, err := o.Store.Accounts.MayRegister(ctx, middleware.Network(ctx), now)
	if err != nil || ok {
		return err
	}

	return middleware.RetryAfter(models.NewError(models.CodeRateLimited, "account.too_many_from_network"), next)
}

// Login exchanges a password for tokens, or for the question for a code. An unknown account costs the same time and gives the same
// answer as a wrong password.
func (o *Operations) Login(ctx context.Context, r gen.LoginRequestObject) (gen.LoginResponseObject, error) {
	try, err := o.prove(ctx, r.Body.Email, r.Body.Password)
	if err != nil {
		return nil, err
	}

	if try == nil {
		return nil, models.Because(models.CauseWrongPassword)
	}

	if try.User.LockedAt != nil {
		if err := o.Store.Accounts.PasswordProved(ctx, try); err != nil {
			return nil, err
		}

		return nil, models.NewError(models.CodeForbidden, "account.locked_by_admin")
	}

	if try.User.SecondFactorAt != nil {
		plain, hash := auth.NewRefreshToken()
		if err := o.Store.Accounts.ChallengeLogin(ctx, try, hash); err != nil {
			return nil, err
		}

		return gen.Login200JSONResponse{Data: gen.SecondFactorNeeded{MfaRequired: true, MfaToken: plain}}, nil
	}

	plain, token := o.newRefreshToken()

	session, err := o.Store.Accounts.LogIn(ctx, try, token)
	if err != nil {
		return nil, err
	}

	o.Logins.LoggedIn(ctx, r.Body.Email, try.From.Network)

	if err := o.endCookieSession(ctx); err != nil {
		return nil, err
	}

	tokens, err := o.tokens(ctx, &try.User, &session, plain)

	return gen.Login200JSONResponse{Data: tokens}, err
}

// from is where a request comes from.
func from(ctx context.Context) accounts.LoginFrom {
	return accounts.LoginFrom{
		Network: middleware.Network(ctx), Address: middleware.Address(ctx), UserAgent: middleware.UserAgent(ctx),
		RequestID: middleware.RequestID(ctx),
	}
}

// prove checks a password under the limits of logging in. The try is nil when the password is wrong, which is counted then; else
// it waits for its end. Error: RATE_LIMITED.
func (o *Operations) prove(ctx context.Context, email, password string) (*accounts.LoginTry, error) {
	try, err := o.begin(ctx, email)
	if err != nil {
		return nil, err
	}

	ok, err := o.Passwords.Check(ctx, password, try.User.PasswordHash, try.FromKnownNetwork())
	if err != nil {
		return nil, err
	}

	if ok {
		return try, nil
	}

	return nil, o.Store.Accounts.LoginFailed(ctx, try)
}

// begin counts a try to log in. Error: RATE_LIMITED.
func (o *Operations) begin(ctx context.Context, email string) (*accounts.LoginTry, error) {
	from := from(ctx)

	if err := o.Logins.Login(ctx, email, from.Network); err != nil {
		return nil, err
	}

	now := o.Now()

	try, err := o.Store.Accounts.BeginLogin(ctx, email, from, now)
	if paused, ok := errors.AsType[*accounts.LoginPausedError](err); ok {
		return nil, o.Logins.LoginPaused(paused.Until, now)
	}

	return try, err
}

func commonPassword(field string) error {
	return models.Invalid(field, "account.common_password")
}

func (o *Operations) newRefreshToken() (string, models.RefreshToken) {
	plain, hash := auth.NewRefreshToken()

	return plain, models.RefreshToken{TokenHash: hash, ExpiresAt: o.Now().Add(o.RefreshTTL)}
}

// RefreshTokens spends a refresh token for new ones; a spent one revokes its whole family.
func (o *Operations) RefreshTokens(ctx context.Context, r gen.RefreshTokensRequestObject) (gen.RefreshTokensResponseObject, error) {
	spent, err := refreshToken(ctx, r.Body.RefreshToken)
	if err != nil {
		return nil, err
	}

	plain, next := o.newRefreshToken()

	if next.Sealed, err = auth.SealSuccessor(spent, plain); err != nil {
		return nil, err
	}

	now, err := o.Store.Accounts.RotateRefreshToken(ctx, auth.HashRefreshToken(spent), next, from(ctx), o.Now())
	if err != nil {
		if models.CodeOf(err) == models.CodeInvalidCredentials && middleware.ByCookie(ctx) {
			middleware.ClearSession(ctx)
		}

		return nil, err
	}

	if now.Again != nil {
		if plain, err = auth.OpenSuccessor(spent, now.Again); err != nil {
			return nil, err
		}
	}

	tokens, err := o.tokens(ctx, &now.User, &now.Session, plain)

	return gen.RefreshTokens200JSONResponse{Data: tokens}, err
}

// refreshToken is that of the body, or, of a session by cookie, that of the cookie. Errors: VALIDATION_ERROR, INVALID_CREDENTIALS.
func refreshToken(ctx context.Context, body *string) (string, error) {
	switch {
	case body != nil:
		return *body, nil
	case !middleware.ByCookie(ctx):
		return "", models.Invalid("refresh_token", "field.required")
	case middleware.RefreshCookie(ctx) == "":
		return "", models.Because(models.CauseRefreshToken)
	default:
		return middleware.RefreshCookie(ctx), nil
	}
}

// tokens are a session's answer, or its cookies.
func (o *Operations) tokens(ctx context.Context, u *models.User, s *models.Session, refresh string) (gen.Tokens, error) {
	access, expires, err := o.Issuer.Issue(auth.Principal{
		UserID: u.ID, Role: u.Role, ProviderID: valueOf(u.ProviderID), Generation: u.TokenGeneration,
		SessionID: s.ID, IssuerFactor: s.SecondFactor == models.SecondFactorIssuer,
	})
	out := gen.Tokens{
		AccessToken: access, TokenType: "Bearer", ExpiresIn: expires, RefreshToken: refresh, User: userOf(u), SessionID: &s.ID,
	}

	if err == nil && middleware.ByCookie(ctx) {
		middleware.SetSession(ctx, access, time.Duration(expires)*time.Second, refresh, s.ExpiresAt.Sub(o.Now()))

		out.AccessToken, out.RefreshToken, out.TokenType = "", "", "Cookie"
	}

	return out, err
}

// Logout ends the session of the refresh token. Doing it twice is fine.
func (o *Operations) Logout(ctx context.Context, r gen.LogoutRequestObject) (gen.LogoutResponseObject, error) {
	if middleware.ByCookie(ctx) {
		middleware.ClearSession(ctx)
	}

	if r.Body.RefreshToken == nil && middleware.ByCookie(ctx) {
		return gen.Logout204Response{}, o.endCookieSession(ctx)
	}

	token, err := refreshToken(ctx, r.Body.RefreshToken)
	if err != nil {
		return nil, err
	}

	return gen.Logout204Response{}, o.Store.Accounts.RevokeRefreshToken(ctx, auth.HashRefreshToken(token))
}

// endCookieSession ends the session that the browser has kept so far, by whichever of its cookies is left; without one nothing happens.
func (o *Operations) endCookieSession(ctx context.Context) error {
	if token := middleware.RefreshCookie(ctx); token != "" {
		if err := o.Store.Accounts.RevokeRefreshToken(ctx, auth.HashRefreshToken(token)); err != nil {
			return err
		}
	}

	old := middleware.CookieSession(ctx)
	if old.SessionID == uuid.Nil {
		return nil
	}

	return o.Store.Accounts.LogOut(ctx, old.UserID, old.SessionID)
}

// GetMe is the caller's own account. A token of an account that is gone is no longer good.
func (o *Operations) GetMe(ctx context.Context, _ gen.GetMeRequestObject) (gen.GetMeResponseObject, error) {
	caller := middleware.Principal(ctx)

	u, err := o.Store.Accounts.UserByID(ctx, caller.UserID)
	if err != nil {
		return nil, sessionOver(err)
	}

	out := gen.OwnAccount{
		ID: u.ID, Name: u.Name, Email: u.Email, Phone: u.Phone, Role: u.Role, ProviderID: u.ProviderID, Locale: u.Locale,
		EmailVerified: u.EmailVerifiedAt != nil, SecondFactor: u.SecondFactorAt != nil, SecondFactorNeeded: caller.MustEnrol,
	}

	seen := models.SecondFactor("")
	if caller.IssuerFactor {
		seen = models.SecondFactorIssuer
	}

	if caller.SessionID != uuid.Nil {
		session, err := o.Store.Accounts.Session(ctx, u.ID, caller.SessionID)
		if err != nil {
			return nil, sessionOver(err)
		}

		out.SteppedUpUntil, seen = utcOrNil(session.SteppedUpUntil(o.Now())), session.SecondFactor
	}

	out.Factor = models.FactorOf(u.SecondFactorAt != nil, seen)

	return gen.GetMe200JSONResponse{Data: labelled(out)}, nil
}

// ChangePassword replaces the caller's own password and ends all sessions of the account, the caller's included. Guesses
// at the current one count as logins do.
func (o *Operations) ChangePassword(ctx context.Context, r gen.ChangePasswordRequestObject) (gen.ChangePasswordResponseObject, error) {
	u, err := o.Store.Accounts.UserByID(ctx, middleware.Principal(ctx).UserID)
	if err != nil {
		return nil, sessionOver(err)
	}

	try, err := o.prove(ctx, u.Email, r.Body.CurrentPassword)
	if err != nil {
		return nil, err
	}

	if try == nil {
		return nil, models.Invalid("current_password", "account.wrong_password")
	}

	if err := o.Store.Accounts.PasswordProved(ctx, try); err != nil {
		return nil, err
	}

	o.Logins.LoggedIn(ctx, u.Email, try.From.Network)

	if r.Body.NewPassword == r.Body.CurrentPassword {
		return nil, models.Invalid("new_password", "account.same_password")
	}

	if auth.IsCommonPassword(r.Body.NewPassword) {
		return nil, commonPassword("new_password")
	}

	hash, err := o.Passwords.Hash(ctx, r.Body.NewPassword)
	if err != nil {
		return nil, err
	}

	err = o.Store.Accounts.ChangePassword(ctx, actor(ctx), u.ID, u.PasswordHash, hash)

	return gen.ChangePassword204Response{}, sessionOver(err)
}

// sessionOver turns an account that is gone, or whose password has just been changed, into the error that the next request
// of the same session gets.
func sessionOver(err error) error {
	if err != nil && models.CodeOf(err) == models.CodeNotFound {
		return models.Because(models.CauseSessionOver)
	}

	return err
}

func userOf(u *models.User) gen.User {
	return labelled(gen.User{
		ID: u.ID, Name: u.Name, Email: u.Email, Phone: u.Phone, Role: u.Role, ProviderID: u.ProviderID, Locale: u.Locale,
	})
}

// utc is a moment as the API writes it (RFC 3339 with Z; rules: dates.riyadh).
func utcOrNil(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}

	u := t.UTC()

	return &u
}
