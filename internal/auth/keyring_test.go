package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyPEM is a private key as PKCS #8 PEM text.
func keyPEM(tb testing.TB, key any) string {
	tb.Helper()

	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(tb, err)

	return string(pem.EncodeToMemory(&pem.Block{Type: pemPrivateKey, Bytes: der}))
}

func newKeyPEM(tb testing.TB) string {
	tb.Helper()

	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(tb, err)

	return keyPEM(tb, key)
}

func newTestKeyring(tb testing.TB, texts ...string) *Keyring {
	tb.Helper()

	if len(texts) == 0 {
		texts = []string{newKeyPEM(tb)}
	}

	k, err := LoadKeyring(strings.Join(texts, ""))
	require.NoError(tb, err)

	return k
}

func TestThumbprintIsThatOfRFC8037(t *testing.T) {
	t.Parallel()

	x, err := base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	require.NoError(t, err)
	require.Equal(t, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", KeyID(x)) // appendix A.3
}

func TestLoadKeyring(t *testing.T) {
	t.Parallel()

	first, second := newKeyPEM(t), newKeyPEM(t)
	want := newTestKeyring(t, first, second)

	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.pem"), filepath.Join(dir, "b.pem")
	require.NoError(t, os.WriteFile(a, []byte(first), 0o600))
	require.NoError(t, os.WriteFile(b, []byte(second), 0o600))

	for name, source := range map[string]string{
		"text": first + second, "one line": strings.ReplaceAll(first+second, "\n", `\n`),
		"paths": a + ", " + b + ",", "the same twice": first + second + first,
	} {
		k, err := LoadKeyring(source)
		require.NoError(t, err, name)
		require.Equal(t, want.KeyID(), k.KeyID(), name)
		require.JSONEq(t, string(want.JWKS()), string(k.JWKS()), name)
	}

	var set struct {
		Keys []map[string]string `json:"keys"`
	}

	require.NoError(t, json.Unmarshal(want.JWKS(), &set))
	require.Len(t, set.Keys, 2)
	require.Equal(t, want.KeyID(), set.Keys[0]["kid"])

	for _, key := range set.Keys {
		require.Len(t, key, 6)
		require.Equal(t, []string{"OKP", "Ed25519", "sig", "EdDSA"}, []string{key["kty"], key["crv"], key["use"], key["alg"]})
		require.NotContains(t, key, "d", "the private half stays here")
	}
}

func TestDerivedSecrets(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "signing.pem")
	require.NoError(t, GenerateKeyFile(path))

	first, err := LoadKeyring(path)
	require.NoError(t, err)

	secret, err := first.Derive("rate limits")
	require.NoError(t, err)
	require.Len(t, secret, 32)

	again, err := LoadKeyring(path)
	require.NoError(t, err)

	same, err := again.Derive("rate limits")
	require.NoError(t, err)
	require.Equal(t, secret, same, "another process with the same key")

	other, err := first.Derive("something else")
	require.NoError(t, err)
	require.NotEqual(t, secret, other)
}

func TestLoadKeyringRefusesOtherThings(t *testing.T) {
	t.Parallel()

	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)

	notAKey := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(notAKey, []byte("s3ntinel"), 0o600))

	for name, source := range map[string]string{
		"nothing": "", "commas": " , ", "absent file": "/nonexistent/key.pem", "text file": notAKey,
		"other curve": keyPEM(t, p256),
		"public key":  string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("s3ntinel")})),
		"broken":      string(pem.EncodeToMemory(&pem.Block{Type: pemPrivateKey, Bytes: []byte("s3ntinel")})),
		"cut":         "-----BEGIN PRIVATE KEY-----\ns3ntinel",
	} {
		_, err := LoadKeyring(source)
		require.ErrorContains(t, err, "JWT_SIGNING_KEYS", name)
		require.NotContains(t, err.Error(), "s3ntinel", name)
	}
}

func TestGenerateKeyFile(t *testing.T) {
	t.Parallel()

	dir := filepath.Join(t.TempDir(), "keys")
	path := filepath.Join(dir, "jwt.pem")
	require.NoError(t, GenerateKeyFile(path))

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	before, err := LoadKeyring(path)
	require.NoError(t, err)
	require.ErrorIs(t, GenerateKeyFile(path), fs.ErrExist)

	after, err := LoadKeyring(path)
	require.NoError(t, err)
	require.Equal(t, before.KeyID(), after.KeyID())

	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays behind")
}
