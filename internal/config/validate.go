package config

import (
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

	"github.com/caarlos0/env/v11"
	"github.com/redis/go-redis/v9"

	"rihla/models"
)

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

	c.validateAbuse(&p)
	c.validatePageSizes(&p)
	c.validateIdentity(&p)
	c.validateReturns(&p)

	if c.Policies.RescheduleTolerance < 0 {
		p.addf("RESCHEDULE_TOLERANCE must not be negative (0: every move of a trip gives the right to a refund)")
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

	for _, account := range c.Gateways.Accounts() {
		validateLimits(&p, variable(account), c.Gateways.For(account))
	}

	slices.Sort(p) // the map above has no order

	return p.err()
}

// validateBounds checks what may be 0 for none.
func (c Config) validateBounds(p *problems) {
	if c.Schedules.WebhookSilence < 0 {
		p.addf("WEBHOOK_SILENCE must be more than zero, or 0 for never")
	}

	if checks := c.Policies.LateChecks; !slices.IsSorted(checks) || checks[0] < 0 || checks[0] == 0 && len(checks) > 1 {
		p.addf("LATE_PAYMENT_CHECKS must be times of more than zero, the shortest first, or 0 for never")
	}

	if c.Database.StatementTimeout < 0 || c.Database.IdleInTxTimeout < 0 {
		p.addf("DB_STATEMENT_TIMEOUT and DB_IDLE_IN_TRANSACTION_TIMEOUT must not be negative (0: none)")
	}

	if min(c.AtOnce.Uploads, c.AtOnce.Exports, c.AtOnce.LongPolls) < 0 {
		p.addf("UPLOADS_AT_ONCE, EXPORTS_AT_ONCE and LONG_POLLS_AT_ONCE must not be negative (0: no limit)")
	}

	c.validateAdmission(p)

	if c.Policies.TripCancellationAbove.IsNegative() {
		p.addf("TRIP_CANCELLATION_APPROVAL_ABOVE must be at least 0 (0: no trip needs an approval)")
	}

	if c.Policies.TripCancellationRate <= 0 {
		p.addf("TRIP_CANCELLATION_RATE must be more than zero")
	}

	if c.Policies.CancellationReminder <= 0 {
		p.addf("CANCELLATION_REMIND_AFTER must be more than zero")
	}

	if c.Policies.RescheduleNotice < 0 {
		p.addf("RESCHEDULE_NOTICE must not be negative (0: a sold trip may be brought forward at any time)")
	}

	if c.Policies.RefundApprovalAbove.IsNegative() {
		p.addf("REFUND_APPROVAL_ABOVE must be at least 0 (0: no refund needs an approval)")
	}

	if c.Policies.RefundsAlonePerDay.IsNegative() || c.Policies.PayoutApprovalAbove.IsNegative() {
		p.addf("REFUNDS_ALONE_PER_DAY and PAYOUT_APPROVAL_ABOVE must be at least 0 (0: no limit per person)")
	}

	if wait := c.Policies.RefundApprovalWait; wait <= 0 || wait > models.MaxApprovalWait {
		p.addf("REFUND_APPROVAL_WAIT must be more than zero, and at most %s", models.MaxApprovalWait)
	}

	if c.Strangers.MailsPerHour < 0 || c.Strangers.RegistrationsPerNetwork < 0 {
		p.addf("STRANGER_MAILS_PER_HOUR and REGISTRATIONS_PER_NETWORK must not be negative (0: no limit)")
	}

	if c.Logins.PauseMax < 0 || c.Logins.LockAfter < 0 {
		p.addf("LOGIN_PAUSE_MAX and LOGIN_LOCK_AFTER must not be negative (0 switches them off)")
	}
}

