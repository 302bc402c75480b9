package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

// externalIssuer is a token issuer of another company: a real HTTP server with a key set that can change.
type externalIssuer struct {
	url  string
	keys atomic.Pointer[[]byte] // nil answers 503
	hits atomic.Int32
}

func newExternalIssuer(t *testing.T) *externalIssuer {
	t.Helper()

	e := &externalIssuer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.hits.Add(1)

		body := e.keys.Load()
		if body == nil {
			w.WriteHeader(http.StatusServiceUnavailable)

			return
		}

		_, _ = w.Write(*body)
	}))
	t.Cleanup(server.Close)
	e.url = server.URL

	return e
}

func (e *externalIssuer) publish(t *testing.T, keys map[string]any, use jwkset.USE) {
	t.Helper()

	var set jwkset.JWKSMarshal

	for kid, key := range keys {
		k, err := jwkset.NewJWKFromKey(key, jwkset.JWKOptions{
			Metadata: jwkset.JWKMetadataOptions{KID: kid, USE: use}, Marshal: jwkset.JWKMarshalOptions{Private: kid == "secret"},
		})
		require.NoError(t, err)

		set.Keys = append(set.Keys, k.Marshal())
	}

	body, err := json.Marshal(set)
	require.NoError(t, err)
	e.keys.Store(&body)
}

func (e *externalIssuer) claims() jwt.MapClaims {
	c := validClaims()
	c["iss"] = e.url

	return c
}

func TestVerifyExternalIssuer(t *testing.T) {
	t.Parallel()

	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	e, b := newExternalIssuer(t), newTokenBundle(t)
	secret := []byte("a shared secret in a public place")
	e.publish(t, map[string]any{"ed": ed.Public(), "ec": ec.Public(), "rs": rs.Public(), "secret": secret}, jwkset.UseSig)

	tokens := testTokens()
	tokens.JWKS = config.JWKSSources{{Issuer: e.url, URL: e.url + "/.well-known/jwks.json"}}
	v, err := NewVerifier(t.Context(), b.keys, tokens, slog.New(slog.DiscardHandler))
	require.NoError(t, err)

	staff := e.claims()
	staff["role"], staff["provider_id"] = "PROVIDER_ADMIN", uuid.NewString()
	p, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodEdDSA, ed, "ed", staff))
	require.NoError(t, err)
	require.Equal(t, models.RoleProviderAdmin, p.Role)
	require.Equal(t, staff["provider_id"], p.ProviderID.String())

	_, err = v.Verify(t.Context(), sign(t, jwt.SigningMethodES256, ec, "ec", e.claims()))
	require.NoError(t, err)
	_, err = v.Verify(t.Context(), sign(t, jwt.SigningMethodRS256, rs, "rs", e.claims()))
	require.NoError(t, err)
	require.Zero(t, v.verified.tokens.Len(), "their issuer may withdraw the keys at any time: such tokens are not remembered")

	own, _, err := b.issuer.Issue(Principal{UserID: uuid.New(), Role: models.RoleAdmin})
	require.NoError(t, err)
	_, err = v.Verify(t.Context(), own)
	require.NoError(t, err, "our own tokens still work")

	with := func(name string, value any) jwt.MapClaims {
		c := e.claims()
		c[name] = value

		return c
	}
	unending := e.claims()
	delete(unending, "exp")

	public, err := x509.MarshalPKIXPublicKey(rs.Public())
	require.NoError(t, err)

	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})

	for name, token := range map[string]string{
		"our name with their key":  sign(t, jwt.SigningMethodEdDSA, ed, "ed", validClaims()),
		"their name with our key":  sign(t, jwt.SigningMethodEdDSA, b.keys.signing, b.keys.kid, e.claims()),
		"shared secret":            sign(t, jwt.SigningMethodHS256, secret, "secret", e.claims()),
		"RS384 is not on the list": sign(t, jwt.SigningMethodRS384, rs, "rs", e.claims()),
		"kid of another key":       sign(t, jwt.SigningMethodEdDSA, ed, "ec", e.claims()),
		"no kid":                   sign(t, jwt.SigningMethodEdDSA, ed, "", e.claims()),
		"unknown role":             sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("role", "ROOT")),
		"other audience":           sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("aud", "another-api")),
		"no expiry":                sign(t, jwt.SigningMethodEdDSA, ed, "ed", unending),
		"nobody's issuer":          sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("iss", "https://evil.test")),
		"expired":                  sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("exp", time.Now().Add(-time.Minute).Unix())),
		"not yet":                  sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("nbf", time.Now().Add(time.Minute).Unix())),
		"platform role":            sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("role", "ADMIN")),
		"highest role":             sign(t, jwt.SigningMethodEdDSA, ed, "ed", with("role", "SUPER_ADMIN")),
		"public key as a secret":   sign(t, jwt.SigningMethodHS256, asPEM, "rs", e.claims()),
		"public DER as a secret":   sign(t, jwt.SigningMethodHS256, public, "rs", e.claims()),
		"none":                     sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "ed", e.claims()),
		"not a token":              "a.b.c",
	} {
		requireRefused(t, v, token, name)
	}
}

func TestExternalIssuerThatComesLater(t *testing.T) {
	t.Parallel()

	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)

	e, b := newExternalIssuer(t), newTokenBundle(t)
	tokens := testTokens()
	tokens.JWKS = config.JWKSSources{{Issuer: e.url, URL: e.url}}
	v, err := NewVerifier(t.Context(), b.keys, tokens, slog.New(slog.DiscardHandler))
	require.NoError(t, err, "an issuer that is down does not keep the service from starting")

	e.publish(t, map[string]any{"ed": key.Public()}, "")
	_, err = v.Verify(t.Context(), sign(t, jwt.SigningMethodEdDSA, key, "ed", e.claims()))
	require.NoError(t, err)

	asked := e.hits.Load()
	for range 20 {
		requireRefused(t, v, sign(t, jwt.SigningMethodEdDSA, key, uuid.NewString(), e.claims()), "unknown kid")
	}

	require.Equal(t, asked, e.hits.Load(), "invented kids do not make us ask for each of them")
}

func TestExternalKeyForEncryptionDoesNotVerify(t *testing.T) {
	t.Parallel()

	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)

	e, b := newExternalIssuer(t), newTokenBundle(t)
	e.publish(t, map[string]any{"ed": key.Public()}, jwkset.UseEnc)

	tokens := testTokens()
	tokens.JWKS = config.JWKSSources{{Issuer: e.url, URL: e.url}}
	v, err := NewVerifier(t.Context(), b.keys, tokens, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	requireRefused(t, v, sign(t, jwt.SigningMethodEdDSA, key, "ed", e.claims()), "encryption key")
}
