package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"rihla/internal/config"
	"rihla/models"
)

// Paths at which the chain reads more of a request than elsewhere. SignOnCallback is where an identity provider sends browsers back to.
const (
	SignOnCallback = "/api/v1/auth/oidc/callback"
	SignOnStart    = "/api/v1/auth/oidc/start"
	SignOnStepUp   = "/api/v1/auth/oidc/step-up"
	// VerifyEmailPath is that of an operation without a token, which looks at one all the same.
	VerifyEmailPath = "/api/v1/auth/verify-email"
)

// signOnSkew is by how much the clock of an identity provider may be off.
const signOnSkew = time.Minute

// SignOn logs people in at an identity provider (OpenID Connect, authorization code with PKCE). It is safe for concurrent use.
type SignOn struct {
	settings config.OIDC
	callback string
	log      *slog.Logger
	provider *provider
}

// NewSignOn is the identity provider of the settings, nil without one. One that is away delays nothing: it is asked again by
// the next log-in.
func NewSignOn(ctx context.Context, settings config.OIDC, publicURL string, log *slog.Logger) (*SignOn, error) {
	if settings.Issuer == "" {
		return nil, nil //nolint:nilnil // there is none
	}

	if publicURL == "" {
		return nil, errors.New("OIDC_ISSUER needs PUBLIC_URL, to which browsers come back")
	}

	s := &SignOn{
		settings: settings, callback: strings.TrimRight(publicURL, "/") + SignOnCallback, log: log, provider: newProvider(settings.Issuer),
	}

	if _, err := s.provider.discover(ctx); err != nil {
		log.WarnContext(ctx, "identity provider does not answer; it is asked again when somebody logs in", "error", err)
	}

	return s, nil
}

func (s *SignOn) client(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.settings.ClientID, ClientSecret: s.settings.ClientSecret.Reveal(), Endpoint: p.Endpoint(), RedirectURL: s.callback,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// SignOnAttempt is one log-in at an identity provider, which the browser keeps until it comes back.
type SignOnAttempt struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	ReturnTo string    `json:"r"`
	Began    time.Time `json:"t"`
	// Session is the one that the sign-in steps up; uuid.Nil: it opens one.
	Session uuid.UUID `json:"u,omitzero"`
	// Replaces is the hash of the refresh token of the session that the browser had before, which ends then.
	Replaces []byte `json:"o,omitempty"`
}

// IsStepUp reports whether the sign-in is for a session that is open.
func (a *SignOnAttempt) IsStepUp() bool { return a.Session != uuid.Nil }

// Begin is a new attempt, and where the browser goes with it. One that steps a session up has its owner sign in anew, whatever the
// provider remembers. Error: SERVICE_UNAVAILABLE.
func (s *SignOn) Begin(ctx context.Context, returnTo string, session uuid.UUID) (SignOnAttempt, string, error) {
	provider, err := s.provider.discover(ctx)
	if err != nil {
		return SignOnAttempt{}, "", s.unavailable(ctx, err)
	}

	state, _ := NewRefreshToken()
	nonce, _ := NewRefreshToken()
	a := SignOnAttempt{
		State: state, Nonce: nonce, Verifier: oauth2.GenerateVerifier(), ReturnTo: returnTo, Began: s.provider.now(), Session: session,
	}

	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if a.IsStepUp() {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"),
			oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(models.StepUpFor/time.Second))))
	}

	return a, s.client(provider).AuthCodeURL(a.State, options...), nil
}

// SignedOn is who an identity provider says has logged in.
type SignedOn struct {
	Email        string
	SecondFactor bool
	// At is when they have proved who they are; zero when the provider does not say. Never later than now.
	At time.Time
}

// Finish exchanges the code that the browser came back with. Errors: a *SignOnError, which is INVALID_CREDENTIALS, when the provider does
// not vouch for a verified address; SERVICE_UNAVAILABLE.
func (s *SignOn) Finish(ctx context.Context, a SignOnAttempt, code string) (SignedOn, error) {
	provider, err := s.provider.discover(ctx)
	if err != nil {
		return SignedOn{}, s.unavailable(ctx, err)
	}

	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, s.provider.calls), signOnTimeout)
	defer cancel()

	token, err := s.client(provider).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode != "" {
			return SignedOn{}, signOnError("sign_on.token_endpoint", "code", plainCode(refused.ErrorCode))
		}

		return SignedOn{}, s.unavailable(ctx, errors.New("exchange code: no answer"))
	}

	said, err := s.identify(ctx, provider, token, a.Nonce)
	if err != nil {
		return SignedOn{}, err
	}

	now := s.provider.now()
	who := SignedOn{Email: said.Email, SecondFactor: SaysSecondFactor(said.Methods, said.Class), At: said.At.Time}

	switch {
	case said.Email == "":
		return SignedOn{}, signOnError("sign_on.no_email")
	case said.Verified == nil:
		return SignedOn{}, signOnError("sign_on.no_email_verified")
	case !bool(*said.Verified):
		return SignedOn{}, signOnError("sign_on.email_unverified")
	case who.At.After(now.Add(signOnSkew)):
		return SignedOn{}, signOnError("sign_on.auth_time_future")
	case who.At.After(now):
		who.At = now
	}

	if !a.IsStepUp() {
		return who, nil
	}

	// prompt and max_age are asked for; whether the provider has kept to them only these claims tell.
	switch {
	case who.At.IsZero():
		return SignedOn{}, signOnError("sign_on.no_auth_time")
	case now.Sub(who.At) >= models.StepUpFor:
		return SignedOn{}, signOnError("sign_on.auth_time_old")
	case !who.SecondFactor:
		return SignedOn{}, signOnError("sign_on.no_factor_claim")
	default:
		return who, nil
	}
}

