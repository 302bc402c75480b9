package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"rihla/models"

	"github.com/caarlos0/env/v11"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"
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

// err is one sentence that names every variable concerned, or nil.
func (p *problems) err() error {
	if len(*p) == 0 {
		return nil
	}

	return errors.New("configuration: " + strings.Join(*p, "; "))
}

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
	c.checkWebhooks(&p)
	c.checkMedia(&p)
	c.checkRedisSafety(&p)
	c.checkPublished(&p, "TEMPORAL_CODEC_KEYS", c.Temporal.CodecKeys...)

	if c.App.Env == Production {
		c.checkExposure(&p)
	}

	return p.err()
}

// checkExposure is what production demands of the way clients come in (spec 8.5): TLS all the way to a proxy that we
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
	c.checkGateway(&p, "GATEWAY_A", c.Gateways.A)
	c.checkGateway(&p, "WALLET_B", c.Gateways.WalletB)
	c.checkNotify(&p)
	c.checkPublished(&p, "TEMPORAL_CODEC_KEYS", c.Temporal.CodecKeys...)

	return p.err()
}

// countryCode is what stands after the + of a phone number; none begins with 0.
var countryCode = regexp.MustCompile(`^[1-9][0-9]{0,2}$`)

// validateAbuse checks the limits on what is unpaid and on messages.
func (c Config) validateAbuse(p *problems) {
	for name, n := range map[string]int{
		"UNPAID_BOOKINGS_MAX": c.Policies.UnpaidBookingsMax, "UNPAID_SEATS_MAX": c.Policies.UnpaidSeatsMax,
		"MESSAGES_PER_RECIPIENT": c.Notify.MessagesPerRecipient,
	} {
		if n < 0 {
			p.addf("%s must not be negative (0: no limit)", name)
		}
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

// RequireDevelopment refuses production: `dev` and `demo` make users with a published password (contract §9).
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

	for _, channel := range models.Channels() {
		name := "WEBHOOK_SECRETS_" + strings.ToUpper(string(channel))
		secrets := c.Webhooks.For(channel)

		if len(secrets) == 0 {
			p.addf("%s is missing", name)
		}

		for _, s := range secrets {
			if other, ok := owner[s]; ok && other != name {
				p.addf("%s shares a secret with %s; each channel needs its own", name, other)
			}

			owner[s] = name
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), webhookSecretPrefix))

			switch {
			case !strings.HasPrefix(s.Reveal(), webhookSecretPrefix) || err != nil:
				p.addf("%s has an entry that is not whsec_ followed by base64", name)
			case len(key) < minWebhookSecret || isMonotonous(key):
				p.addf("%s has a weak entry (at least %d random bytes are needed)", name, minWebhookSecret)
			}
		}

		c.checkPublished(p, name, secrets...)
	}
}

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

	c.checkPublished(p, name, key)
}

func isMonotonous(b []byte) bool {
	distinct := map[byte]struct{}{}
	for _, c := range b {
		distinct[c] = struct{}{}
	}

	return len(distinct) < minDistinct
}

