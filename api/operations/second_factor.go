package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/internal/store/accounts"
	"rihla/models"
)

// LoginTOTP ends a log-in whose password was right by a code. A wrong code is a failed log-in: codes are guessed no faster than passwords.
func (o *Operations) LoginTOTP(ctx context.Context, r gen.LoginTOTPRequestObject) (gen.LoginTOTPResponseObject, error) {
	challenge := auth.HashRefreshToken(r.Body.MfaToken)

	u, err := o.Store.Accounts.ChallengedUser(ctx, challenge)
	if err != nil {
		return nil, err
	}

	try, err := o.beginCode(ctx, &u)
	if err != nil {
		return nil, err
	}

	plain, token := o.newRefreshToken()

	session, err := o.Store.Accounts.AnswerChallenge(ctx, challenge, try, o.code(u.ID, r.Body.Code), token)
	if err != nil {
		return nil, o.codeFailed(ctx, try, err)
	}

	o.Logins.LoggedIn(ctx, u.Email, try.From.Network)

	if err := o.endCookieSession(ctx); err != nil {
		return nil, err
	}

	tokens, err := o.tokens(ctx, &u, &session, plain)

	return gen.LoginTOTP200JSONResponse{Data: tokens}, err
}

// StepUp has a code count for what the session does next (rules: identity.step-up).
func (o *Operations) StepUp(ctx context.Context, r gen.StepUpRequestObject) (gen.StepUpResponseObject, error) {
	u, try, err := o.ownTry(ctx)
	if err != nil {
		return nil, err
	}

	session, err := o.Store.Accounts.StepUp(ctx, middleware.Principal(ctx).SessionID, try, o.code(u.ID, r.Body.Code))
	if err != nil {
		return nil, wrongCode(o.codeFailed(ctx, try, err))
	}

	o.Logins.LoggedIn(ctx, u.Email, try.From.Network)

	return gen.StepUp200JSONResponse{Data: gen.StepUp{SteppedUpUntil: utc(valueOf(session.SteppedUpUntil(o.Now())))}}, nil
}

// ownTry begins a try of a code of the caller's second factor in the caller's session. Errors: INVALID_STATE, RATE_LIMITED.
func (o *Operations) ownTry(ctx context.Context) (models.User, *accounts.LoginTry, error) {
	caller := middleware.Principal(ctx)

	u, err := o.Store.Accounts.UserByID(ctx, caller.UserID)

	switch {
	case err != nil:
		return u, nil, sessionOver(err)
	case u.SecondFactorAt == nil:
		return u, nil, models.NewError(models.CodeInvalidState, "second_factor.none")
	case caller.SessionID == uuid.Nil:
		return u, nil, models.NewError(models.CodeInvalidState, "second_factor.other_issuer")
	}

	try, err := o.beginCode(ctx, &u)

	return u, try, err
}

// beginCode counts a try of a code as one to log in.
func (o *Operations) beginCode(ctx context.Context, u *models.User) (*accounts.LoginTry, error) {
	try, err := o.begin(ctx, u.Email)
	if err != nil {
		return nil, err
	}

	if try.User.ID != u.ID { // the address has changed hands just now
		return nil, models.Because(models.CauseAccountChanged)
	}

	try.Code = true

	return try, nil
}

// codeFailed ends a try that was refused. Of any other error the try stays counted.
func (o *Operations) codeFailed(ctx context.Context, try *accounts.LoginTry, refusal error) error {
	if models.CodeOf(refusal) != models.CodeInvalidCredentials {
		return refusal
	}

	if err := o.Store.Accounts.LoginFailed(ctx, try); err != nil {
		return err
	}

	return refusal
}

// wrongCode is the refusal of a code to a caller whose token is good: what is wrong is the code that they have typed.
func wrongCode(err error) error {
	if models.CodeOf(err) == models.CodeInvalidCredentials {
		return models.Invalid("code", "account.wrong_code")
	}

	return err
}

// code is what was typed, in the store's terms.
func (o *Operations) code(account uuid.UUID, typed string) accounts.Code {
	return accounts.Code{
		Step: func(sealed []byte) (int64, []byte, error) {
			secret, again, err := o.Sealer.Open(account, sealed)
			if err != nil {
				return 0, nil, err
			}

			step, err := auth.TOTPStep(secret, typed, o.Now())

			return step, again, err
		},
		Recovery: auth.HashRecoveryCode(typed),
	}
}

// BeginSecondFactor makes a secret that is in force once it is confirmed (rules: identity.second-factor). In a session that is not new the
// password is asked for once more: one that was stolen gets no second factor of its thief's.
func (o *Operations) BeginSecondFactor(
	ctx context.Context, r gen.BeginSecondFactorRequestObject,
) (gen.BeginSecondFactorResponseObject, error) {
	u, err := o.Store.Accounts.UserByID(ctx, middleware.Principal(ctx).UserID)
	if err != nil {
		return nil, sessionOver(err)
	}

	if err := o.proveOwner(ctx, &u, r.Body); err != nil {
		return nil, err
	}

	made, err := auth.NewTOTP(u.Email)
	if err != nil {
		return nil, err
	}

	if err := o.Store.Accounts.BeginSecondFactor(ctx, u.ID, o.Sealer.Seal(u.ID, made.Secret)); err != nil {
		return nil, err
	}

	return gen.BeginSecondFactor200JSONResponse{
		Data: gen.NewSecondFactor{Secret: made.Secret, OtpauthURI: made.URI, QrCode: made.QRCode},
	}, nil
}

