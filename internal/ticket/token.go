package ticket

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"rihla/internal/auth"
)

const (
	// tokenType is the `typ` of tickets: no access token is one, and no ticket an access token.
	tokenType = "ticket"
	// keptFor is how long after the return a ticket expires: its trip may be moved after it was issued.
	keptFor = 30 * 24 * time.Hour
	// maxName bounds the name in a token, in characters, so that its code stays easy to scan.
	maxName = 60
)

// ErrInvalid is the one answer to a token that is none of ours, was changed, or has expired.
var ErrInvalid = errors.New("ticket: invalid token")

// Claims is what a ticket says of one passenger, and all that it says. The name is printed beside the code.
type Claims struct {
	BookingNumber string    `json:"bn"`
	Passenger     uuid.UUID `json:"pid"`
	Position      int       `json:"pos"` // in the booking, from 1
	Name          string    `json:"name"`
	Trip          uuid.UUID `json:"trip"`
	Seats         int       `json:"seats"` // of the booking
	Expires       time.Time `json:"-"`
}

// signed is the form of claims in a token.
type signed struct {
	Claims

	jwt.RegisteredClaims
}

// Sign makes the token of a passenger, a compact JWS. The same claims give the same token.
func (k *Keys) Sign(c Claims) (string, error) {
	if name := []rune(c.Name); len(name) > maxName {
		c.Name = string(name[:maxName])
	}

	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, signed{c, jwt.RegisteredClaims{ExpiresAt: jwt.NewNumericDate(c.Expires)}})
	t.Header["typ"], t.Header["kid"] = tokenType, k.kid

	token, err := t.SignedString(k.signing)
	if err != nil {
		return "", fmt.Errorf("sign ticket: %w", err)
	}

	return token, nil
}

// Verify reads a token that was shown at a moment. Error: ErrInvalid, whatever is wrong.
func (k *Keys) Verify(token string, at time.Time) (Claims, error) { return Verify(k.order, token, at) }

// Verify is Keys.Verify by public keys alone: what a telephone without a network does.
func Verify(keys []ed25519.PublicKey, token string, at time.Time) (Claims, error) {
	known := make(map[string]ed25519.PublicKey, len(keys))
	for _, key := range keys {
		known[auth.KeyID(key)] = key
	}

	var c signed

	_, err := jwt.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)

		key, ok := known[kid]
		if !ok || t.Header["typ"] != tokenType {
			return nil, ErrInvalid
		}

		return key, nil
	}, jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithExpirationRequired(), jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(func() time.Time { return at }))
	if err != nil || c.Passenger == uuid.Nil || c.Trip == uuid.Nil {
		return Claims{}, ErrInvalid
	}

	c.Expires = c.ExpiresAt.Time

	return c.Claims, nil
}