// validate checks what the types of the fields cannot.
func (c Config) validate() error {
	var p problems

	c.validateAddresses(&p)
	c.checkVersioning(&p)
	checkCodecKeys(&p, c.Temporal.CodecKeys)

	for name, d := range map[string]time.Duration{
		"SHUTDOWN_TIMEOUT": c.App.ShutdownTimeout, "CHECKOUT_WAIT": c.HTTP.CheckoutWait, "REFUND_WAIT": c.HTTP.RefundWait,
		"DB_CONN_MAX_LIFETIME": c.Database.ConnMaxLifetime, "DB_CONN_MAX_IDLE_TIME": c.Database.ConnMaxIdleTime,
		"GATEWAY_TIMEOUT": c.Gateways.Timeout, "ACCESS_TOKEN_TTL": c.Tokens.AccessTTL, "REFRESH_TOKEN_TTL": c.Tokens.RefreshTTL,
		"BOOKING_HOLD": c.Policies.BookingHold, "BILL_PAYMENT_HOLD": c.Policies.BillPaymentHold,
		"EXPIRY_ASK_FOR": c.Policies.AskFor, "REFUND_SETTLE_AFTER": c.Policies.SettleAfter,
		"SWEEP_INTERVAL": c.Schedules.SweepInterval, "REDIS_TIMEOUT": c.Redis.Timeout, "MEDIA_URL_TTL": c.Media.URLTTL,
	} {
		if d <= 0 {
			p.addf("%s must be more than zero", name)
		}
	}

	if c.Schedules.WebhookSilence < 0 {
		p.addf("WEBHOOK_SILENCE must be more than zero, or 0 for never")
	}

	c.validateAbuse(&p)
	c.validateReturns(&p)

	if c.Policies.RescheduleTolerance < 0 {
		p.addf("RESCHEDULE_TOLERANCE must not be negative (0: every move of a trip gives the right to a refund)")
	}

	if checks := c.Policies.LateChecks; !slices.IsSorted(checks) || checks[0] < 0 || checks[0] == 0 && len(checks) > 1 {
		p.addf("LATE_PAYMENT_CHECKS must be times of more than zero, the shortest first, or 0 for never")
	}

	for name, n := range map[string]int{"DB_MAX_CONNS": c.Database.MaxConns, "DB_MAX_IDLE_CONNS": c.Database.MaxIdleConns} {
		if n < 1 {
			p.addf("%s must be at least 1", name)
		}
	}

	l := c.Limits
	if slices.Min([]int{
		l.Anonymous, l.EndUser, l.ProviderStaff, l.ProviderAdmin, l.SupportAgent, l.FinanceAdmin,
		l.Admin, l.SuperAdmin, l.Webhook, l.Login, l.LoginIP, l.Media,
	}) < 0 {
		p.addf("RATE_LIMIT_* must not be negative (0 switches a limit off)")
	}

	c.validateBounds(&p)

	for _, source := range c.Tokens.JWKS {
		if source.Issuer == c.Tokens.Issuer {
			p.addf("JWT_JWKS_URLS must not name our own JWT_ISSUER")
		}
	}

	for _, role := range c.Tokens.ExternalRoles {
		if !slices.Contains(models.Roles(), role) {
			p.addf("JWT_EXTERNAL_ROLES has %q, which is no role", role)
		}
	}

	validateLimits(&p, "GATEWAY_A", c.Gateways.A)
	validateLimits(&p, "WALLET_B", c.Gateways.WalletB)

	slices.Sort(p) // the map above has no order

	return p.err()
}

// validateBounds checks what may be 0 for none.
func (c Config) validateBounds(p *problems) {
	if c.Database.StatementTimeout < 0 || c.Database.IdleInTxTimeout < 0 {
		p.addf("DB_STATEMENT_TIMEOUT and DB_IDLE_IN_TRANSACTION_TIMEOUT must not be negative (0: none)")
	}

	if min(c.AtOnce.Uploads, c.AtOnce.Exports, c.AtOnce.LongPolls) < 0 {
		p.addf("UPLOADS_AT_ONCE, EXPORTS_AT_ONCE and LONG_POLLS_AT_ONCE must not be negative (0: no limit)")
	}

	if c.Logins.PauseMax < 0 || c.Logins.LockAfter < 0 {
		p.addf("LOGIN_PAUSE_MAX and LOGIN_LOCK_AFTER must not be negative (0 switches them off)")
	}
}

// The longest a gateway may take: an activity makes up to three calls within 15 s; and the longest that one is left alone
// unasked.
const (
	maxGatewayTimeout = 4 * time.Second
	maxBreakerOpenFor = 5 * time.Minute
	maxGatewayRate    = 100_000
)

