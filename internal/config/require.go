package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rihla/models"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	webhookSecretPrefix = "whsec_"
	minWebhookSecret    = 24 // bytes, from the Standard Webhooks specification
	minAPIKey           = 16 // characters
	minDistinct         = 5  // different bytes; random secrets have many more, typed ones may not
	sandboxDriver       = "sandbox"
)

// problems collects what is wrong, in the order in which it was looked at.
type problems []string

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// Error is one sentence that names every variable concerned.
func (p problems) Error() string { return "configuration: " + strings.Join(p, "; ") }

// err is what was found, or nil.
func (p *problems) err() error {
	if len(*p) == 0 {
		return nil
	}

	return *p
}

// Join makes one error of what several checks of the settings have found, so that all of it is seen at the first start. A problem
// that two of them have found is named once.
func Join(found ...error) error {
	var all problems

	for _, err := range found {
		if err == nil {
			continue
		}

		texts, ok := errors.AsType[problems](err)
		if !ok {
			texts = problems{err.Error()}
		}

		for _, text := range texts {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}

	return all.err()
}

// Problem is one thing that is wrong with the settings, for Join.
func Problem(format string, args ...any) error { return problems{fmt.Sprintf(format, args...)} }

// RequireDatabase says what is missing for a command that only needs the database (migrate, user, audit).
func (c Config) RequireDatabase() error {
	var p problems
	c.checkDatabase(&p)

	return p.err()
}

// RequireAPI says what is missing or weak for the API.
func (c Config) RequireAPI() error {
	var p problems
	c.checkDatabase(&p)
	c.checkTokens(&p)
	c.checkTickets(&p)
	c.checkWebhooks(&p)
	c.checkMedia(&p)
	c.checkRedisSafety(&p)
	c.checkSecrets(&p)

	if c.App.Env == Production {
		c.checkExposure(&p)
		c.checkDriversOfAPI(&p)
	}

	return p.err()
}

// checkDriversOfAPI: the API verifies the webhooks of the companies that the worker calls, and has to know which they are.
func (c Config) checkDriversOfAPI(p *problems) {
	for _, account := range c.Gateways.Accounts() {
		if c.Gateways.For(account).Driver == sandboxDriver {
			p.addf("%s_DRIVER must name a real gateway in production, not the sandbox", variable(account))
		}
	}
}

// checkExposure is what production demands of the way clients come in (rules: input.https): TLS all the way to a proxy that we
// believe when it says so, and no page of just anybody.
func (c Config) checkExposure(p *problems) {
	if !strings.HasPrefix(c.App.PublicURL, "https://") {
		p.addf("PUBLIC_URL must be an https:// address in production")
	}

	if len(c.HTTP.TrustedProxies) == 0 {
		p.addf("TRUSTED_PROXIES is missing (the proxy that speaks https for the API; without it every request would be redirected to itself)")
	}

	c.checkProxies(p)

	for _, all := range []string{AnyOrigin, LocalOrigins} {
		if slices.Contains(c.HTTP.CORSOrigins, all) {
			p.addf("CORS_ALLOWED_ORIGINS must name origins in production, not %s", all)
		}
	}
}

// RequireWorker says what is missing or weak for the worker.
func (c Config) RequireWorker() error {
	var p problems
	c.checkDatabase(&p)

	for _, account := range c.Gateways.Accounts() {
		c.checkGateway(&p, variable(account), c.Gateways.For(account))
	}

	c.checkTickets(&p)
	c.checkNotify(&p)
	c.checkMail(&p)
	c.checkSecrets(&p)

	if c.App.Env == Production && !strings.HasPrefix(c.AccountPages(), "https://") {
		p.addf("ACCOUNT_URL, or PUBLIC_URL, must be an https:// address in production (mails about accounts lead there)")
	}

	return p.err()
}

// countryCode is what stands after the + of a phone number; none begins with 0.
var countryCode = regexp.MustCompile(`^[1-9][0-9]{0,2}$`)

// validateAbuse checks the limits on what is unpaid, on moves of trips and on messages.
func (c Config) validateAbuse(p *problems) {
	for name, n := range map[string]int{
		"UNPAID_BOOKINGS_MAX": c.Policies.UnpaidBookingsMax, "UNPAID_SEATS_MAX": c.Policies.UnpaidSeatsMax,
		"UNPAID_SEATS_PER_NETWORK": c.Policies.UnpaidSeatsPerNetwork,
		"UNPAID_ATTEMPTS_PER_HOUR": c.Policies.UnpaidAttemptsPerHour, "MESSAGES_PER_RECIPIENT": c.Notify.MessagesPerRecipient,
		"TRIP_MOVES_PER_DAY": c.Policies.TripMovesPerDay,
	} {
		if n < 0 {
			p.addf("%s must not be negative (0: no limit)", name)
		}
	}

	if n := c.Notify; n.MailConcurrency < 1 || n.SMSConcurrency < 1 || n.Deliverers < 1 {
		p.addf("MAIL_CONCURRENCY, SMS_CONCURRENCY and OUTBOX_DELIVERERS must be at least 1")
	}

	if c.Policies.PassengerNameChanges < 0 {
		p.addf("PASSENGER_NAME_CHANGES must not be negative (0: never)")
	}

	if c.Policies.AdMinPricePerDay.IsNegative() {
		p.addf("AD_MIN_PRICE_PER_DAY must not be negative (0: any price)")
	}

	for _, code := range c.Notify.Countries() {
		if !countryCode.MatchString(code) {
			p.addf("SMS_COUNTRIES has %q, which is no country code (0: all countries)", code)
		}
	}
}

// RequireDevelopment refuses production: `dev` and `demo` make users with a published password (rules: input.secrets).
func (c Config) RequireDevelopment() error {
	if c.App.Env == Production {
		return errors.New("configuration: this command makes users with a published password and does not run with APP_ENV=production")
	}

	return nil
}

func (c Config) checkDatabase(p *problems) {
	if !c.Database.URL.IsSet() {
		p.addf("DATABASE_URL is missing")

		return
	}

	// The parser's error quotes the text it could not read, which may be a password: it is dropped.
	to, err := pgconn.ParseConfig(c.Database.URL.Reveal())
	if err != nil {
		p.addf("DATABASE_URL is not a PostgreSQL address such as postgres://user:password@host:5432/name")

		return
	}

	c.checkDatabaseSafety(p, to)
}

func (c Config) checkTokens(p *problems) {
	if !c.Tokens.SigningKeys.IsSet() {
		p.addf("JWT_SIGNING_KEYS is missing (an Ed25519 private key as PEM text, or the path of its file)")
	}
}

func (c Config) checkWebhooks(p *problems) {
	owner := map[Secret]string{}

	open := c.Gateways.Channels()

	for _, channel := range models.AllChannels() {
		name := "WEBHOOK_SECRETS_" + strings.ToUpper(string(channel))
		secrets := c.Webhooks.For(channel)

		if len(secrets) == 0 && slices.Contains(open, channel) {
			p.addf("%s is missing", name)
		}

		for _, s := range secrets {
			if other, ok := owner[s]; ok && other != name {
				p.addf("%s shares a secret with %s; each channel needs its own", name, other)
			}

			owner[s] = name

			c.checkWebhookSecret(p, name, c.Gateways.For(channel.Account()).Driver, s)
		}
	}
}

// checkWebhookSecret checks one secret. What secrets of companies look like is for their drivers to say.
func (c Config) checkWebhookSecret(p *problems, name, driver string, s Secret) {
	if driver != sandboxDriver {
		if len(s) < minAPIKey || isMonotonous([]byte(s)) {
			p.addf("%s has a weak entry (at least %d random characters are needed)", name, minAPIKey)
		}

		return
	}

	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), webhookSecretPrefix))

	switch {
	case !strings.HasPrefix(s.Reveal(), webhookSecretPrefix) || err != nil:
		p.addf("%s has an entry that is not whsec_ followed by base64", name)
	case len(key) < minWebhookSecret || isMonotonous(key):
		p.addf("%s has a weak entry (at least %d random bytes are needed)", name, minWebhookSecret)
	}
}

