package codec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// keySize is that of AES-256, in bytes.
const keySize = 32

// minDistinct is how many different bytes a key has at least: 32 random ones have about 30, typed ones may not.
const minDistinct = 8

// Key is one encryption key. Printing or logging it shows its name only.
type Key struct {
	ID     string
	secret []byte
}

// String is the key's name.
func (k Key) String() string { return k.ID }

// Format keeps every verb, %#v included, from showing more than the name.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.ID) }

// keyID is what a key may be called: it stands in every payload, in plain text.
var keyID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// plain in front of the keys has nothing encrypted, while all of them decrypt: the step before encryption is switched on,
// and the one before it is off for good. Behind them it has what is in plain text taken still, while all that is new is
// encrypted. Where it does not stand, what is in plain text is refused.
const plain = "plain"

func (k Key) isPlain() bool { return k.secret == nil }

// ParseKeys reads keys, each `id:base64 of 32 bytes`, newest first; the first or the last may be `plain`. Its errors show no
// key.
func ParseKeys(texts []string) ([]Key, error) {
	keys := make([]Key, 0, len(texts))
	known := map[string]bool{}

	for i, text := range texts {
		if text == plain && (i == 0 || i == len(texts)-1) && !known[plain] {
			known[plain] = true

			keys = append(keys, Key{ID: plain})

			continue
		}

		id, encoded, _ := strings.Cut(text, ":")
		secret, err := base64.StdEncoding.DecodeString(encoded)

		switch {
		case !keyID.MatchString(id) || id == plain || err != nil || len(secret) != keySize:
			return nil, errors.New("has an entry that is not an id, a colon and the base64 of 32 bytes (`rihla codec new-key ID` makes one)")
		case isMonotonous(secret):
			return nil, fmt.Errorf("has a weak key %s (32 random bytes are needed; `rihla codec new-key ID` makes them)", id)
		case known[id]:
			return nil, fmt.Errorf("names the key %s twice", id)
		}

		known[id] = true

		keys = append(keys, Key{ID: id, secret: secret})
	}

	return keys, nil
}

// NewKey is a fresh random key as ParseKeys reads it. Error: the id is none.
func NewKey(id string) (string, error) {
	if !keyID.MatchString(id) || id == plain {
		return "", errors.New("a key's id is up to 64 letters, digits, dots, hyphens and underscores, and not `plain`")
	}

	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // never fails

	return id + ":" + base64.StdEncoding.EncodeToString(secret), nil
}

// aead encrypts with a random nonce that stands in front of the text. By NIST SP 800-38D one key is good for 2^32
// payloads; a paid payment has about 40.
func (k Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.secret)
	if err != nil {
		return nil, fmt.Errorf("codec: key %s: %w", k.ID, err)
	}

	return cipher.NewGCMWithRandomNonce(block)
}

func isMonotonous(b []byte) bool {
	distinct := map[byte]struct{}{}
	for _, c := range b {
		distinct[c] = struct{}{}
	}

	return len(distinct) < minDistinct
}
