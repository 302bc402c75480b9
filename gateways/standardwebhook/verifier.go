package standardwebhook

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/models"
)

// tolerance is how far webhook-timestamp may be from now, either way (rules: webhooks.signature).
const tolerance = 5 * time.Minute

// Verifier checks signatures with the secrets of one channel and reads the body. It is safe for concurrent use.
type Verifier struct {
	secrets []Secret
}

var _ gateways.WebhookVerifier = (*Verifier)(nil)

// New makes a verifier that accepts a signature by any of the secrets. Without a secret it is an error:
// a channel that cannot check signatures must not be open.
func New(secrets []Secret) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("standardwebhook: at least one secret is needed")
	}

	return &Verifier{secrets: append([]Secret(nil), secrets...)}, nil
}

// Headers implements gateways.WebhookVerifier.
func (*Verifier) Headers() []string { return []string{HeaderID, HeaderTimestamp, HeaderSignature} }

// Verify checks the signature over id, timestamp and body, then the age, and only then reads the body.
// Errors: INVALID_SIGNATURE, MALFORMED_REQUEST, VALIDATION_ERROR. An unknown type is no error:
// the event has that type and whatever of the body could be read.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time) (gateways.Event, error) {
	if !v.signed(h, body) {
		return gateways.Event{}, models.NewError(models.CodeInvalidSignature, "webhook.signature_missing")
	}

	// The age is ours to check: the library compares with the machine's clock only.
	if !fresh(h.Get(HeaderTimestamp), now) {
		return gateways.Event{}, models.NewError(models.CodeInvalidSignature, "webhook.timestamp_off")
	}

	event, err := parse(h.Get(HeaderID), body)
	event.Body, event.Signature = string(body), proof(h)

	return event, err
}

// proof keeps what a later check of the body needs beside it and the id. Among several signatures of a header may be some of
// schemes that are not known here; what is not printable ASCII is none of them and is left out.
func proof(h http.Header) string {
	signatures := slices.DeleteFunc(strings.Fields(h.Get(HeaderSignature)), func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
	})

	return strings.ToLower(HeaderTimestamp) + ": " + h.Get(HeaderTimestamp) + "\n" +
		strings.ToLower(HeaderSignature) + ": " + strings.Join(signatures, " ")
}

func (v *Verifier) signed(h http.Header, body []byte) bool {
	for _, s := range v.secrets {
		if s.webhook.VerifyIgnoringTimestamp(body, h) == nil {
			return true
		}
	}

	return false
}

func fresh(timestamp string, now time.Time) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}

	// Compared in seconds: a hostile timestamp could overflow a time.Duration.
	limit, at := int64(tolerance/time.Second), now.Unix()

	return seconds >= at-limit && seconds <= at+limit
}