// validateAdmission checks how payments are let in.
func (c Config) validateAdmission(p *problems) {
	// A request that has waited for longer has been answered without a checkout, or with 503.
	if a := c.Admission; a.Target < 0 || a.Target > c.HTTP.CheckoutWait {
		p.addf("ADMISSION_TARGET must be from 0 (payments are not limited) to CHECKOUT_WAIT")
	} else if a.Min < 1 || a.Max < a.Min {
		p.addf("ADMISSION_MIN must be at least 1, and ADMISSION_MAX no less")
	}
}

// The longest a gateway may take: an activity makes up to three calls within 15 s; and the longest that a circuit stays open
// unasked.
const (
	maxGatewayTimeout = 4 * time.Second
	maxBreakerOpenFor = 5 * time.Minute
	maxGatewayRate    = 100_000
	maxSearchLag      = time.Hour
)

func validateLimits(p *problems, name string, g Gateway) {
	if g.Timeout < 0 || g.Timeout > maxGatewayTimeout {
		p.addf("%s_TIMEOUT must be more than zero and at most %s", name, maxGatewayTimeout)
	}

	if g.SearchLag < 0 || g.SearchLag > maxSearchLag {
		p.addf("%s_SEARCH_LAG must be more than zero and at most %s", name, maxSearchLag)
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
	checkURL(p, "PAY_URL", c.App.PayURL, "http", "https")

	for _, account := range c.Gateways.Accounts() {
		checkURL(p, variable(account)+"_URL", c.Gateways.For(account).URL, "http", "https")
	}

	checkURL(p, "SMS_URL", c.Notify.SMSURL, "http", "https")
	checkURL(p, "RUNBOOK_URL", c.App.RunbookURL, "http", "https")
	checkURL(p, "TEMPORAL_UI_URL", c.Temporal.UIURL, "http", "https")
	checkBookingURL(p, c.Notify.BookingURL)
	checkURL(p, "TRIP_URL", c.Notify.TripURL, "http", "https")
	checkRedis(p, c.Redis.URL)
	checkMediaURL(p, c.Media.URL)
	checkURL(p, "SMTP_URL", c.Notify.SMTPURL.Reveal(), "smtp", "smtps")

	if _, err := mail.ParseAddress(c.Notify.MailFrom); err != nil {
		p.addf("MAIL_FROM must be a mail address such as Rihla <no-reply@example.com>")
	}

	c.Notify.checkCustomersPlaces(p)
}

// supportPhone is a number as people write it; a national one such as 9200 00000 has no country code.
var supportPhone = regexp.MustCompile(`^\+?[0-9](?:[ -]?[0-9]){2,19}$`)

// checkCustomersPlaces checks where mails send customers to.
func (n Notify) checkCustomersPlaces(p *problems) {
	if n.TripURL != "" && !strings.Contains(n.TripURL, "{trip_id}") {
		p.addf("TRIP_URL must have {trip_id} in it")
	}

	if n.SupportPhone != "" && !supportPhone.MatchString(n.SupportPhone) {
		p.addf("SUPPORT_PHONE must be a phone number such as +966 11 200 0000")
	}

	if address, err := mail.ParseAddress(n.SupportEmail); n.SupportEmail != "" && (err != nil || address.Address != n.SupportEmail) {
		p.addf("SUPPORT_EMAIL must be a mail address such as help@example.com")
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
		if err := parseProblem(name, environ[name]); err != nil {
			p.addf("%s: %v", name, err)
		}
	}

	if len(p) == 0 {
		return fmt.Errorf("configuration: %w", cause)
	}

	return p.err()
}

// parseProblem is why a variable cannot be read, or nil.
func parseProblem(name, value string) error {
	err := env.ParseWithOptions(&Config{}, env.Options{Environment: map[string]string{name: value}})
	if parse, ok := errors.AsType[env.ParseError](err); ok {
		return parse.Err
	}

	return nil
}

// readable is the environment without the variables that cannot be read.
func readable(environ map[string]string) map[string]string {
	rest := maps.Clone(environ)
	maps.DeleteFunc(rest, func(name, value string) bool { return parseProblem(name, value) != nil })

	return rest
}
