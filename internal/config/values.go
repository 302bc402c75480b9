package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"rihla/models"
)

const redacted = "[redacted]"

// Secret is a value that is never shown: formatting, logging and marshalling it give "[redacted]", whatever the
// verb. Reveal is the one way to the text.
type Secret string

// Reveal is the secret's text.
func (s Secret) Reveal() string { return string(s) }

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s != "" }

// String is "[redacted]", or empty when there is no value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}

	return redacted
}

// Format keeps every fmt verb, %x and %#v included, from showing the text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps JSON, YAML and the like from showing the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Secrets are several secrets of one purpose, newest first.
type Secrets []Secret

// UnmarshalText reads a comma-separated list.
func (s *Secrets) UnmarshalText(b []byte) error {
	*s = nil

	for part := range strings.SplitSeq(string(b), ",") {
		if p := strings.TrimSpace(part); p != "" {
			*s = append(*s, Secret(p))
		}
	}

	return nil
}

// Reveal is the texts, newest first.
func (s Secrets) Reveal() []string {
	texts := make([]string, len(s))
	for i, secret := range s {
		texts[i] = secret.Reveal()
	}

	return texts
}

// devMark is in every secret that is published with the source, so that production can refuse them all.
const devMark = "rihla-dev"

// DevAPIKey is the gateway key that development uses when none is set; refused in production.
const DevAPIKey Secret = devMark + "-gateway-api-key"

// DevWebhookSecret is the channel's secret that development uses when none is set; refused in production.
func DevWebhookSecret(c models.Channel) Secret {
	return Secret(webhookSecretPrefix + base64.StdEncoding.EncodeToString([]byte(devMark+"-webhook-secret-"+string(c))))
}

// Environment is what the process runs for.
type Environment string

// The environments of APP_ENV.
const (
	Development Environment = "development"
	Production  Environment = "production"
)

// UnmarshalText refuses anything but the two names, so that a typing error never loosens production.
func (e *Environment) UnmarshalText(b []byte) error { return oneOf(e, b, Development, Production) }

// FailurePolicy says what a booking's first failed attempt means (rules: bookings.failure).
type FailurePolicy string

// The policies of BOOKING_FAILURE_POLICY.
const (
	RetryUntilHoldEnds FailurePolicy = "retry_until_hold_ends"
	FailAtOnce         FailurePolicy = "fail_at_once"
)

// UnmarshalText accepts the two names.
func (p *FailurePolicy) UnmarshalText(b []byte) error {
	return oneOf(p, b, RetryUntilHoldEnds, FailAtOnce)
}

// SMSDriver is how text messages leave.
type SMSDriver string

// The drivers of SMS_DRIVER.
const (
	SMSFile SMSDriver = "file"
	SMSHTTP SMSDriver = "http"
)

// UnmarshalText accepts the names of the drivers.
func (d *SMSDriver) UnmarshalText(b []byte) error { return oneOf(d, b, SMSFile, SMSHTTP) }

func oneOf[T ~string](dst *T, b []byte, allowed ...T) error {
	if !slices.Contains(allowed, T(b)) {
		return fmt.Errorf("must be one of %v", allowed)
	}

	*dst = T(b)

	return nil
}

// AnyOrigin is the origin that means all of them.
const AnyOrigin = "*"

// LocalOrigins is the word for all pages that come from this machine, whatever their port: http:// and https:// on localhost,
// 127.0.0.1 and [::1].
const LocalOrigins = "localhost"

// Origins are those of web pages, each as browsers write it: scheme://host, or scheme://host:port when the port is not
// the scheme's own; or LocalOrigins. AnyOrigin stands alone.
type Origins []string

// UnmarshalText reads a comma-separated list. An origin that no browser would ever send is refused: it could only be a mistake.
func (o *Origins) UnmarshalText(b []byte) error {
	var origins Origins

	for part := range strings.SplitSeq(string(b), ",") {
		origin := strings.TrimSpace(part)
		if origin != AnyOrigin && origin != LocalOrigins && !isOrigin(origin) {
			return fmt.Errorf("has %q, which is no origin such as https://app.example.com (lower case, no path)", origin)
		}

		origins = append(origins, origin)
	}

	if len(origins) > 1 && slices.Contains(origins, AnyOrigin) {
		return errors.New("has * beside other origins")
	}

	*o = origins

	return nil
}

func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.Contains(u.Host, AnyOrigin) {
		return false
	}

	own := map[string]string{"https": "443", "http": "80"}[u.Scheme]

	return own != "" && u.Port() != own && !strings.HasSuffix(u.Host, ":") &&
		text == u.Scheme+"://"+u.Host && text == strings.ToLower(text) && isASCII(text)
}

// isASCII: browsers send the xn-- form of other host names.
func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// JWKSSource is an external issuer of tokens: the exact `iss` its tokens carry and where its keys are.
type JWKSSource struct {
	Issuer string
	URL    string
}

// JWKSSources are the external issuers, each named once.
type JWKSSources []JWKSSource

// UnmarshalText reads comma-separated entries. An entry is `<issuer>=<url>`, or a URL alone whose issuer is the part
// before `/.well-known/`. Keys travel over https, except from this machine.
func (s *JWKSSources) UnmarshalText(b []byte) error {
	var sources JWKSSources

	for part := range strings.SplitSeq(string(b), ",") {
		source, err := parseJWKSSource(strings.TrimSpace(part))
		if err != nil {
			return err
		}

		if slices.ContainsFunc(sources, func(o JWKSSource) bool { return o.Issuer == source.Issuer }) {
			return fmt.Errorf("names the issuer %q twice", source.Issuer)
		}

		sources = append(sources, source)
	}

	*s = sources

	return nil
}

func parseJWKSSource(text string) (JWKSSource, error) {
	source := JWKSSource{URL: text}

	if at := max(strings.Index(text, "=https://"), strings.Index(text, "=http://")); at >= 0 {
		source = JWKSSource{Issuer: text[:at], URL: text[at+1:]}
	} else if issuer, _, ok := strings.Cut(text, "/.well-known/"); ok {
		source.Issuer = issuer
	}

	if source.Issuer == "" {
		return JWKSSource{}, errors.New("needs <issuer>=<url>, because the URL has no /.well-known/ to tell the issuer by")
	}

	u, err := url.Parse(source.URL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname()))) {
		return JWKSSource{}, errors.New("needs https:// URLs")
	}

	return source, nil
}
