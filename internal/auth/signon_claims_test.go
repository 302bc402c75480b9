package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

// issuer is an identity provider whose answers the test chooses.
type issuer struct {
	url string

	mu         sync.Mutex
	method     jwt.SigningMethod
	key        crypto.Signer
	announced  string // the algorithm of its description
	claims     jwt.MapClaims
	info       map[string]any // of UserInfo; nil: it fails
	tokenError string
	described  int
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	p := &issuer{method: jwt.SigningMethodRS256, key: key, announced: "RS256"}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL

	return p
}

func (p *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()

	w.Header().Set("Content-Type", "application/json")

	answer := map[string]any{}

	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.described++
		answer = map[string]any{
			"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token", "jwks_uri": p.url + "/keys",
			"userinfo_endpoint": p.url + "/userinfo", "id_token_signing_alg_values_supported": []string{p.announced},
		}
	case "/keys":
		k, _ := jwkset.NewJWKFromKey(p.key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: p.announced, USE: jwkset.UseSig}})
		answer = map[string]any{"keys": []any{k.Marshal()}}
	case "/token":
		if p.tokenError != "" {
			w.WriteHeader(http.StatusUnauthorized)
			answer = map[string]any{"error": p.tokenError, "error_description": "client_secret of nobody@example.com"}

			break
		}

		token := jwt.NewWithClaims(p.method, p.claims)
		token.Header["kid"] = p.announced
		signed, _ := token.SignedString(p.key)
		answer = map[string]any{"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": signed}
	case "/userinfo":
		if p.info == nil {
			w.WriteHeader(http.StatusInternalServerError)

			break
		}

		answer = p.info
	}

	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

// signOn is one way through the provider; claims are added to those that every ID token has, nil takes one away.
func (p *issuer) signOn(t *testing.T, s *SignOn, session uuid.UUID, claims, info map[string]any) (SignedOn, error) {
	t.Helper()

	a, address, err := s.Begin(t.Context(), "/console", session)
	require.NoError(t, err)

	u, err := url.Parse(address)
	require.NoError(t, err)

	if session != uuid.Nil {
		require.Equal(t, "login", u.Query().Get("prompt"))
		require.Equal(t, "600", u.Query().Get("max_age"))
	} else {
		require.Empty(t, u.Query().Get("prompt"))
	}

	p.mu.Lock()
	p.claims = jwt.MapClaims{
		"iss": p.url, "aud": "rihla", "sub": "u1", "exp": time.Now().Add(time.Minute).Unix(), "nonce": a.Nonce,
		"email": "one@rihla.test", "email_verified": true,
	}
	maps.Copy(p.claims, claims)
	maps.DeleteFunc(p.claims, func(_ string, v any) bool { return v == nil })
	p.info = info
	p.mu.Unlock()

	return s.Finish(t.Context(), a, "code")
}

func newTestSignOn(p *issuer) *SignOn {
	return &SignOn{settings: config.OIDC{Issuer: p.url, ClientID: "rihla"}, log: slog.New(slog.DiscardHandler), provider: newProvider(p.url)}
}

type claimsOf = map[string]any

