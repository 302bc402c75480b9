package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

const sealKeyBytes = 32

// Sealer encrypts the secrets of second factors for the database (AES-256-GCM), each bound to its account. It is safe for concurrent use.
type Sealer struct {
	keys []cipher.AEAD // the first seals
}

// NewSealer reads keys, newest first, each base64 of 32 bytes. Behind them come keys that are derived from those that sign tokens, each
// for itself: they seal where there are no others, and open what they have sealed before there were.
func NewSealer(keys []string, ring *Keyring) (*Sealer, error) {
	s := &Sealer{}

	for i, text := range keys {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(key) != sealKeyBytes {
			return nil, fmt.Errorf("key %d is not the base64 of %d bytes", i+1, sealKeyBytes)
		}

		if err := s.add(key); err != nil {
			return nil, err
		}
	}

	for _, seed := range ring.seeds {
		key, err := hkdf.Key(sha256.New, seed, nil, "rihla second factors", sealKeyBytes)
		if err != nil {
			return nil, fmt.Errorf("derive key: %w", err)
		}

		if err := s.add(key); err != nil {
			return nil, err
		}
	}

	return s, nil
}

func (s *Sealer) add(key []byte) error {
	block, err := aes.NewCipher(key)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}

	aead, err := cipher.NewGCM(block)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}

	s.keys = append(s.keys, aead)

	return nil
}

// Seal encrypts a secret of an account.
func (s *Sealer) Seal(account uuid.UUID, secret string) []byte {
	nonce := make([]byte, s.keys[0].NonceSize())
	_, _ = rand.Read(nonce) // never fails: the runtime stops the process instead

	return s.keys[0].Seal(nonce, nonce, []byte(secret), account[:])
}

// Open decrypts what Seal has made for the account, by whichever of the keys. again is the secret as the first key seals it, nil when
// that is the one that has opened it.
func (s *Sealer) Open(account uuid.UUID, sealed []byte) (secret string, again []byte, err error) {
	for i, key := range s.keys {
		if len(sealed) < key.NonceSize() {
			break
		}

		plain, err := key.Open(nil, sealed[:key.NonceSize()], sealed[key.NonceSize():], account[:])
		if err != nil {
			continue
		}

		if i > 0 {
			again = s.Seal(account, string(plain))
		}

		return string(plain), again, nil
	}

	return "", nil, errors.New("none of the keys opens the secret of a second factor")
}
