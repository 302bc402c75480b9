package models

import "slices"

// Cause tells errors of one code apart, where a person has to do something else about each. It chooses the words of `ui_message`;
// empty: those of the code.
type Cause string

// The causes of 401, and of STEP_UP_REQUIRED.
const (
	CauseNoToken      Cause = "NO_TOKEN"
	CauseTokenInvalid Cause = "TOKEN_INVALID"
	CauseTokenExpired Cause = "TOKEN_EXPIRED"
	CauseTokenRevoked Cause = "TOKEN_REVOKED"
	CauseAccountGone  Cause = "ACCOUNT_GONE"
	CauseSessionOver  Cause = "SESSION_OVER"

	CauseWrongPassword   Cause = "WRONG_PASSWORD"
	CauseWrongCode       Cause = "WRONG_CODE"
	CauseNoChallenge     Cause = "NO_CHALLENGE"
	CauseAccountChanged  Cause = "ACCOUNT_CHANGED"
	CauseRefreshToken    Cause = "REFRESH_TOKEN"
	CauseStepUpByCode    Cause = "STEP_UP_BY_CODE"
	CauseStepUpBySignOn  Cause = "STEP_UP_BY_SIGN_ON"
	CauseStepUpByNewAuth Cause = "STEP_UP_BY_NEW_TOKEN"
)

// causes are the code and the English sentence for developers of each.
var causes = map[Cause]struct {
	code    Code
	message string
}{
	CauseNoToken:      {CodeUnauthenticated, "A valid access token is required."},
	CauseTokenInvalid: {CodeUnauthenticated, "The access token is invalid."},
	CauseTokenExpired: {CodeUnauthenticated, "The access token has expired."},
	CauseTokenRevoked: {CodeUnauthenticated, "The access token has been revoked."},
	CauseAccountGone:  {CodeUnauthenticated, "The account does not exist any more."},
	CauseSessionOver:  {CodeUnauthenticated, "The session has ended."},

	CauseWrongPassword:  {CodeInvalidCredentials, "The email or the password is wrong."},
	CauseWrongCode:      {CodeInvalidCredentials, "The code is wrong, or was used before."},
	CauseNoChallenge:    {CodeInvalidCredentials, "The log-in does not wait for a code any more. Log in again."},
	CauseAccountChanged: {CodeInvalidCredentials, "The account has just been changed. Log in again."},
	CauseRefreshToken:   {CodeInvalidCredentials, "The refresh token is not valid."},

	CauseStepUpByCode:   {CodeStepUpRequired, "Type a code first: POST /api/v1/auth/step-up."},
	CauseStepUpBySignOn: {CodeStepUpRequired, "Sign in at the identity provider once more first: POST /api/v1/auth/oidc/step-up."},
	CauseStepUpByNewAuth: {
		CodeStepUpRequired, "The user has to sign in at the issuer of the token once more: auth_time is missing or too old.",
	},
}

// Causes are all causes, sorted.
func Causes() []Cause {
	out := make([]Cause, 0, len(causes))
	for c := range causes {
		out = append(out, c)
	}

	slices.Sort(out)

	return out
}

// Because is the error of a cause.
func Because(c Cause) *Error {
	why := causes[c]

	return &Error{Code: why.code, Message: why.message, Cause: c}
}

// StepUpMethod is how a caller proves once more who they are; `details.method` of STEP_UP_REQUIRED.
type StepUpMethod string

// The methods.
const (
	StepUpByCode   StepUpMethod = "CODE"
	StepUpBySignOn StepUpMethod = "SIGN_ON"
	// StepUpByNewToken is for tokens of another issuer: the client asks it for one of a new sign-in.
	StepUpByNewToken StepUpMethod = "NEW_TOKEN"
)

// StepUpBy says that the caller has to prove once more who they are, and how.
func StepUpBy(m StepUpMethod) *Error {
	cause := map[StepUpMethod]Cause{
		StepUpByCode: CauseStepUpByCode, StepUpBySignOn: CauseStepUpBySignOn, StepUpByNewToken: CauseStepUpByNewAuth,
	}[m]

	err := Because(cause)
	err.Details = map[string][]string{"method": {string(m)}}

	return err
}