// variable is how the names of an account's variables begin.
func variable(account models.MerchantAccount) string { return strings.ToUpper(string(account)) }

func (c Config) checkGateway(p *problems, name string, g Gateway) {
	if g.Driver == sandboxDriver {
		if c.App.Env == Production {
			p.addf("%s_DRIVER must name a real gateway in production, not the sandbox", name)
		}

		if g.URL == "" {
			p.addf("%s_URL is missing", name)
		}
	}

	c.checkHTTPS(p, name+"_URL", g.URL)
	c.checkAPIKey(p, name+"_API_KEY", g.APIKey)
}

func (c Config) checkNotify(p *problems) {
	if c.Notify.SMSDriver == SMSHTTP {
		if c.Notify.SMSURL == "" {
			p.addf("SMS_URL is missing, and SMS_DRIVER=http needs it")
		}

		c.checkHTTPS(p, "SMS_URL", c.Notify.SMSURL)
		c.checkAPIKey(p, "SMS_API_KEY", c.Notify.SMSAPIKey)
	}

	if c.App.Env == Production && c.Notify.SMTPURL.IsSet() && strings.Contains(c.Notify.MailFrom, ".test>") {
		p.addf("MAIL_FROM must be an address of a real domain in production")
	}
}

func (c Config) checkAPIKey(p *problems, name string, key Secret) {
	switch {
	case !key.IsSet():
		p.addf("%s is missing", name)
	case len(key) < minAPIKey || isMonotonous([]byte(key)):
		p.addf("%s is weak (at least %d random characters are needed)", name, minAPIKey)
	}
}

func isMonotonous(b []byte) bool {
	distinct := map[byte]struct{}{}
	for _, c := range b {
		distinct[c] = struct{}{}
	}

	return len(distinct) < minDistinct
}
