package ticket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/google/uuid"

	"rihla/models"
)

// LinkTo is the address, below the API's, at which the ticket of a booking opens without signing in. It has the booking's id and nothing
// of a person.
func (k *Keys) LinkTo(booking uuid.UUID) string { return models.TicketPath + k.Link(booking) }

// Link is what stands behind models.TicketPath.
func (k *Keys) Link(booking uuid.UUID) string {
	return base64.RawURLEncoding.EncodeToString(append(booking[:], authenticate(k.links[0], booking)...))
}

// OpenLink is the booking of a link, if one of the keys has made it.
func (k *Keys) OpenLink(link string) (booking uuid.UUID, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(link)
	if err != nil || len(raw) != len(booking)+sha256.Size {
		return uuid.Nil, false
	}

	copy(booking[:], raw)

	for _, secret := range k.links {
		// Every secret is tried, and in constant time: an answer's duration tells nothing of them.
		ok = hmac.Equal(raw[len(booking):], authenticate(secret, booking)) || ok
	}

	if !ok {
		return uuid.Nil, false
	}

	return booking, true
}

func authenticate(secret []byte, booking uuid.UUID) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(booking[:])

	return mac.Sum(nil)
}