func validateLimits(p *problems, name string, g Gateway) {
	if g.Timeout < 0 || g.Timeout > maxGatewayTimeout {
		p.addf("%s_TIMEOUT must be more than zero and at most %s", name, maxGatewayTimeout)
	}

	if !(g.Rate >= 0 && g.Rate <= maxGatewayRate) { // NaN is neither
		p.addf("%s_RATE must be from 0 (no limit) to %d calls per second", name, maxGatewayRate)
	}

	if g.Burst < 1 || g.Concurrency < 1 {
		p.addf("%s_BURST and %s_CONCURRENCY must be at least 1", name, name)
	}

	if g.BreakerFailures < 0 || g.BreakerFailures > maxGatewayRate {
		p.addf("%s_BREAKER_FAILURES must be from 0 (it never opens) to %d", name, maxGatewayRate)
	}

	if g.BreakerOpenFor <= 0 || g.BreakerOpenFor > maxBreakerOpenFor {
		p.addf("%s_BREAKER_OPEN_FOR must be more than zero and at most %s", name, maxBreakerOpenFor)
	}
}

func (c Config) validateAddresses(p *problems) {
	if _, _, err := net.SplitHostPort(c.HTTP.ListenAddr); err != nil {
		p.addf("LISTEN_ADDR must be host:port")
	}

	for _, proxy := range c.HTTP.TrustedProxies {
		_, errPrefix := netip.ParsePrefix(proxy)
		if _, errAddr := netip.ParseAddr(proxy); errPrefix != nil && errAddr != nil {
			p.addf("TRUSTED_PROXIES must be IP addresses or CIDR blocks")
		}
	}

	checkURL(p, "PUBLIC_URL", c.App.PublicURL, "http", "https")
	checkURL(p, "GATEWAY_A_URL", c.Gateways.A.URL, "http", "https")
	checkURL(p, "WALLET_B_URL", c.Gateways.WalletB.URL, "http", "https")
	checkURL(p, "SMS_URL", c.Notify.SMSURL, "http", "https")
	checkURL(p, "RUNBOOK_URL", c.App.RunbookURL, "http", "https")
	checkURL(p, "TEMPORAL_UI_URL", c.Temporal.UIURL, "http", "https")
	checkBookingURL(p, c.Notify.BookingURL)
	checkRedis(p, c.Redis.URL)
	checkMediaURL(p, c.Media.URL)
	checkURL(p, "SMTP_URL", c.Notify.SMTPURL.Reveal(), "smtp", "smtps")

	if _, err := mail.ParseAddress(c.Notify.MailFrom); err != nil {
		p.addf("MAIL_FROM must be a mail address such as Rihla <no-reply@example.com>")
	}
}

// checkBookingURL accepts an empty text or an address that differs from booking to booking.
func checkBookingURL(p *problems, text string) {
	checkURL(p, "BOOKING_URL", text, "http", "https")

	if text != "" && !strings.Contains(text, "{booking_id}") && !strings.Contains(text, "{booking_number}") {
		p.addf("BOOKING_URL must have {booking_id} or {booking_number} in it")
	}
}

// checkURL accepts an empty text or an absolute URL with one of the schemes; its message never quotes the text.
func checkURL(p *problems, name, text string, schemes ...string) {
	if text == "" {
		return
	}

	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		p.addf("%s must be an address that begins with %s://", name, strings.Join(schemes, ":// or "))
	}
}

// checkRedis accepts what the client library can read; its error, which quotes the text, is dropped.
func checkRedis(p *problems, url Secret) {
	if _, err := redis.ParseURL(url.Reveal()); url.IsSet() && (err != nil || strings.HasPrefix(url.Reveal(), "unix:")) {
		p.addf("REDIS_URL must be an address such as redis://user:password@host:6379/0, or rediss:// for TLS")
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)

	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// parseProblems names the variables behind a parse error. The library names struct fields, which mean nothing to who
// set the variable, so each variable is tried alone.
func parseProblems(environ map[string]string, cause error) error {
	var p problems

	for _, name := range slices.Sorted(maps.Keys(environ)) {
		err := env.ParseWithOptions(&Config{}, env.Options{Environment: map[string]string{name: environ[name]}})
		if parse, ok := errors.AsType[env.ParseError](err); ok {
			p.addf("%s: %v", name, parse.Err)
		}
	}

	if len(p) == 0 {
		return fmt.Errorf("configuration: %w", cause)
	}

	return p.err()
}