// TestSignOnClaims: the same claim means the same in the ID token and in UserInfo, however it is written.
func TestSignOnClaims(t *testing.T) {
	t.Parallel()

	p := newIssuer(t)
	s := newTestSignOn(p)
	lacks := claimsOf{"email": nil, "email_verified": nil, "amr": nil}

	for name, c := range map[string]struct {
		token, info claimsOf
		two         bool   // factors were seen
		refused     string // why
	}{
		"verified":                          {},
		"verified as text":                  {token: claimsOf{"email_verified": "true"}},
		"unverified":                        {token: claimsOf{"email_verified": false}, refused: "email_verified is false"},
		"unverified as text":                {token: claimsOf{"email_verified": "false"}, refused: "email_verified is false"},
		"verified by UserInfo":              {token: claimsOf{"email_verified": nil}, info: claimsOf{"sub": "u1", "email": "One@rihla.test", "email_verified": true}},
		"verified by UserInfo, as text":     {token: claimsOf{"email_verified": nil}, info: claimsOf{"sub": "u1", "email": "one@rihla.test", "email_verified": "true"}},
		"another address in UserInfo":       {token: claimsOf{"email_verified": nil}, info: claimsOf{"sub": "u1", "email": "two@rihla.test", "email_verified": true}, refused: "no email_verified claim"},
		"UserInfo of somebody else":         {token: claimsOf{"email_verified": nil}, info: claimsOf{"sub": "u2", "email": "one@rihla.test", "email_verified": true}, refused: "UserInfo does not say who has logged in"},
		"UserInfo does not overrule":        {token: claimsOf{"email_verified": false}, info: claimsOf{"sub": "u1", "email": "one@rihla.test", "email_verified": true}, refused: "email_verified is false"},
		"all by UserInfo":                   {token: lacks, info: claimsOf{"sub": "u1", "email": "one@rihla.test", "email_verified": "true", "amr": "mfa"}, two: true},
		"nobody vouches":                    {token: claimsOf{"email_verified": nil}, info: claimsOf{"sub": "u1", "email": "one@rihla.test"}, refused: "no email_verified claim"},
		"no address":                        {token: lacks, info: claimsOf{"sub": "u1"}, refused: "no email claim"},
		"UserInfo fails":                    {token: claimsOf{"email_verified": nil}, refused: "UserInfo does not say who has logged in"},
		"UserInfo fails, nothing is needed": {token: claimsOf{}},
		"amr as a list":                     {token: claimsOf{"amr": []string{"pwd", "otp"}}, two: true},
		"amr as a text":                     {token: claimsOf{"amr": "mfa"}, two: true},
		"amr as a text of several":          {token: claimsOf{"amr": "pwd otp"}, two: true},
		"amr of one factor":                 {token: claimsOf{"amr": "pwd"}},
		"amr by UserInfo":                   {info: claimsOf{"sub": "u1", "amr": []string{"mfa"}}, two: true},
		"amr is not added to":               {token: claimsOf{"amr": "pwd"}, info: claimsOf{"sub": "u1", "amr": "mfa"}},
		"acr by UserInfo":                   {info: claimsOf{"sub": "u1", "acr": "aal2"}, two: true},
		"a claim of another type":           {token: claimsOf{"email_verified": 7}, refused: "ID token: claims of an unexpected type"},
		"another nonce":                     {token: claimsOf{"nonce": "x"}, refused: "ID token: nonce of another attempt"},
		"another client":                    {token: claimsOf{"aud": "y"}, refused: "ID token: for another client"},
		"another issuer":                    {token: claimsOf{"iss": "https://evil.example"}, refused: "ID token: of another issuer"},
		"expired":                           {token: claimsOf{"exp": 1}, refused: "ID token: expired"},
	} {
		who, err := p.signOn(t, s, uuid.Nil, c.token, c.info)

		if c.refused != "" {
			why, ok := errors.AsType[*SignOnError](err)
			require.True(t, ok, "%s: %v", name, err)
			require.Equal(t, c.refused, why.Reason.String(), name)
			require.Equal(t, models.CodeInvalidCredentials, models.CodeOf(err), name)

			continue
		}

		require.NoError(t, err, name)
		require.Equal(t, "one@rihla.test", who.Email, name)
		require.Equal(t, c.two, who.SecondFactor, name)
	}
}

