package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"rihla/internal/config"
	"rihla/models"
)

// SignOnCallback is the path to which an identity provider sends browsers back.
const SignOnCallback = "/api/v1/auth/oidc/callback"

const (
	// signOnTimeout bounds a call to an identity provider.
	signOnTimeout = 10 * time.Second
	// signOnPause is for how long a provider that was away is not asked again.
	signOnPause = time.Second
)

// SignOn logs people in at an identity provider (OpenID Connect, authorization code with PKCE). It is safe for concurrent use.
type SignOn struct {
	settings config.OIDC
	callback string
	log      *slog.Logger
	calls    *http.Client
	asking   singleflight.Group

	mu       sync.Mutex     // never held over a call
	provider *oidc.Provider // nil until the provider has answered
	away     error          // of the last call that it has not answered
	awayAt   time.Time
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
		settings: settings, callback: strings.TrimRight(publicURL, "/") + SignOnCallback, log: log,
		calls: &http.Client{Timeout: signOnTimeout},
	}

	if _, err := s.discover(ctx); err != nil {
		log.WarnContext(ctx, "identity provider does not answer; it is asked again when somebody logs in", "error", err)
	}

	return s, nil
}

// discover reads the provider's own description, once. All who want it wait for one call, and not longer than their own time.
func (s *SignOn) discover(ctx context.Context) (*oidc.Provider, error) {
	if provider, err := s.known(); provider != nil || err != nil {
		return provider, err
	}

	// Its keys are fetched for as long as the process runs.
	long := oidc.ClientContext(context.WithoutCancel(ctx), s.calls)

	found := s.asking.DoChan("", func() (any, error) {
		if provider, err := s.known(); provider != nil || err != nil {
			return provider, err
		}

		provider, err := oidc.NewProvider(long, s.settings.Issuer)

		s.mu.Lock()
		defer s.mu.Unlock()

		if err != nil {
			s.away, s.awayAt = fmt.Errorf("discover identity provider: %w", err), time.Now()

			return nil, s.away
		}

		s.provider = provider

		return provider, nil
	})

	select {
	case answer := <-found:
		provider, _ := answer.Val.(*oidc.Provider)

		return provider, answer.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("discover identity provider: %w", ctx.Err())
	}
}

// known is the provider when it has answered, and why it has not when it was asked a moment ago; else both are nil.
func (s *SignOn) known() (*oidc.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.provider == nil && s.away != nil && time.Since(s.awayAt) < signOnPause {
		return nil, s.away
	}

	return s.provider, nil
}

func (s *SignOn) client(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.settings.ClientID, ClientSecret: s.settings.ClientSecret.Reveal(), Endpoint: p.Endpoint(), RedirectURL: s.callback,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// SignOnAttempt is one log-in at an identity provider, which the browser keeps until it comes back.
type SignOnAttempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	ReturnTo string `json:"r"`
}

// Begin is a new attempt, and where the browser goes with it. Error: SERVICE_UNAVAILABLE.
func (s *SignOn) Begin(ctx context.Context, returnTo string) (SignOnAttempt, string, error) {
	provider, err := s.discover(ctx)
	if err != nil {
		return SignOnAttempt{}, "", s.unavailable(ctx, err)
	}

	state, _ := NewRefreshToken()
	nonce, _ := NewRefreshToken()
	a := SignOnAttempt{State: state, Nonce: nonce, Verifier: oauth2.GenerateVerifier(), ReturnTo: returnTo}

	return a, s.client(provider).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// SignedOn is who an identity provider says has logged in.
type SignedOn struct {
	Email        string
	SecondFactor bool
}

// Finish exchanges the code that the browser came back with. Errors: INVALID_CREDENTIALS when the provider does not vouch for a verified
// address; SERVICE_UNAVAILABLE.
func (s *SignOn) Finish(ctx context.Context, a SignOnAttempt, code string) (SignedOn, error) {
	provider, err := s.discover(ctx)
	if err != nil {
		return SignedOn{}, s.unavailable(ctx, err)
	}

	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, s.calls), signOnTimeout)
	defer cancel()

	token, err := s.client(provider).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode != "" {
			return SignedOn{}, errNotSignedOn("refused the code: " + refused.ErrorCode)
		}

		return SignedOn{}, s.unavailable(ctx, errors.New("exchange code: no answer"))
	}

	raw, _ := token.Extra("id_token").(string)

	id, err := provider.Verifier(&oidc.Config{ClientID: s.settings.ClientID}).Verify(ctx, raw)
	if err != nil || id.Nonce != a.Nonce {
		return SignedOn{}, errNotSignedOn("has given no good id token")
	}

	var said struct {
		Email    string   `json:"email"`
		Verified bool     `json:"email_verified"`
		Methods  []string `json:"amr"`
		Class    string   `json:"acr"`
	}
	if err := id.Claims(&said); err != nil {
		return SignedOn{}, errNotSignedOn("has given no good id token")
	}

	if said.Email == "" {
		// A provider that gives an access token may tell who it is for only there (OpenID Connect Core §5.4).
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil || info.Subject != id.Subject {
			return SignedOn{}, errNotSignedOn("does not say who has logged in")
		}

		said.Email, said.Verified = info.Email, info.EmailVerified
	}

	if said.Email == "" || !said.Verified {
		return SignedOn{}, errNotSignedOn("does not vouch for the e-mail address")
	}

	return SignedOn{Email: said.Email, SecondFactor: SaysSecondFactor(said.Methods, said.Class)}, nil
}

// Allows reports whether accounts of the role may log in by it.
func (s *SignOn) Allows(role models.Role) bool { return slices.Contains(s.settings.Roles, role) }

func (s *SignOn) unavailable(ctx context.Context, err error) error {
	s.log.WarnContext(ctx, "identity provider does not answer", "error", err)

	return models.Errorf(models.CodeServiceUnavailable, "The identity provider cannot be reached.")
}

func errNotSignedOn(why string) error {
	return models.Errorf(models.CodeInvalidCredentials, "The identity provider %s.", why)
}
