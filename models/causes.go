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

// causes are the code of each, and what it says to developers.
var causes = map[Cause]struct {
	code Code
	key  Key
}{
	CauseNoToken:      {CodeUnauthenticated, "unauthenticated.no_token"},
	CauseTokenInvalid: {CodeUnauthenticated, "unauthenticated.token_invalid"},
	CauseTokenExpired: {CodeUnauthenticated, "unauthenticated.token_expired"},
	CauseTokenRevoked: {CodeUnauthenticated, "unauthenticated.token_revoked"},
	CauseAccountGone:  {CodeUnauthenticated, "unauthenticated.account_gone"},
	CauseSessionOver:  {CodeUnauthenticated, "unauthenticated.session_over"},

	CauseWrongPassword:  {CodeInvalidCredentials, "unauthenticated.wrong_password"},
	CauseWrongCode:      {CodeInvalidCredentials, "unauthenticated.wrong_code"},
	CauseNoChallenge:    {CodeInvalidCredentials, "unauthenticated.no_challenge"},
	CauseAccountChanged: {CodeInvalidCredentials, "unauthenticated.account_changed"},
	CauseRefreshToken:   {CodeInvalidCredentials, "unauthenticated.refresh_token"},

	CauseStepUpByCode:    {CodeStepUpRequired, "step_up.by_code"},
	CauseStepUpBySignOn:  {CodeStepUpRequired, "step_up.by_sign_on"},
	CauseStepUpByNewAuth: {CodeStepUpRequired, "step_up.by_new_token"},
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

	return &Error{Code: why.code, Text: TextOf(why.key), Cause: c}
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
	err.Details = map[string][]Text{"method": {Verbatim(string(m))}}

	return err
}
