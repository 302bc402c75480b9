package ticket_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/internal/ticket"
)

// key is a private key that differs by n.
func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n

	return ed25519.NewKeyFromSeed(seed)
}

func keys(t *testing.T, private ...ed25519.PrivateKey) *ticket.Keys {
	t.Helper()

	k, err := ticket.NewKeys(private...)
	require.NoError(t, err)

	return k
}

var (
	noon   = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	claims = ticket.Claims{
		BookingNumber: "RB-7XK2M9Q", Passenger: uuid.MustParse("019a0000-0000-8000-8000-000000000001"), Position: 2, Name: "مسافر",
		Trip: uuid.MustParse("019a0000-0000-8000-8000-000000000002"), Seats: 3, Expires: noon.Add(time.Hour),
	}
)

func sign(t *testing.T, k *ticket.Keys, c ticket.Claims) string {
	t.Helper()

	token, err := k.Sign(c)
	require.NoError(t, err)

	return token
}

func TestTokens(t *testing.T) {
	t.Parallel()

	k := keys(t, key(1))
	token := sign(t, k, claims)
	require.Equal(t, token, sign(t, k, claims), "the same ticket is the same code")

	read, err := k.Verify(token, noon)
	require.NoError(t, err)
	require.True(t, claims.Expires.Equal(read.Expires))

	read.Expires = claims.Expires
	require.Equal(t, claims, read)

	read, err = ticket.Verify(k.Public(), token, noon)
	require.NoError(t, err, "the public key is enough")
	require.Equal(t, claims.Passenger, read.Passenger)

	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	require.JSONEq(t, `{"bn":"RB-7XK2M9Q","pid":"019a0000-0000-8000-8000-000000000001","pos":2,"name":"مسافر",
		"trip":"019a0000-0000-8000-8000-000000000002","seats":3,"exp":1796130000}`, string(payload), "nothing else about a person")

	long := claims
	long.Name = strings.Repeat("م", 200)

	read, err = k.Verify(sign(t, k, long), noon)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("م", 60), read.Name)
}

func TestTokensOfAnOldKeyAreValidUntilItLeaves(t *testing.T) {
	t.Parallel()

	old := sign(t, keys(t, key(1)), claims)

	_, err := keys(t, key(2), key(1)).Verify(old, noon)
	require.NoError(t, err)

	fresh := sign(t, keys(t, key(2), key(1)), claims)

	_, err = keys(t, key(2)).Verify(fresh, noon)
	require.NoError(t, err, "the first key signs")

	_, err = keys(t, key(2)).Verify(old, noon)
	require.ErrorIs(t, err, ticket.ErrInvalid)
}

func TestTokensThatAreNotOurs(t *testing.T) {
	t.Parallel()

	k := keys(t, key(1))
	token := sign(t, k, claims)
	parts := strings.Split(token, ".")
	kid := header(t, token)["kid"]

	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)

	other := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(payload), `"pos":2`, `"pos":1`, 1)))
	made := func(method jwt.SigningMethod, by any, typ string) string {
		t.Helper()

		forged := jwt.NewWithClaims(method, jwt.MapClaims{
			"bn": "RB-7XK2M9Q", "pid": claims.Passenger, "trip": claims.Trip, "pos": 1, "exp": claims.Expires.Unix(),
		})
		forged.Header["kid"], forged.Header["typ"] = kid, typ

		text, err := forged.SignedString(by)
		require.NoError(t, err)

		return text
	}

	for name, forged := range map[string]string{
		"nothing":                    "",
		"no token":                   "https://example.com/ticket",
		"another passenger":          parts[0] + "." + other + "." + parts[2],
		"no signature":               parts[0] + "." + parts[1] + ".",
		"a changed byte":             token[:len(token)-2] + "AA",
		"of another key":             made(jwt.SigningMethodEdDSA, key(9), "ticket"),
		"no algorithm":               made(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "ticket"),
		"the public key as a secret": made(jwt.SigningMethodHS256, []byte(k.Public()[0]), "ticket"),
		"an access token":            made(jwt.SigningMethodEdDSA, key(1), "JWT"),
	} {
		_, err := k.Verify(forged, noon)
		require.ErrorIs(t, err, ticket.ErrInvalid, name)
	}

	_, err = k.Verify(token, claims.Expires.Add(time.Second))
	require.ErrorIs(t, err, ticket.ErrInvalid, "expired")
}

// FuzzVerify: no text is a ticket but those that were signed, whatever stands around them.
func FuzzVerify(f *testing.F) {
	k, err := ticket.NewKeys(key(1))
	require.NoError(f, err)

	token, err := k.Sign(claims)
	require.NoError(f, err)

	for _, seed := range []string{token, token + ".", "", "..", "eyJhbGciOiJub25lIn0.e30.", strings.ToUpper(token)} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		read, err := k.Verify(text, noon)
		if err == nil {
			require.Equal(t, claims.Passenger, read.Passenger)
		} else {
			require.ErrorIs(t, err, ticket.ErrInvalid)
		}
	})
}

func header(t *testing.T, token string) map[string]any {
	t.Helper()

	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	require.NoError(t, err)

	return parsed.Header
}

func TestLinks(t *testing.T) {
	t.Parallel()

	k, booking := keys(t, key(1)), claims.Trip

	link, err := url.Parse(k.LinkTo(booking))
	require.NoError(t, err)
	require.Equal(t, "/api/v1/tickets/"+booking.String(), link.Path)

	signature := link.Query().Get("signature")
	require.True(t, k.Opens(booking, signature))
	require.True(t, keys(t, key(2), key(1)).Opens(booking, signature), "of an old key")

	for name, forged := range map[string]string{
		"nothing": "", "another signature": "A" + signature[1:], "short": signature[:20], "padded": signature + "=",
		"no base64": strings.Repeat("!", 43),
	} {
		require.False(t, k.Opens(booking, forged), name)
	}

	require.False(t, k.Opens(claims.Passenger, signature), "another booking")
	require.False(t, keys(t, key(3)).Opens(booking, signature), "another key")
}

func TestLoadKeys(t *testing.T) {
	t.Parallel()

	k, err := ticket.LoadKeys(config.DevTicketKey().Reveal())
	require.NoError(t, err)
	require.Len(t, k.Public(), 1)

	_, err = ticket.LoadKeys("no-such-file.pem")
	require.ErrorContains(t, err, "TICKET_SIGNING_KEYS")

	_, err = ticket.NewKeys()
	require.Error(t, err)
}
