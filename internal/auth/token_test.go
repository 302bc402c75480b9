package auth

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

func testTokens() config.Tokens {
	return config.Tokens{
		Issuer: "rihla", Audience: "rihla-api", AccessTTL: 15 * time.Minute,
		ExternalRoles: []models.Role{models.RoleEndUser, models.RoleProviderStaff, models.RoleProviderAdmin},
	}
}

type tokenBundle struct {
	keys     *Keyring
	issuer   *Issuer
	verifier *Verifier
}

func newTokenBundle(tb testing.TB) *tokenBundle {
	tb.Helper()

	keys := newTestKeyring(tb)
	verifier, err := NewVerifier(tb.Context(), keys, testTokens(), slog.New(slog.DiscardHandler))
	require.NoError(tb, err)

	return &tokenBundle{keys: keys, issuer: NewIssuer(keys, testTokens()), verifier: verifier}
}

// validClaims are those of a token that verifies; a test spoils one of them.
func validClaims() jwt.MapClaims {
	now := time.Now()

	return jwt.MapClaims{
		"iss": "rihla", "aud": "rihla-api", "sub": uuid.NewString(), "role": "END_USER", "jti": "t1",
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}
}

func sign(tb testing.TB, method jwt.SigningMethod, key any, kid string, c jwt.Claims) string {
	tb.Helper()

	token := jwt.NewWithClaims(method, c)
	if kid != "" {
		token.Header["kid"] = kid
	}

	text, err := token.SignedString(key)
	require.NoError(tb, err)

	return text
}

func requireRefused(t *testing.T, v *Verifier, token, name string) {
	t.Helper()

	p, err := v.Verify(t.Context(), token)
	require.Equal(t, models.CodeUnauthenticated, models.CodeOf(err), name)
	require.Zero(t, p, name)
}

