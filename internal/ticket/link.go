package ticket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"

	"github.com/google/uuid"

	"rihla/models"
)

// LinkTo is the address, below the API's, at which the ticket of a booking opens without signing in. It has the booking's id and nothing
// of a person.
func (k *Keys) LinkTo(booking uuid.UUID) string {
	signature := base64.RawURLEncoding.EncodeToString(authenticate(k.links[0], booking))

	return models.TicketPath + booking.String() + "?" + url.Values{"signature": {signature}}.Encode()
}

// Opens reports whether the signature of a link is that of one of the keys.
func (k *Keys) Opens(booking uuid.UUID, signature string) bool {
	given, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil {
		return false
	}

	ok := false
	for _, secret := range k.links {
		// Every secret is tried, and in constant time: an answer's duration tells nothing of them.
		ok = hmac.Equal(given, authenticate(secret, booking)) || ok
	}

	return ok
}

func authenticate(secret []byte, booking uuid.UUID) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(booking[:])

	return mac.Sum(nil)
}
