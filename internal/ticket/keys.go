// Package ticket makes the tickets of bookings: a signed token per passenger that is verified without a network, the page and the PDF that
// show it, the link in a mail that opens them, and the passenger list of a trip. It knows no database.
package ticket

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"

	"rihla/internal/auth"
)

// Keys sign tickets and links. The first signs, all of them verify: a new key is put in front, and the old one leaves when the last trip
// of its tickets is over. They are immutable.
type Keys struct {
	signing ed25519.PrivateKey
	kid     string
	public  map[string]ed25519.PublicKey
	order   []ed25519.PublicKey
	links   [][]byte // a secret of each key, the signing one's first
}

// linkPurpose keeps the secrets of links apart from other uses of the keys.
const linkPurpose = "rihla ticket links v1"

// LoadKeys reads TICKET_SIGNING_KEYS, as auth.LoadKeys does.
func LoadKeys(source string) (*Keys, error) {
	keys, err := auth.LoadKeys("TICKET_SIGNING_KEYS", source)
	if err != nil {
		return nil, err
	}

	return NewKeys(keys...)
}

// NewKeys makes keys of private ones, the signing one first.
func NewKeys(private ...ed25519.PrivateKey) (*Keys, error) {
	if len(private) == 0 {
		return nil, errors.New("ticket: a signing key is needed")
	}

	k := &Keys{signing: private[0], public: make(map[string]ed25519.PublicKey, len(private))}

	for i, key := range private {
		public := ed25519.PublicKey(key[ed25519.SeedSize:])
		kid := auth.KeyID(public)

		if i == 0 {
			k.kid = kid
		}

		if _, twice := k.public[kid]; twice {
			continue
		}

		secret, err := hkdf.Key(sha256.New, key.Seed(), nil, linkPurpose, sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("derive the secret of links: %w", err)
		}

		k.public[kid] = public
		k.order, k.links = append(k.order, public), append(k.links, secret)
	}

	return k, nil
}

// Public are the public keys, the signing one first: all that a verifier without a network needs.
func (k *Keys) Public() []ed25519.PublicKey { return k.order }