func TestIssueAndVerify(t *testing.T) {
	t.Parallel()

	b := newTokenBundle(t)

	for _, role := range models.Roles() {
		user, provider := uuid.New(), uuid.Nil
		if role.IsProvider() {
			provider = uuid.New()
		}

		token, expiresIn, err := b.issuer.Issue(Principal{UserID: user, Role: role, ProviderID: provider, Generation: 3})
		require.NoError(t, err)
		require.Equal(t, 900, expiresIn)

		p, err := b.verifier.Verify(t.Context(), token)
		require.NoError(t, err)
		require.NoError(t, uuid.Validate(p.TokenID))
		require.Equal(t, Principal{UserID: user, Role: role, ProviderID: provider, TokenID: p.TokenID, Generation: 3}, p)
	}

	token, _, err := b.issuer.Issue(Principal{UserID: uuid.New(), Role: models.RoleEndUser})
	require.NoError(t, err)

	head, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"alg":"EdDSA","typ":"JWT","kid":"`+b.keys.KeyID()+`"}`, string(head))
}

func TestIssueRefusesWhatVerifyWould(t *testing.T) {
	t.Parallel()

	b := newTokenBundle(t)

	for name, issue := range map[string]struct {
		user, provider uuid.UUID
		role           models.Role
	}{
		"no user":                        {role: models.RoleAdmin},
		"unknown role":                   {user: uuid.New(), role: "ROOT"},
		"provider role without provider": {user: uuid.New(), role: models.RoleProviderStaff},
		"provider of somebody else":      {user: uuid.New(), role: models.RoleAdmin, provider: uuid.New()},
	} {
		_, _, err := b.issuer.Issue(Principal{UserID: issue.user, Role: issue.role, ProviderID: issue.provider})
		require.Error(t, err, name)
	}
}

func TestVerifyRefusesSpoiledClaims(t *testing.T) {
	t.Parallel()

	b := newTokenBundle(t)
	_, err := b.verifier.Verify(t.Context(), sign(t, jwt.SigningMethodEdDSA, b.keys.signing, b.keys.kid, validClaims()))
	require.NoError(t, err)

	past := time.Now().Add(-time.Second).Unix()

	for name, spoil := range map[string]func(jwt.MapClaims){
		"other issuer":       func(c jwt.MapClaims) { c["iss"] = "somebody" },
		"no issuer":          func(c jwt.MapClaims) { delete(c, "iss") },
		"other audience":     func(c jwt.MapClaims) { c["aud"] = []string{"other-api"} },
		"no audience":        func(c jwt.MapClaims) { delete(c, "aud") },
		"expired":            func(c jwt.MapClaims) { c["exp"] = past },
		"no expiry":          func(c jwt.MapClaims) { delete(c, "exp") },
		"not yet":            func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(time.Hour).Unix() },
		"subject not an id":  func(c jwt.MapClaims) { c["sub"] = "alice" },
		"zero subject":       func(c jwt.MapClaims) { c["sub"] = uuid.Nil.String() },
		"no subject":         func(c jwt.MapClaims) { delete(c, "sub") },
		"unknown role":       func(c jwt.MapClaims) { c["role"] = "ROOT" },
		"lower case role":    func(c jwt.MapClaims) { c["role"] = "admin" },
		"no role":            func(c jwt.MapClaims) { delete(c, "role") },
		"role is a list":     func(c jwt.MapClaims) { c["role"] = []string{"ADMIN"} },
		"staff of nobody":    func(c jwt.MapClaims) { c["role"] = "PROVIDER_STAFF" },
		"provider not an id": func(c jwt.MapClaims) { c["role"] = "PROVIDER_STAFF"; c["provider_id"] = "x" },
		"customer as staff":  func(c jwt.MapClaims) { c["provider_id"] = uuid.NewString() },
	} {
		c := validClaims()
		spoil(c)
		requireRefused(t, b.verifier, sign(t, jwt.SigningMethodEdDSA, b.keys.signing, b.keys.kid, c), name)
	}

	c := validClaims()
	c["exp"] = past
	_, err = b.verifier.Verify(t.Context(), sign(t, jwt.SigningMethodEdDSA, b.keys.signing, b.keys.kid, c))
	require.EqualError(t, err, "UNAUTHENTICATED: The access token has expired.")
}

func TestVerifyRefusesForgedSignatures(t *testing.T) {
	t.Parallel()

	b, stranger := newTokenBundle(t), newTestKeyring(t)
	good := sign(t, jwt.SigningMethodEdDSA, b.keys.signing, b.keys.kid, validClaims())
	parts := strings.Split(good, ".")
	public := []byte(b.keys.public[b.keys.kid])

	other, err := json.Marshal(validClaims())
	require.NoError(t, err)

	critical := jwt.NewWithClaims(jwt.SigningMethodEdDSA, validClaims())
	critical.Header["kid"], critical.Header["crit"] = b.keys.kid, []string{"b64"}
	criticalText, err := critical.SignedString(b.keys.signing)
	require.NoError(t, err)

	for name, token := range map[string]string{
		"alg none":                     sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, b.keys.kid, validClaims()),
		"HS256 keyed with public key":  sign(t, jwt.SigningMethodHS256, public, b.keys.kid, validClaims()),
		"HS256 keyed with key set":     sign(t, jwt.SigningMethodHS256, b.keys.JWKS(), b.keys.kid, validClaims()),
		"stranger's key and kid":       sign(t, jwt.SigningMethodEdDSA, stranger.signing, stranger.kid, validClaims()),
		"stranger's key under our kid": sign(t, jwt.SigningMethodEdDSA, stranger.signing, b.keys.kid, validClaims()),
		"no kid":                       sign(t, jwt.SigningMethodEdDSA, b.keys.signing, "", validClaims()),
		"critical extension":           criticalText,
		"other claims":                 parts[0] + "." + base64.RawURLEncoding.EncodeToString(other) + "." + parts[2],
		"no signature":                 parts[0] + "." + parts[1] + ".",
		"cut signature":                good[:len(good)-4],
		"two parts":                    parts[0] + "." + parts[1],
		"padded":                       good + "==",
		"empty":                        "", "dots": "..", "long": good + strings.Repeat("A", maxTokenBytes),
	} {
		requireRefused(t, b.verifier, token, name)
	}

	for i := range parts[2] { // every character of the signature counts
		flipped := []byte(good)
		at := len(parts[0]) + len(parts[1]) + 2 + i
		flipped[at] = "AB"[map[bool]int{true: 1}[flipped[at] == 'A']]
		requireRefused(t, b.verifier, string(flipped), "flipped")
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()

	oldKey, newKey := newKeyPEM(t), newKeyPEM(t)
	before, during, after := newTestKeyring(t, oldKey), newTestKeyring(t, newKey, oldKey), newTestKeyring(t, newKey)

	oldToken, _, err := NewIssuer(before, testTokens()).Issue(Principal{UserID: uuid.New(), Role: models.RoleAdmin})
	require.NoError(t, err)
	newToken, _, err := NewIssuer(during, testTokens()).Issue(Principal{UserID: uuid.New(), Role: models.RoleAdmin})
	require.NoError(t, err)

	for _, tt := range []struct {
		name  string
		keys  *Keyring
		token string
		ok    bool
	}{
		{"old token while both are known", during, oldToken, true},
		{"new token while both are known", during, newToken, true},
		{"new token after", after, newToken, true},
		{"old token after", after, oldToken, false},
		{"new token before", before, newToken, false},
	} {
		v, err := NewVerifier(t.Context(), tt.keys, testTokens(), slog.New(slog.DiscardHandler))
		require.NoError(t, err)

		_, err = v.Verify(t.Context(), tt.token)
		require.Equal(t, tt.ok, err == nil, tt.name)
	}
}

func FuzzVerify(f *testing.F) {
	b := newTokenBundle(f)
	good, _, err := b.issuer.Issue(Principal{UserID: uuid.New(), Role: models.RoleAdmin})
	require.NoError(f, err)

	for _, seed := range []string{good, "", "..", good[:40], "eyJhbGciOiJub25lIn0.e30.", strings.ReplaceAll(good, ".", "..")} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, token string) {
		p, err := b.verifier.Verify(t.Context(), token)
		if token == good {
			require.NoError(t, err)

			return
		}

		require.Equal(t, models.CodeUnauthenticated, models.CodeOf(err))
		require.Zero(t, p)
	})
}

// BenchmarkVerify is the check of a token that is new to the process, and of one that it has verified before.
func BenchmarkVerify(b *testing.B) {
	bundle := newTokenBundle(b)
	token, _, err := bundle.issuer.Issue(Principal{UserID: uuid.New(), Role: models.RoleAdmin})
	require.NoError(b, err)

	for name, before := range map[string]func(){
		"first": bundle.verifier.verified.tokens.Purge,
		"again": func() {},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				before()

				if _, err := bundle.verifier.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
