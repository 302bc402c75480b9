package config

import (
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"reflect"
	"strings"
)

// The values of the tag `secret`, which every field of type Secret or Secrets has (rules: input.secrets). They say what of it is compared
// with the secrets that are published with the source.
const (
	secretText    = "text"    // all of it
	secretAddress = "address" // the password in it
	secretPEM     = "pem"     // PEM text; the path of a file is none
)

// secretField is a secret of the settings.
type secretField struct {
	name   string // of its variable
	kind   string // the tag
	values []Secret
}

// secrets are all secrets of the settings, found by their types: a new one cannot be left out.
func (c Config) secrets() []secretField { return secretsOf(reflect.ValueOf(c), "") }

func secretsOf(v reflect.Value, prefix string) []secretField {
	var all []secretField

	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if !field.IsExported() {
			continue
		}

		name, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		found := secretField{name: prefix + name, kind: field.Tag.Get("secret")}

		switch secret := value.Interface().(type) {
		case Secret:
			found.values = []Secret{secret}
			all = append(all, found)
		case Secrets:
			found.values = secret
			all = append(all, found)
		default:
			if value.Kind() == reflect.Struct {
				all = append(all, secretsOf(value, prefix+field.Tag.Get("envPrefix"))...)
			}
		}
	}

	return all
}

// checkSecrets refuses published secrets in production, whatever they are for.
func (c Config) checkSecrets(p *problems) {
	if c.App.Env != Production {
		return
	}

	for _, s := range c.secrets() {
		for _, value := range s.values {
			if compared := s.compared(value); isPublished(compared) || s.kind == secretAddress && compared == "password" {
				p.addf("%s has a secret that is published with the source, which production refuses", s.name)

				break
			}
		}
	}
}

// compared is what of a value is compared.
func (s secretField) compared(value Secret) string {
	text := value.Reveal()

	switch {
	case s.kind == secretPEM && !strings.HasPrefix(text, "-----BEGIN"):
		return ""
	case s.kind != secretAddress:
		return text
	}

	u, err := url.Parse(text)
	if err != nil {
		return text
	}

	password, _ := u.User.Password()

	return password
}

// decodings are the texts that a secret may be the base64 of: after a prefix of webhook secrets or a key's id, or as PEM.
func decodings(secret string) []string {
	texts := []string{secret}

	candidates := []string{strings.TrimPrefix(secret, webhookSecretPrefix)}
	if _, key, ok := strings.Cut(secret, ":"); ok {
		candidates = append(candidates, key)
	}

	for _, candidate := range candidates {
		if decoded, err := base64.StdEncoding.DecodeString(candidate); err == nil {
			texts = append(texts, string(decoded))
		}
	}

	if block, _ := pem.Decode([]byte(secret)); block != nil {
		texts = append(texts, string(block.Bytes))
	}

	return texts
}

// foreignSecrets are those that libraries read themselves (Temporal's SDK, that of the media store).
var foreignSecrets = []string{"TEMPORAL_API_KEY", "AWS_SECRET_ACCESS_KEY"}

// CheckForeign compares the secrets that libraries read from the environment with the published ones, as checkSecrets does with ours.
func (c Config) CheckForeign(environ map[string]string) error {
	if c.App.Env != Production {
		return nil
	}

	var p problems

	for _, name := range foreignSecrets {
		if isPublished(environ[name]) {
			p.addf("%s has a secret that is published with the source, which production refuses", name)
		}
	}

	return p.err()
}
