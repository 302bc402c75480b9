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
)

// refreshTokenBytes is 256 bits: nothing to guess, so that a plain SHA-256 is enough to store.
const refreshTokenBytes = 32

// NewRefreshToken makes a random token: its text for the client (43 characters of base64url) and the hash to store.
func NewRefreshToken() (plaintext string, hash []byte) {
	b := make([]byte, refreshTokenBytes)
	_, _ = rand.Read(b) // never fails: the runtime stops the process instead

	plaintext = base64.RawURLEncoding.EncodeToString(b)

	return plaintext, HashRefreshToken(plaintext)
}

// HashRefreshToken is what is stored of a refresh token: 32 bytes.
func HashRefreshToken(plaintext string) []byte {
	sum := sha256.Sum256([]byte(plaintext))

	return sum[:]
}

// A refresh token that is spent keeps its successor, sealed by a key that comes from the spent token itself: what the database holds opens
// with that token alone, and a client that has lost the answer gets the same successor once more.

// SealSuccessor encrypts the token that follows spent.
func SealSuccessor(spent, next string) ([]byte, error) {
	aead, err := successorKey(spent)
	if err != nil {
		return nil, err
	}

	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce)

	return aead.Seal(nonce, nonce, []byte(next), nil), nil
}

// OpenSuccessor is what SealSuccessor has sealed.
func OpenSuccessor(spent string, sealed []byte) (string, error) {
	aead, err := successorKey(spent)
	if err != nil {
		return "", err
	}

	if len(sealed) < aead.NonceSize() {
		return "", errors.New("open successor: too short")
	}

	next, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], nil)
	if err != nil {
		return "", fmt.Errorf("open successor: %w", err)
	}

	return string(next), nil
}

func successorKey(spent string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(spent), nil, "rihla successor of a refresh token", sealKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}

	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}

	return cipher.NewGCM(block)
}
