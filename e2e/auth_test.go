package e2e_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

type user struct {
	ID         uuid.UUID     `json:"id"`
	Name       string        `json:"name"`
	Email      string        `json:"email"`
	Phone      string        `json:"phone"`
	Role       models.Role   `json:"role"`
	ProviderID *uuid.UUID    `json:"provider_id"`
	Locale     models.Locale `json:"locale"`
}

type tokens struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	User      user   `json:"user"`
}

func signIn(t *testing.T, s *harness.Stack, email, password string) tokens {
	t.Helper()

	return decoded[tokens](t, http.StatusOK, s.Anybody().Post("/api/v1/auth/login", map[string]string{"email": email, "password": password}))
}

func refresh(s *harness.Stack, token string) harness.Answer {
	return s.Anybody().Post("/api/v1/auth/refresh", map[string]string{"refresh_token": token})
}

// refreshElsewhere is refresh by another program than the one that signed in.
func refreshElsewhere(t *testing.T, s *harness.Stack, token string) harness.Answer {
	t.Helper()

	a, err := s.Anybody().Do(http.MethodPost, "/api/v1/auth/refresh", map[string]string{"refresh_token": token},
		map[string]string{"User-Agent": "another browser"})
	require.NoError(t, err)

	return a
}

func registration(t *testing.T, s *harness.Stack) {
	t.Helper()

	email := "new." + uuid.NewString() + "@rihla.test"
	account := map[string]string{"name": "مسافر جديد", "email": email, "phone": "+966512345678", "password": "ten-letters"}

	a, err := s.Anybody().Do(http.MethodPost, "/api/v1/auth/register", account, map[string]string{"Accept-Language": "en"})
	require.NoError(t, err)

	made := decoded[user](t, http.StatusCreated, a)
	require.Equal(t, models.RoleEndUser, made.Role)
	require.Equal(t, models.LocaleEnglish, made.Locale)
	require.Equal(t, account["name"], made.Name)
	require.Nil(t, made.ProviderID)
	require.NotContains(t, string(a.Body), "password")

	in := signIn(t, s, email, account["password"])
	require.Equal(t, made, in.User)

	// An address belongs to one account, however it is written.
	for _, again := range []string{email, strings.ToUpper(email)} {
		account["email"] = again
		refused(t, s.Anybody().Post("/api/v1/auth/register", account), http.StatusConflict, models.CodeEmailAlreadyExists)
	}

	account["email"], account["password"] = "other."+email, "nine-char"
	refused(t, s.Anybody().Post("/api/v1/auth/register", account), http.StatusUnprocessableEntity, models.CodeValidation)

	account["password"] = "Qwertyuiop"
	refused(t, s.Anybody().Post("/api/v1/auth/register", account), http.StatusUnprocessableEntity, models.CodeValidation)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM audit_log WHERE action = 'USER_CREATED' AND entity_id = $1 AND actor_id = $1`, made.ID))
	require.Equal(t, 0, s.Count("SELECT count(*) FROM users WHERE password_hash NOT LIKE '$argon2id$%'"))
}

func login(t *testing.T, s *harness.Stack) {
	t.Helper()

	u := s.World.Users[models.RoleProviderStaff]
	in := signIn(t, s, u.Email, storetest.Password)
	require.Equal(t, "Bearer", in.Type)
	require.Equal(t, 900, in.ExpiresIn)
	require.Equal(t, u.ProviderID, in.User.ProviderID)

	wrong := s.Anybody().Post("/api/v1/auth/login", map[string]string{"email": u.Email, "password": "not-the-password"})
	refused(t, wrong, http.StatusUnauthorized, models.CodeInvalidCredentials)

	unknown := s.Anybody().Post("/api/v1/auth/login", map[string]string{"email": "x" + u.Email, "password": "not-the-password"})
	refused(t, unknown, http.StatusUnauthorized, models.CodeInvalidCredentials)
	require.Equal(t, string(wrong.Body), string(unknown.Body), "nobody learns whether there is such an account")

	// Refresh tokens are kept as hashes only.
	require.Equal(t, 0, s.Count("SELECT count(*) FROM refresh_tokens AS r WHERE position($1 in r::text) > 0", in.Refresh))
}

func refreshRotation(t *testing.T, s *harness.Stack) {
	t.Helper()

	first := signIn(t, s, s.World.Users[models.RoleEndUser].Email, storetest.Password)
	second := decoded[tokens](t, http.StatusOK, refresh(s, first.Refresh))
	require.NotEqual(t, first.Refresh, second.Refresh)
	require.Equal(t, http.StatusOK, s.With(second.Access).Get("/api/v1/me").Status)

	third := decoded[tokens](t, http.StatusOK, refresh(s, second.Refresh))

	// A spent token in other hands: the whole family ends, the newest one included.
	refused(t, refresh(s, first.Refresh), http.StatusUnauthorized, models.CodeInvalidCredentials)
	refused(t, refresh(s, third.Refresh), http.StatusUnauthorized, models.CodeInvalidCredentials)

	// Another login is another family.
	other := signIn(t, s, s.World.Users[models.RoleEndUser].Email, storetest.Password)
	answers := atOnce(8, func(int) harness.Answer { return refresh(s, other.Refresh) })
	successors := map[string]bool{}

	for _, a := range answers {
		successors[decoded[tokens](t, http.StatusOK, a).Refresh] = true
	}

	require.Len(t, successors, 1, "a refresh token has one successor, which its device gets again when an answer was lost")

	// Another program gets none of it, and ends the family.
	refused(t, refreshElsewhere(t, s, other.Refresh), http.StatusUnauthorized, models.CodeInvalidCredentials)

	for successor := range successors {
		refused(t, refresh(s, successor), http.StatusUnauthorized, models.CodeInvalidCredentials)
	}
}

func logout(t *testing.T, s *harness.Stack) {
	t.Helper()

	in := signIn(t, s, s.World.Users[models.RoleEndUser].Email, storetest.Password)

	for range 2 {
		a := s.Anybody().Post("/api/v1/auth/logout", map[string]string{"refresh_token": in.Refresh})
		require.Equal(t, http.StatusNoContent, a.Status)
		require.Empty(t, a.Body)
	}

	refused(t, refresh(s, in.Refresh), http.StatusUnauthorized, models.CodeInvalidCredentials)
}

func me(t *testing.T, s *harness.Stack) {
	t.Helper()

	for _, role := range models.Roles() {
		got := decoded[user](t, http.StatusOK, s.As(role).Get("/api/v1/me"))
		want := s.World.Users[role]
		require.Equal(t, user{want.ID, want.Name, want.Email, want.Phone, role, want.ProviderID, want.Locale}, got)
	}

	// An account that is gone takes its tokens along.
	gone := s.As(models.RoleSupportAgent)
	_, err := s.DB.ExecContext(t.Context(), "UPDATE users SET deleted_at = now() WHERE id = $1", s.World.Users[models.RoleSupportAgent].ID)
	require.NoError(t, err)
	refused(t, gone.Get("/api/v1/me"), http.StatusUnauthorized, models.CodeUnauthenticated)
}

// publicKeys verifies a token as another service would: with what is served under /.well-known.
func publicKeys(t *testing.T, s *harness.Stack) {
	t.Helper()

	var set struct {
		Keys []struct {
			KTY, CRV, Alg, Use, KID, X string
		} `json:"keys"`
	}

	a := s.Anybody().Get("/.well-known/jwks.json")
	require.Equal(t, http.StatusOK, a.Status)
	require.NoError(t, a.Into(&set))
	require.NotEmpty(t, set.Keys)
	require.NotContains(t, string(a.Body), `"d"`, "the private half")

	in := signIn(t, s, s.World.Users[models.RoleProviderAdmin].Email, storetest.Password)
	token, err := jwt.Parse(in.Access, func(token *jwt.Token) (any, error) {
		for _, k := range set.Keys {
			if k.KID == token.Header["kid"] {
				x, err := base64.RawURLEncoding.DecodeString(k.X)

				return ed25519.PublicKey(x), err
			}
		}

		return nil, jwt.ErrTokenUnverifiable
	}, jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer("rihla"), jwt.WithAudience("rihla-api"), jwt.WithExpirationRequired())
	require.NoError(t, err)

	claims := token.Claims.(jwt.MapClaims)
	require.Equal(t, in.User.ID.String(), claims["sub"])
	require.Equal(t, string(models.RoleProviderAdmin), claims["role"])
	require.Equal(t, s.World.Provider.ID.String(), claims["provider_id"])
	require.InDelta(t, 900, claims["exp"].(float64)-claims["iat"].(float64), 0)
}

// forgedTokens are signed, some even with the service's own key, and still not tokens of a user.
func forgedTokens(t *testing.T, s *harness.Stack) {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(s.DataDir, "keys", "signing.pem"))
	require.NoError(t, err)

	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)

	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)

	in := signIn(t, s, s.World.Users[models.RoleEndUser].Email, storetest.Password)
	good, _, err := jwt.NewParser().ParseUnverified(in.Access, jwt.MapClaims{})
	require.NoError(t, err)

	sign := func(method jwt.SigningMethod, with any, change func(jwt.MapClaims, map[string]any)) string {
		claims := maps.Clone(good.Claims.(jwt.MapClaims))
		forged := jwt.NewWithClaims(method, claims)
		forged.Header["kid"] = good.Header["kid"]
		change(claims, forged.Header)

		out, err := forged.SignedString(with)
		require.NoError(t, err)

		return out
	}
	ours := func(change func(jwt.MapClaims, map[string]any)) string {
		return sign(jwt.SigningMethodEdDSA, key, change)
	}
	claim := func(name string, value any) string {
		return ours(func(c jwt.MapClaims, _ map[string]any) { c[name] = value })
	}
	missing := func(name string) string { return ours(func(c jwt.MapClaims, _ map[string]any) { delete(c, name) }) }
	same := func(jwt.MapClaims, map[string]any) {}

	require.Equal(t, http.StatusOK, s.With(ours(same)).Get("/api/v1/me").Status, "the test signs as the service does")

	public, err := json.Marshal(key.(ed25519.PrivateKey).Public())
	require.NoError(t, err)

	for name, token := range map[string]string{
		"expired": claim("exp", time.Now().Add(-time.Second).Unix()), "no expiry": missing("exp"),
		"not yet":      claim("nbf", time.Now().Add(time.Hour).Unix()),
		"other issuer": claim("iss", "evil"), "no issuer": missing("iss"), "other audience": claim("aud", "other"), "no audience": missing("aud"),
		"no user": missing("sub"), "user is no id": claim("sub", "root"), "no role": missing("role"), "unknown role": claim("role", "ROOT"),
		"provider role without provider": claim("role", models.RoleProviderAdmin), "provider of an end user": claim("provider_id", uuid.NewString()),
		"another key":            sign(jwt.SigningMethodEdDSA, stranger, same),
		"no key id":              ours(func(_ jwt.MapClaims, h map[string]any) { delete(h, "kid") }),
		"unknown key id":         ours(func(_ jwt.MapClaims, h map[string]any) { h["kid"] = "other" }),
		"public key as a secret": sign(jwt.SigningMethodHS256, public, same),
		"none":                   sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same),
	} {
		a := s.With(token).Get("/api/v1/me")
		require.Equal(t, http.StatusUnauthorized, a.Status, "%s: %s", name, a.Body)
		require.Equal(t, models.CodeUnauthenticated, a.Code())
	}
}