// proveOwner asks for the password, unless it was typed for this session a moment ago. Errors: VALIDATION_ERROR, those of a log-in.
func (o *Operations) proveOwner(ctx context.Context, u *models.User, proof *gen.PasswordProof) error {
	if proof == nil || proof.Password == nil {
		id := middleware.Principal(ctx).SessionID
		if id == uuid.Nil { // the token of another issuer: no password was typed for it here
			return models.Invalid("password", "field.required")
		}

		session, err := o.Store.Accounts.Session(ctx, u.ID, id)
		if err != nil {
			return sessionOver(err)
		}

		if o.Now().Sub(session.CreatedAt) > models.StepUpFor {
			return models.Invalid("password", "field.required")
		}

		return nil
	}

	try, err := o.prove(ctx, u.Email, *proof.Password)
	if err != nil {
		return err
	}

	if try == nil || try.User.ID != u.ID {
		return models.Invalid("password", "account.wrong_password")
	}

	if err := o.Store.Accounts.PasswordProved(ctx, try); err != nil {
		return err
	}

	o.Logins.LoggedIn(ctx, u.Email, try.From.Network)

	return nil
}

// ConfirmSecondFactor puts a second factor in force by its first code.
func (o *Operations) ConfirmSecondFactor(
	ctx context.Context, r gen.ConfirmSecondFactorRequestObject,
) (gen.ConfirmSecondFactorResponseObject, error) {
	caller := middleware.Principal(ctx)

	u, err := o.Store.Accounts.UserByID(ctx, caller.UserID)
	if err != nil {
		return nil, sessionOver(err)
	}

	try, err := o.beginCode(ctx, &u)
	if err != nil {
		return nil, err
	}

	codes, hashes := auth.NewRecoveryCodes()

	err = o.Store.Accounts.ConfirmSecondFactor(ctx, actor(ctx), caller.SessionID, try, o.code(u.ID, r.Body.Code), hashes)
	if err != nil {
		return nil, wrongCode(o.codeFailed(ctx, try, err))
	}

	o.Logins.LoggedIn(ctx, u.Email, try.From.Network)

	return gen.ConfirmSecondFactor200JSONResponse{Data: gen.RecoveryCodes{RecoveryCodes: codes}}, nil
}

// RemoveSecondFactor takes the caller's own second factor away; the chain has seen a code before.
func (o *Operations) RemoveSecondFactor(
	ctx context.Context, _ gen.RemoveSecondFactorRequestObject,
) (gen.RemoveSecondFactorResponseObject, error) {
	caller := middleware.Principal(ctx)

	return gen.RemoveSecondFactor204Response{}, o.Store.Accounts.RemoveSecondFactor(ctx, actor(ctx), caller.UserID, caller.SessionID)
}

// SteppedUp refuses a caller who has a second factor, of their own or at the identity provider, and has not proved it in the session
// lately; and one without any whose role needs one. Errors: STEP_UP_REQUIRED, with how it is proved; SECOND_FACTOR_NEEDED.
func (o *Operations) SteppedUp(ctx context.Context, caller auth.Principal) error {
	if caller.MustEnrol {
		return auth.ErrSecondFactorNeeded()
	}

	if caller.External && caller.IssuerFactor { // there is no session: the token itself is of a sign-in
		if o.Now().Sub(caller.AuthenticatedAt) < models.StepUpFor {
			return nil
		}

		return models.StepUpBy(models.StepUpByNewToken)
	}

	factor, lately, err := o.Store.Accounts.SteppedUp(ctx, caller.UserID, caller.SessionID)

	switch {
	case err != nil:
		return sessionOver(err)
	case lately || factor == models.FactorNone:
		return nil
	case factor == models.FactorIssuer:
		return models.StepUpBy(models.StepUpBySignOn)
	default:
		return models.StepUpBy(models.StepUpByCode)
	}
}

// atMost is the amount above which the caller has to type a code before ordering, approving or paying out a refund, what they have done
// of the kind within an hour included; nil when they have, or need none. What it comes to is known only under the locks of the store
// (rules: identity.step-up).
func (o *Operations) atMost(ctx context.Context) (*models.Money, error) {
	if o.StepUpAbove.IsZero() {
		return nil, nil //nolint:nilnil // there is no bound
	}

	switch err := o.SteppedUp(ctx, middleware.Principal(ctx)); {
	case err == nil:
		return nil, nil //nolint:nilnil // there is no bound
	case models.CodeOf(err) == models.CodeStepUpRequired:
		return &o.StepUpAbove, nil
	default:
		return nil, err
	}
}
