package stripe

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"rihla/gateways"
	"rihla/models"
)

const (
	// HeaderSignature proves a message: t=…,v1=…[,v1=…] (docs.stripe.com/webhooks).
	HeaderSignature = "Stripe-Signature"
	// tolerance is how old a signature may be, and how far ahead of our clock: the SDK lets any future pass.
	tolerance = webhook.DefaultTolerance
	// secretPrefix begins every signing secret.
	secretPrefix = "whsec_"
	minSecret    = 16
)

// Verifier reads the company's webhooks. It is safe for concurrent use.
type Verifier struct {
	secrets []string
	live    bool
}

var _ gateways.WebhookVerifier = (*Verifier)(nil)

// NewVerifier makes a verifier that takes messages signed with any of the secrets, several while one replaces another. mode is that of the
// account's key (Mode): messages of the other one are refused. Its errors name the position of a secret, never the secret.
func NewVerifier(secrets []string, mode gateways.Mode) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("stripe: at least one signing secret is needed")
	}

	if mode != gateways.ModeTest && mode != gateways.ModeLive {
		return nil, errors.New("stripe: the mode must be test or live")
	}

	for i, secret := range secrets {
		if !strings.HasPrefix(secret, secretPrefix) || len(secret) < len(secretPrefix)+minSecret ||
			strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("stripe: signing secret %d of %d must be as the company shows it: %s and at least %d characters",
				i+1, len(secrets), secretPrefix, minSecret)
		}
	}

	return &Verifier{secrets: append([]string(nil), secrets...), live: mode == gateways.ModeLive}, nil
}

// String hides the secrets from logs and error messages.
func (v *Verifier) String() string {
	return fmt.Sprintf("stripe verifier of %d secrets", len(v.secrets))
}

// GoString hides the secrets from %#v.
func (v *Verifier) GoString() string { return v.String() }

// Headers implements gateways.WebhookVerifier.
func (*Verifier) Headers() []string { return []string{HeaderSignature} }

// Verify checks the signature and its age, and only then reads the body. Errors: INVALID_SIGNATURE, MALFORMED_REQUEST, TOO_MANY_MEMBERS,
// VALIDATION_ERROR. An unknown type is no error: the event has that type, and nothing else.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time) (gateways.Event, error) {
	header, ok := v.signed(h, body, now)
	if !ok {
		return gateways.Event{}, models.NewError(models.CodeInvalidSignature, "webhook.signature_old")
	}

	event, err := parse(body, v.live)
	if err != nil {
		return gateways.Event{}, err
	}

	event.Body, event.Signature = string(body), strings.ToLower(HeaderSignature)+": "+header

	return event, nil
}

// signed compares with every secret. The time is that of the header, and part of what is signed.
func (v *Verifier) signed(h http.Header, body []byte, now time.Time) (header string, ok bool) {
	values := h.Values(HeaderSignature)
	if len(values) != 1 || !isFresh(values[0], now) {
		return "", false
	}

	for _, secret := range v.secrets {
		ok = webhook.ValidatePayloadIgnoringTolerance(body, values[0], secret) == nil || ok
	}

	return values[0], ok
}

// isFresh looks for the one time of the header. A second one would be another than the one that the SDK checks.
func isFresh(header string, now time.Time) bool {
	var at time.Time

	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name != "t" {
			continue
		}

		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || !at.IsZero() || strconv.FormatInt(seconds, 10) != value {
			return false
		}

		at = time.Unix(seconds, 0)
	}

	return !at.IsZero() && now.Sub(at).Abs() <= tolerance
}
