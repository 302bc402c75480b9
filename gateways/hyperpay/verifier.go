package hyperpay

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/models"
)

// The headers that prove a message, both in hexadecimal digits (hyperpay.docs.oppwa.com/webhooks).
const (
	HeaderVector = "X-Initialization-Vector"
	HeaderTag    = "X-Authentication-Tag"
)

const (
	keySize    = 32 // of AES-256
	vectorSize = 12
	tagSize    = 16
)

// Verifier opens messages with the keys of one webhook. It is safe for concurrent use.
type Verifier struct {
	keys []cipher.AEAD
	live bool
}

var _ gateways.WebhookVerifier = (*Verifier)(nil)

// NewVerifier makes a verifier that opens what any of the keys has closed; a key has 64 hexadecimal digits. When live, successes of a
// test system are refused. Without a key it is an error.
func NewVerifier(secrets []string, live bool) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("hyperpay: at least one webhook key is needed")
	}

	v := &Verifier{live: live}

	for _, s := range secrets {
		key, err := newKey(s)
		if err != nil {
			return nil, err
		}

		v.keys = append(v.keys, key)
	}

	return v, nil
}

// newKey reads a key. The error does not quote it.
func newKey(secret string) (cipher.AEAD, error) {
	raw, err := hex.DecodeString(secret)
	if err != nil || len(raw) != keySize {
		return nil, errors.New("hyperpay: a webhook key must have 64 hexadecimal digits")
	}

	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, errors.New("hyperpay: a webhook key is not usable")
	}

	return cipher.NewGCM(block)
}

// Headers implements gateways.WebhookVerifier.
func (*Verifier) Headers() []string { return []string{HeaderVector, HeaderTag} }

// Verify opens the body, which proves all of it, and only then reads it. The proof has no time: a message is recognized again by its id.
// Event.Body is what was received, so that it is as closed as it came: the key is needed to read it. Errors: INVALID_SIGNATURE,
// MALFORMED_REQUEST, VALIDATION_ERROR. An unknown type is no error: the event has that type, and nothing else.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time) (gateways.Event, error) {
	content, ok := v.open(h, body)
	if !ok {
		return gateways.Event{}, models.NewError(models.CodeInvalidSignature, "webhook.signature_missing")
	}

	event, err := parse(content, v.live, now)
	if err != nil {
		return gateways.Event{}, err
	}

	event.Body, event.Sealed = string(body), true
	event.Signature = strings.ToLower(HeaderVector) + ": " + h.Get(HeaderVector) + "\n" + strings.ToLower(HeaderTag) + ": " + h.Get(HeaderTag)

	return event, nil
}

// open decrypts with the first key that fits. GCM compares the tag in constant time.
func (v *Verifier) open(h http.Header, body []byte) ([]byte, bool) {
	vector, okVector := fromHex(h.Values(HeaderVector), vectorSize)
	tag, okTag := fromHex(h.Values(HeaderTag), tagSize)
	closed, okBody := closedContent(body)

	if !okVector || !okTag || !okBody {
		return nil, false
	}

	closed = append(closed, tag...)

	for _, key := range v.keys {
		if content, err := key.Open(nil, vector, closed, nil); err == nil {
			return content, true
		}
	}

	return nil, false
}

// fromHex reads a header that comes once and has a size.
func fromHex(values []string, size int) ([]byte, bool) {
	if len(values) != 1 || len(values[0]) != 2*size {
		return nil, false
	}

	return digits(values[0])
}

// digits reads hexadecimal digits in capitals or not, and never in both: so that a message has one form.
func digits(text string) ([]byte, bool) {
	if text != strings.ToUpper(text) && text != strings.ToLower(text) {
		return nil, false
	}

	raw, err := hex.DecodeString(text)

	return raw, err == nil
}

// closedContent takes both forms of the body: hexadecimal digits, or, with the webhook's setting Wrapper, JSON around them.
func closedContent(body []byte) ([]byte, bool) {
	text := string(body)

	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		var wrapper map[string]json.RawMessage // a struct would take the name in any case
		if json.Unmarshal(body, &wrapper) != nil || json.Unmarshal(wrapper["encryptedBody"], &text) != nil {
			return nil, false
		}
	}

	closed, ok := digits(text)

	return closed, ok && len(closed) > 0
}
