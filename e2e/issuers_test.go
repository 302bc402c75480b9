package e2e_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/auth"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// keyIDs are the kids of the keys of access tokens that the service publishes, in their order.
func keyIDs(t *testing.T, s *harness.Stack) []string {
	t.Helper()

	var set struct {
		Keys []struct{ KID, Use string }
	}

	a := s.Anybody().Get("/.well-known/jwks.json")
	require.Equal(t, http.StatusOK, a.Status)
	require.NoError(t, a.Into(&set))

	var ids []string

	for _, k := range set.Keys {
		if k.Use == "sig" {
			ids = append(ids, k.KID)
		}
	}

	return ids
}

func kidOf(t *testing.T, token string) string {
	t.Helper()

	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	require.NoError(t, err)

	return parsed.Header["kid"].(string)
}

// TestSigningKeyRotation puts a new key in front, and later takes the old one away, as docs/security.md tells operators.
func TestSigningKeyRotation(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	file, next := filepath.Join(s.DataDir, "keys", "signing.pem"), filepath.Join(t.TempDir(), "next.pem")
	require.NoError(t, auth.GenerateKeyFile(next))

	oldKey, err := os.ReadFile(file)
	require.NoError(t, err)
	newKey, err := os.ReadFile(next)
	require.NoError(t, err)

	restart := func(keys ...[]byte) {
		var text []byte
		for _, k := range keys {
			text = append(text, k...)
		}

		require.NoError(t, os.WriteFile(file, text, 0o600))
		s.API.Stop()
		s.API.Start()
	}
	email := s.World.Users[models.RoleAdmin].Email

	first := signIn(t, s, email, storetest.Password)
	require.Equal(t, []string{kidOf(t, first.Access)}, keyIDs(t, s))

	restart(newKey, oldKey)

	second := signIn(t, s, email, storetest.Password)
	require.NotEqual(t, kidOf(t, first.Access), kidOf(t, second.Access))
	require.Equal(t, []string{kidOf(t, second.Access), kidOf(t, first.Access)}, keyIDs(t, s))

	for _, in := range []tokens{first, second} {
		require.Equal(t, http.StatusOK, s.With(in.Access).Get(mePath).Status)
	}

	restart(newKey)
	require.Equal(t, []string{kidOf(t, second.Access)}, keyIDs(t, s))
	require.Equal(t, http.StatusOK, s.With(second.Access).Get(mePath).Status)
	refused(t, s.With(first.Access).Get(mePath), http.StatusUnauthorized, models.CodeUnauthenticated)
	require.Equal(t, http.StatusOK, refresh(s, first.Refresh).Status, "sessions do not hang on a key")
}

// idp is a token issuer of another company.
type idp struct {
	name string
	url  string
	set  atomic.Pointer[[]byte]
}

func newIDP(t *testing.T) *idp {
	t.Helper()

	i := &idp{name: "https://id.rihla.test"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(*i.set.Load()) }))
	t.Cleanup(server.Close)
	i.url = server.URL + "/keys"

	return i
}

func (i *idp) publish(t *testing.T, keys map[string]crypto.PublicKey) {
	t.Helper()

	var set jwkset.JWKSMarshal

	for kid, key := range keys {
		k, err := jwkset.NewJWKFromKey(key, jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: kid, USE: jwkset.UseSig}})
		require.NoError(t, err)

		set.Keys = append(set.Keys, k.Marshal())
	}

	text, err := json.Marshal(set)
	require.NoError(t, err)
	i.set.Store(&text)
}

// claims are what the issuer says about an account of ours; change may be nil.
func (i *idp) claims(u models.User, change jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{
		"iss": i.name, "aud": "rihla-api", "sub": u.ID.String(), "role": string(u.Role), "exp": time.Now().Add(time.Hour).Unix(),
	}
	if u.ProviderID != nil {
		c["provider_id"] = u.ProviderID.String()
	}

	maps.Copy(c, change)

	return c
}

func signed(t *testing.T, method jwt.SigningMethod, key any, kid string, claims jwt.MapClaims) string {
	t.Helper()

	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = kid

	text, err := token.SignedString(key)
	require.NoError(t, err)

	return text
}