// TestSignOnStepUp: what counts is when the provider has seen its second factor, not that it was asked to.
func TestSignOnStepUp(t *testing.T) {
	t.Parallel()

	p := newIssuer(t)
	s := newTestSignOn(p)
	now := time.Now()
	ago := func(d time.Duration) int64 { return now.Add(-d).Unix() }

	for name, c := range map[string]struct {
		claims  claimsOf
		refused string
		age     time.Duration
	}{
		"just now":                  {claims: claimsOf{"amr": []string{"mfa"}, "auth_time": ago(0)}},
		"as text":                   {claims: claimsOf{"amr": "mfa", "auth_time": jsonNumber(ago(5 * time.Second))}, age: 5 * time.Second},
		"by acr":                    {claims: claimsOf{"acr": "aal2", "auth_time": ago(9 * time.Minute)}, age: 9 * time.Minute},
		"the provider's clock":      {claims: claimsOf{"amr": "mfa", "auth_time": ago(-30 * time.Second)}},
		"the provider did not care": {claims: claimsOf{"amr": "mfa", "auth_time": ago(11 * time.Hour)}, refused: "auth_time is too old for a step-up"},
		"not said when":             {claims: claimsOf{"amr": "mfa"}, refused: "no auth_time claim for a step-up"},
		"one factor":                {claims: claimsOf{"amr": "pwd", "auth_time": ago(0)}, refused: "no second factor in amr or acr for a step-up"},
		"in the future":             {claims: claimsOf{"amr": "mfa", "auth_time": ago(-time.Hour)}, refused: "auth_time is in the future"},
	} {
		who, err := p.signOn(t, s, uuid.New(), c.claims, nil)

		if c.refused != "" {
			why, ok := errors.AsType[*SignOnError](err)
			require.True(t, ok, "%s: %v", name, err)
			require.Equal(t, c.refused, why.Reason.String(), name)

			continue
		}

		require.NoError(t, err, name)
		require.WithinDuration(t, now.Add(-c.age), who.At, 10*time.Second, name)
		require.False(t, who.At.After(time.Now()), name)
	}

	// A log-in says when, too, and needs to say nothing.
	who, err := p.signOn(t, s, uuid.Nil, claimsOf{"amr": "mfa", "auth_time": ago(11 * time.Hour)}, nil)
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(-11*time.Hour), who.At, 10*time.Second)
}

func jsonNumber(n int64) string {
	return strconv.FormatInt(n, 10)
}

// TestSignOnReasons: what the provider's token endpoint says is an OAuth 2.0 code or nothing.
func TestSignOnReasons(t *testing.T) {
	t.Parallel()

	p := newIssuer(t)
	s := newTestSignOn(p)

	for said, want := range map[string]string{
		"invalid_client": "token endpoint: invalid_client", "invalid_grant": "token endpoint: invalid_grant",
		"no account of nobody@example.com": "token endpoint: other",
	} {
		p.mu.Lock()
		p.tokenError = said
		p.mu.Unlock()

		_, err := p.signOn(t, s, uuid.Nil, nil, nil)
		why, ok := errors.AsType[*SignOnError](err)
		require.True(t, ok)
		require.Equal(t, want, why.Reason.String())
		require.NotContains(t, err.Error(), "example.com")
	}

	why, _ := errors.AsType[*SignOnError](s.Refused("access_denied"))
	require.Equal(t, "authorization endpoint: access_denied", why.Reason.String())
}

// TestSignOnFollowsItsIssuer: an issuer that signs with another algorithm is believed without a restart, once it says so.
func TestSignOnFollowsItsIssuer(t *testing.T) {
	t.Parallel()

	p := newIssuer(t)
	s := newTestSignOn(p)

	var (
		mu    sync.Mutex
		later time.Duration
	)

	s.provider.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()

		return time.Now().Add(later)
	}

	_, err := p.signOn(t, s, uuid.Nil, nil, nil)
	require.NoError(t, err)

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)

	p.mu.Lock()
	p.method, p.key = jwt.SigningMethodES256, key
	p.mu.Unlock()

	_, err = p.signOn(t, s, uuid.Nil, nil, nil)
	why, _ := errors.AsType[*SignOnError](err)
	require.Equal(t, "ID token: signed with an algorithm that the issuer does not announce", why.Reason.String())

	p.mu.Lock()
	p.announced = "ES256"
	p.mu.Unlock()
	mu.Lock()
	later = signOnRecent
	mu.Unlock()

	_, err = p.signOn(t, s, uuid.Nil, nil, nil)
	require.NoError(t, err)

	p.mu.Lock()
	require.Equal(t, 2, p.described)
	p.mu.Unlock()

	// And an old description is read again beside the log-in that finds it old.
	mu.Lock()
	later += signOnRefresh
	mu.Unlock()

	_, err = p.signOn(t, s, uuid.Nil, nil, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()

		return p.described == 3
	}, 10*time.Second, 5*time.Millisecond)
}
