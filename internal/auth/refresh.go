package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
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