// TestExternalIssuer signs people in whom another company vouches for: they are who they are here, and nothing more.
func TestExternalIssuer(t *testing.T) {
	t.Parallel()

	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, next, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(ec.Public())
	require.NoError(t, err)

	i := newIDP(t)
	i.publish(t, map[string]crypto.PublicKey{"ec": ec.Public()})

	s := harness.Start(t, harness.Options{Env: map[string]string{"JWT_JWKS_URLS": i.name + "=" + i.url}})
	customer, staff := s.World.Users[models.RoleEndUser], s.World.Users[models.RoleProviderStaff]
	says := func(u models.User, change jwt.MapClaims) string {
		return signed(t, jwt.SigningMethodES256, ec, "ec", i.claims(u, change))
	}

	got := decoded[user](t, http.StatusOK, s.With(says(customer, nil)).Get(mePath))
	require.Equal(t, customer.ID, got.ID)
	require.Equal(t, http.StatusCreated, s.With(says(customer, nil)).Post(bookingsPath, s.BookingRequest(1)).Status)
	require.Equal(t, http.StatusOK, s.With(says(staff, nil)).Get("/api/v1/provider/hotels").Status)

	minute := time.Minute
	for name, token := range map[string]string{
		"somebody who has no account":    says(models.User{ID: uuid.New(), Role: models.RoleEndUser}, nil),
		"a role that is not theirs":      says(customer, jwt.MapClaims{"role": "SUPER_ADMIN"}),
		"a company that is not theirs":   says(staff, jwt.MapClaims{"provider_id": uuid.NewString()}),
		"an admin, who is not theirs":    says(s.World.Users[models.RoleAdmin], nil),
		"the highest admin":              says(s.World.Users[models.RoleSuperAdmin], nil),
		"expired":                        says(customer, jwt.MapClaims{"exp": time.Now().Add(-minute).Unix()}),
		"not yet":                        says(customer, jwt.MapClaims{"nbf": time.Now().Add(minute).Unix()}),
		"for another service":            says(customer, jwt.MapClaims{"aud": "other"}),
		"by our name":                    says(customer, jwt.MapClaims{"iss": "rihla"}),
		"by nobody's name":               says(customer, jwt.MapClaims{"iss": "https://evil.test"}),
		"none":                           signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "ec", i.claims(customer, nil)),
		"the public key as a secret":     signed(t, jwt.SigningMethodHS256, der, "ec", i.claims(customer, nil)),
		"the public key's PEM as secret": signed(t, jwt.SigningMethodHS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "ec", i.claims(customer, nil)),
		"a stranger's key":               signed(t, jwt.SigningMethodEdDSA, stranger, "ec", i.claims(customer, nil)),
	} {
		a := s.With(token).Get(mePath)
		require.Equal(t, http.StatusUnauthorized, a.Status, "%s: %s", name, a.Body)
		require.Equal(t, models.CodeUnauthenticated, a.Code(), name)
	}

	// The issuer changes its keys: the new one is found by its kid, and the old one is not believed any more.
	before := says(customer, nil)
	i.publish(t, map[string]crypto.PublicKey{"next": public})
	require.Equal(t, http.StatusOK, s.With(signed(t, jwt.SigningMethodEdDSA, next, "next", i.claims(customer, nil))).Get(mePath).Status)
	refused(t, s.With(before).Get(mePath), http.StatusUnauthorized, models.CodeUnauthenticated)
	refused(t, s.With(signed(t, jwt.SigningMethodEdDSA, stranger, "unknown", i.claims(customer, nil))).Get(mePath),
		http.StatusUnauthorized, models.CodeUnauthenticated)

	// An account that is removed here stays out, whatever the issuer says.
	out, err := s.Command("", "user", "remove", "--email", staff.Email)
	require.NoError(t, err, out)
	refused(t, s.With(signed(t, jwt.SigningMethodEdDSA, next, "next", i.claims(staff, nil))).Get("/api/v1/provider/hotels"),
		http.StatusUnauthorized, models.CodeUnauthenticated)
}