// identify checks the ID token, and asks UserInfo for what it leaves open (OpenID Connect Core §5.4). Error: a *SignOnError.
func (s *SignOn) identify(ctx context.Context, p *oidc.Provider, token *oauth2.Token, nonce string) (*signOnClaims, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, signOnError("sign_on.no_id_token")
	}

	settings := &oidc.Config{ClientID: s.settings.ClientID}

	id, err := p.Verifier(settings).Verify(ctx, raw)
	if err != nil {
		// The provider may sign otherwise since its description was read.
		if now, ok := s.provider.renew(ctx); ok {
			p = now
			id, err = p.Verifier(settings).Verify(ctx, raw)
		}
	}

	switch {
	case err != nil:
		return nil, signOnError(tokenFault(err))
	case id.Nonce != nonce:
		return nil, signOnError("sign_on.id_token_nonce")
	}

	var said signOnClaims
	if err := id.Claims(&said); err != nil {
		return nil, signOnError("sign_on.id_token_claims")
	}

	if said.complete() || p.UserInfoEndpoint() == "" {
		return &said, nil
	}

	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err == nil {
		var more *signOnClaims
		if more, err = readClaims(info, id.Subject); err == nil {
			said.add(more)

			return &said, nil
		}
	}

	if said.Email == "" || said.Verified == nil {
		return nil, signOnError("sign_on.user_info_incomplete")
	}

	return &said, nil // without a second factor
}

// tokenFault is what is wrong with an ID token, without its contents.
func tokenFault(err error) models.Key {
	_, expired := errors.AsType[*oidc.TokenExpiredError](err)
	has := func(part string) bool { return strings.Contains(err.Error(), part) }

	switch {
	case expired:
		return "sign_on.id_token_expired"
	case has("unexpected signature algorithm"):
		return "sign_on.id_token_algorithm"
	case has("issued by a different provider"):
		return "sign_on.id_token_issuer"
	case has("expected audience"):
		return "sign_on.id_token_audience"
	case has("fetching keys"):
		return "sign_on.id_token_keys"
	case has("signature"):
		return "sign_on.id_token_signature"
	default:
		return "sign_on.id_token_malformed"
	}
}

// plainCode is an error code of OAuth 2.0, of which other text could be anything.
func plainCode(code string) string {
	const longest = 64

	plain := func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }
	if len(code) > longest || strings.ContainsFunc(code, plain) {
		return "other"
	}

	return code
}

// Refused is the error of a browser that comes back with one.
func (s *SignOn) Refused(code string) error {
	return signOnError("sign_on.authorization_endpoint", "code", plainCode(code))
}

// Allows reports whether accounts of the role may log in by it.
func (s *SignOn) Allows(role models.Role) bool { return slices.Contains(s.settings.Roles, role) }

func (s *SignOn) unavailable(ctx context.Context, err error) error {
	s.log.WarnContext(ctx, "identity provider does not answer", "error", err)

	return models.NewError(models.CodeServiceUnavailable, "sign_on.unavailable")
}

// SignOnError says why a sign-on has failed, for the log and the audit log: no address, no secret, nothing that a stranger has written.
type SignOnError struct {
	Reason models.Text

	domain *models.Error
}

// Error implements error.
func (e *SignOnError) Error() string { return e.domain.Error() + " (" + e.Reason.String() + ")" }

// Unwrap returns the domain error.
func (e *SignOnError) Unwrap() error { return e.domain }

func signOnError(reason models.Key, args ...any) error {
	return newSignOnError(models.CodeInvalidCredentials, models.TextOf(reason, args...))
}

// NewSignOnError is a failed sign-on with the code that its page shows.
func NewSignOnError(code models.Code, reason models.Key) error {
	return newSignOnError(code, models.TextOf(reason))
}

func newSignOnError(code models.Code, reason models.Text) error {
	return &SignOnError{Reason: reason, domain: models.NewError(code, "sign_on.failed")}
}

// SignOnName is a short name of an attempt, by its state.
func SignOnName(state string) string {
	sum := sha256.Sum256([]byte(state))

	const bytes = 6

	return base64.RawURLEncoding.EncodeToString(sum[:bytes])
}
