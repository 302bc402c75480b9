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

// LoadKeyring reads JWT_SIGNING_KEYS: PEM text with one or more PKCS #8 private keys, or comma-separated paths of files
// with such text. Its errors name the variable and the file, never the content.
func LoadKeyring(source string) (*Keyring, error) {
	if strings.Contains(source, "-----BEGIN") {
		// One-line environment files carry line ends as two characters.
		keys, err := parseKeys(strings.ReplaceAll(source, `\n`, "\n"))
		if err != nil {
			return nil, fmt.Errorf("JWT_SIGNING_KEYS: %w", err)
		}

		return newKeyring(keys)
	}

	var keys []ed25519.PrivateKey

	for path := range strings.SplitSeq(source, ",") {
		path = strings.TrimSpace(path)
		if path == "" {
			continue
		}

		text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("JWT_SIGNING_KEYS: %w", err)
		}

		fileKeys, err := parseKeys(string(text))
		if err != nil {
			return nil, fmt.Errorf("JWT_SIGNING_KEYS: %s: %w", path, err)
		}

		keys = append(keys, fileKeys...)
	}

	if len(keys) == 0 {
		return nil, errors.New("JWT_SIGNING_KEYS: no key is given")
	}

	return newKeyring(keys)
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
	set := struct {
		Keys []jwk `json:"keys"`
	}{}

	for i, private := range keys {
		public := private.Public().(ed25519.PublicKey)
		kid := thumbprint(public)

		if i == 0 {
			ring.kid = kid
		}

		if _, dup := ring.public[kid]; dup {
			continue
		}

		ring.public[kid] = public
		ring.seeds = append(ring.seeds, private.Seed())
		set.Keys = append(set.Keys, jwk{
			KeyType: "OKP", Curve: "Ed25519", X: base64.RawURLEncoding.EncodeToString(public),
			KeyID: kid, Use: "sig", Algorithm: algEdDSA,
		})
	}

	var err error
	if ring.jwks, err = json.Marshal(set); err != nil {
		return nil, fmt.Errorf("encode key set: %w", err)
	}

	return ring, nil
}

// thumbprint is RFC 7638: SHA-256 over the required members, in this order and without white space.
func thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))

	return base64.RawURLEncoding.EncodeToString(sum[:])
}
