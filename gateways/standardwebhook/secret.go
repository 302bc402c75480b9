// Package standardwebhook signs and verifies webhooks of the Standard Webhooks specification
// (rules: webhooks.signature): it turns a signed request into a gateways.Event.
package standardwebhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The headers of the specification, in the spelling under which net/http keeps them.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const (
	secretPrefix = "whsec_"
	// minSecretBytes is the specification's lower bound: 192 bits.
	minSecretBytes = 24
)

// Secret is one shared signing key. It never prints itself.
type Secret struct {
	webhook *standardwebhooks.Webhook
}

// String hides the key from logs and error messages.
func (Secret) String() string { return secretPrefix + "…" }

// GoString hides the key from %#v.
func (s Secret) GoString() string { return s.String() }

// ParseSecrets reads a comma-separated list of `whsec_` + base64 of at least 24 bytes, newest first
// (rules: webhooks.signature). Several are for key rotation. Its errors name the position, never the value.
func ParseSecrets(list string) ([]Secret, error) {
	parts := strings.Split(list, ",")
	secrets := make([]Secret, 0, len(parts))

	for i, part := range parts {
		s, err := parseSecret(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("secret %d of %d: %w", i+1, len(parts), err)
		}

		secrets = append(secrets, s)
	}

	return secrets, nil
}

func parseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return Secret{}, errors.New("must begin with " + secretPrefix)
	}

	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Secret{}, errors.New("must be base64 after " + secretPrefix)
	}

	if len(key) < minSecretBytes {
		return Secret{}, fmt.Errorf("is too short: %d bytes, at least %d are needed", len(key), minSecretBytes)
	}

	webhook, err := standardwebhooks.NewWebhookRaw(key)
	if err != nil {
		return Secret{}, fmt.Errorf("cannot be used: %w", err)
	}

	return Secret{webhook: webhook}, nil
}

// Sign makes the value of the webhook-signature header: one signature per secret, so that the receiver
// may hold the old or the new one while keys are rotated.
func Sign(secrets []Secret, id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, 0, len(secrets))

	for _, s := range secrets {
		signature, err := s.webhook.Sign(id, at, body)
		if err != nil {
			return "", fmt.Errorf("sign webhook: %w", err)
		}

		signatures = append(signatures, signature)
	}

	return strings.Join(signatures, " "), nil
}
