package auth

import (
	"crypto/sha256"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxVerified bounds the tokens that are remembered: a few MiB.
const maxVerified = 16 << 10

// verifiedTokens remembers our own tokens whose signature and claims were found right, by the hash of all their bytes: a customer's page
// sends the same one again and again, and checking an Ed25519 signature is a fifth of what a poll costs. Our keys are those of the
// process, so that what was right once is right until the token expires; whether the account still stands is asked each time all the
// same (Gate). Keys of other issuers come and go, and their tokens are not remembered. It is safe for concurrent use.
type verifiedTokens struct {
	tokens *lru.Cache[[sha256.Size]byte, verifiedToken]
}

type verifiedToken struct {
	principal Principal
	expires   time.Time
}

func newVerifiedTokens() (verifiedTokens, error) {
	tokens, err := lru.New[[sha256.Size]byte, verifiedToken](maxVerified)

	return verifiedTokens{tokens}, err
}

// find is whom a token speaks for that was verified before and has not expired.
func (v verifiedTokens) find(hash [sha256.Size]byte) (Principal, bool) {
	known, ok := v.tokens.Get(hash)
	if !ok {
		return Principal{}, false
	}

	if !time.Now().Before(known.expires) {
		v.tokens.Remove(hash)

		return Principal{}, false
	}

	return known.principal, true
}

func (v verifiedTokens) add(hash [sha256.Size]byte, p Principal, expires time.Time) {
	v.tokens.Add(hash, verifiedToken{principal: p, expires: expires})
}
