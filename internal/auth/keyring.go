package auth

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	pemPrivateKey = "PRIVATE KEY"
	algEdDSA      = "EdDSA"
	keyFileMode   = 0o600
	keyDirMode    = 0o755 // the folder may be shared; the file is what is kept from others
)

// Keyring is the Ed25519 keys of our own access tokens. The first signs; all of them verify, so that a new key is put
// in front and the old one leaves when its last token has expired. It is immutable.
type Keyring struct {
	signing ed25519.PrivateKey
	kid     string
	seeds   [][]byte // of all keys, the signing one first
	public  map[string]ed25519.PublicKey
	set     []jwk
	jwks    []byte
}

// jwk is the public form of a key (RFC 8037).
type jwk struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	KeyID     string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
}

// LoadKeyring reads JWT_SIGNING_KEYS, as LoadKeys does.
func LoadKeyring(source string) (*Keyring, error) {
	keys, err := LoadKeys("JWT_SIGNING_KEYS", source)
	if err != nil {
		return nil, err
	}

	return newKeyring(keys)
}

// LoadKeys reads the signing keys of a variable: PEM text with one or more PKCS #8 private keys, or comma-separated paths of files with
// such text. There is one at least. Its errors name the variable and the file, never the content.
func LoadKeys(variable, source string) ([]ed25519.PrivateKey, error) {
	if strings.Contains(source, "-----BEGIN") {
		// One-line environment files carry line ends as two characters.
		keys, err := parseKeys(strings.ReplaceAll(source, `\n`, "\n"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}

		return keys, nil
	}

	var keys []ed25519.PrivateKey

	for path := range strings.SplitSeq(source, ",") {
		path = strings.TrimSpace(path)
		if path == "" {
			continue
		}

		text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}

		fileKeys, err := parseKeys(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", variable, path, err)
		}

		keys = append(keys, fileKeys...)
	}

	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: no key is given", variable)
	}

	return keys, nil
}

// GenerateKeyFile writes a new private key to path, readable by its owner only. A file that is there already is kept
// and reported as fs.ErrExist; of two processes that race one wins, and both then read a whole file.
func GenerateKeyFile(path string) (err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("generate signing key: %w", err)
	}

	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("encode signing key: %w", err)
	}

	dir := filepath.Dir(path)
	if err = os.MkdirAll(dir, keyDirMode); err != nil {
		return fmt.Errorf("signing key folder: %w", err)
	}

	f, err := os.CreateTemp(dir, ".signing-key-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("signing key file: %w", err)
	}

	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()

	err = errors.Join(
		f.Chmod(keyFileMode),
		pem.Encode(f, &pem.Block{Type: pemPrivateKey, Bytes: der}),
		f.Sync(),
		f.Close(),
	)
	if err != nil {
		return fmt.Errorf("write signing key: %w", err)
	}

	if err = os.Link(f.Name(), path); err != nil {
		return fmt.Errorf("signing key file: %w", err)
	}

	return nil
}

// JWKS is the public keys as a JSON Web Key Set (RFC 7517), for /.well-known/jwks.json.
func (k *Keyring) JWKS() []byte { return k.jwks }

// KeyID is the RFC 7638 thumbprint of the key that signs.
func (k *Keyring) KeyID() string { return k.kid }

// Derive is a secret of 32 bytes for another purpose: every process with the same signing key gets the same one, and it
// says nothing about the key.
func (k *Keyring) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.signing.Seed(), nil, purpose, sha256.Size)
}

func parseKeys(text string) ([]ed25519.PrivateKey, error) {
	var keys []ed25519.PrivateKey

	for rest := []byte(text); ; {
		var block *pem.Block

		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}

		if block.Type != pemPrivateKey {
			return nil, fmt.Errorf("has a %s block where %s is expected", block.Type, pemPrivateKey)
		}

		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, errors.New("has a private key that is not PKCS #8")
		}

		private, ok := key.(ed25519.PrivateKey)
		if !ok {
			return nil, errors.New("has a private key that is not Ed25519")
		}

		keys = append(keys, private)
	}

	if len(keys) == 0 {
		return nil, errors.New("has no PEM private key")
	}

	return keys, nil
}

func newKeyring(keys []ed25519.PrivateKey) (*Keyring, error) {
	ring := &Keyring{signing: keys[0], public: make(map[string]ed25519.PublicKey, len(keys))}
	ring.kid = KeyID(publicOf(keys[0]))

	for _, private := range keys {
		public := publicOf(private)
		kid := KeyID(public)

		if _, dup := ring.public[kid]; dup {
			continue
		}

		ring.public[kid] = public
		ring.seeds = append(ring.seeds, private.Seed())
		ring.set = append(ring.set, jwkOf(public, "sig"))
	}

	var err error
	ring.jwks, err = KeySet(ring)

	return ring, err
}

// KeySet is the public keys of a ring as a JSON Web Key Set (RFC 7517), and behind them those that are for tickets, with that use.
func KeySet(ring *Keyring, tickets ...ed25519.PublicKey) ([]byte, error) {
	set := struct {
		Keys []jwk `json:"keys"`
	}{slices.Clone(ring.set)}

	for _, public := range tickets {
		set.Keys = append(set.Keys, jwkOf(public, "ticket"))
	}

	encoded, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode key set: %w", err)
	}

	return encoded, nil
}

func publicOf(private ed25519.PrivateKey) ed25519.PublicKey {
	return private.Public().(ed25519.PublicKey) //nolint:forcetypeassert // what an Ed25519 key has
}

func jwkOf(public ed25519.PublicKey, use string) jwk {
	return jwk{
		KeyType: "OKP", Curve: "Ed25519", X: base64.RawURLEncoding.EncodeToString(public), KeyID: KeyID(public), Use: use,
		Algorithm: algEdDSA,
	}
}

// KeyID is RFC 7638: SHA-256 over the required members, in this order and without white space.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))

	return base64.RawURLEncoding.EncodeToString(sum[:])
}
