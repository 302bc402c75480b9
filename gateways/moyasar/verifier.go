package moyasar

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/models"
)

// minSecret is the shortest secret token, in characters. It is the only proof of a message, and is sent with each of them.
const minSecret = 16

// proven is Event.Signature: the body is kept without the token that was compared.
const proven = "secret_token: verified"

// Verifier reads the company's webhooks. They are not signed: the token in the body proves that the sender knows it, and nothing
// about the rest of the body, which anyone who saw one message can write. Every event is therefore a hint (Event.Hint). It is safe
// for concurrent use.
type Verifier struct {
	digests [][sha256.Size]byte
	secrets []string
	live    bool
}

var _ gateways.WebhookVerifier = (*Verifier)(nil)

// NewVerifier makes a verifier that takes a message with any of the secret tokens, several while one replaces another. mode is that
// of the account's key (Mode): messages of the other one are refused. Its errors name the position of a token, never the token.
func NewVerifier(secrets []string, mode gateways.Mode) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("moyasar: at least one secret token is needed")
	}

	if mode != gateways.ModeTest && mode != gateways.ModeLive {
		return nil, errors.New("moyasar: the mode must be test or live")
	}

	v := &Verifier{secrets: append([]string(nil), secrets...), live: mode == gateways.ModeLive}

	for i, secret := range secrets {
		if len(secret) < minSecret {
			return nil, fmt.Errorf("moyasar: secret token %d of %d must have at least %d characters", i+1, len(secrets), minSecret)
		}

		if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("moyasar: secret token %d of %d must be printable ASCII without spaces", i+1, len(secrets))
		}

		v.digests = append(v.digests, sha256.Sum256([]byte(secret)))
	}

	return v, nil
}

// String hides the tokens from logs and error messages.
func (v *Verifier) String() string {
	return fmt.Sprintf("moyasar verifier of %d tokens", len(v.secrets))
}

// GoString hides the tokens from %#v.
func (v *Verifier) GoString() string { return v.String() }

// Headers implements gateways.WebhookVerifier: none proves anything.
func (*Verifier) Headers() []string { return nil }

// Verify compares the token of the body, and only then reads the rest. Errors: INVALID_SIGNATURE, also for a body in which no token
// can be found, MALFORMED_REQUEST, TOO_MANY_MEMBERS, VALIDATION_ERROR. A type that the company does not document is no error: the
// event has it, and whatever of the body could be read.
func (v *Verifier) Verify(_ http.Header, body []byte, _ time.Time) (gateways.Event, error) {
	where, text, found := findToken(body)
	if !found || !v.knows(text) {
		return gateways.Event{}, models.NewError(models.CodeInvalidSignature, "webhook.secret_token")
	}

	kept := string(body[:where.start]) + "null" + string(body[where.end:])

	event, err := parse([]byte(kept), v.live, v.secrets)
	if err != nil {
		return gateways.Event{}, err
	}

	event.Hint, event.Body, event.Signature = true, kept, proven

	return event, nil
}

// knows compares digests in constant time, with every secret.
func (v *Verifier) knows(token string) bool {
	sum, known := sha256.Sum256([]byte(token)), 0

	for i := range v.digests {
		known |= subtle.ConstantTimeCompare(sum[:], v.digests[i][:])
	}

	return known == 1
}
