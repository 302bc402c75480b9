package config

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

const sentinel = "s3ntinel-Value-0123456789"

// complete is an environment with which every command starts in production.
func complete() map[string]string {
	secret := func(channel string) string {
		return "whsec_" + base64.StdEncoding.EncodeToString([]byte(sentinel+"-webhook-"+channel))
	}

	return map[string]string{
		"APP_ENV": "production", "PUBLIC_URL": "https://pay.example.com/", "LISTEN_ADDR": ":8080",
		"TRUSTED_PROXIES":  "10.0.0.0/8",
		"DATABASE_URL":     "postgres://rihla:" + sentinel + "@db.internal:5432/rihla?sslmode=require",
		"GATEWAY_A_DRIVER": "stripe", "GATEWAY_A_API_KEY": sentinel + "-a",
		"WALLET_B_DRIVER": "stripe", "WALLET_B_URL": "https://wallet.example.com/", "WALLET_B_API_KEY": sentinel + "-b",
		"WEBHOOK_SECRETS_GATEWAY_A": secret("new") + ", " + secret("old"), "WEBHOOK_SECRETS_WALLET_B": secret("b"),
		"WEBHOOK_SECRETS_WALLET_A": secret("a"), "WEBHOOK_SECRETS_BILL_PAYMENT": secret("bill"),
		"JWT_SIGNING_KEYS": "-----BEGIN PRIVATE KEY-----" + sentinel, "TICKET_SIGNING_KEYS": "-----BEGIN PRIVATE KEY-----" + sentinel,
		"MEDIA_URL_SECRET": sentinel + "-media-url",
		"REDIS_URL":        "rediss://:" + sentinel + "@redis:6379", "SMTP_URL": "smtps://u:" + sentinel + "@mail.example.com:465",
		"MAIL_FROM": "Rihla <no-reply@example.com>", "SMS_DRIVER": "http", "SMS_URL": "https://sms.example.com/send",
		"SMS_API_KEY": sentinel + "-sms",
	}
}

func load(t *testing.T, environ map[string]string) Config {
	t.Helper()

	c, err := Load(environ)
	require.NoError(t, err)

	return c
}

func TestLoadDefaults(t *testing.T) {
	t.Parallel()

	c := load(t, nil)

	require.Equal(t, Development, c.App.Env)
	require.Equal(t, "127.0.0.1:8080", c.HTTP.ListenAddr)
	require.Equal(t, "http://127.0.0.1:8080", c.App.PublicURL)
	require.Equal(t, ".data", c.App.DataDir)
	require.Equal(t, "payments", c.Temporal.TaskQueue)
	require.Equal(t, 4*time.Second, c.Gateways.Timeout)
	require.Equal(t, "sandbox", c.Gateways.For(models.AccountGatewayA).Driver)
	require.Equal(t, "rihla", c.Tokens.Issuer)
	require.Equal(t, "rihla-api", c.Tokens.Audience)
	require.Equal(t, 15*time.Minute, c.Tokens.AccessTTL)
	require.Equal(t, 720*time.Hour, c.Tokens.RefreshTTL)
	require.Equal(t, 30*time.Minute, c.Policies.Hold(models.MethodCreditCard))
	require.Equal(t, 72*time.Hour, c.Policies.Hold(models.MethodBillPayment))
	require.Equal(t, RetryUntilHoldEnds, c.Policies.BookingFailure)
	require.Equal(t, "0.15 0.20 0.10", fmt.Sprint(c.Policies.VATRateBooking, c.Policies.VATRateAd, c.Policies.CommissionRate))
	require.Equal(t, models.DefaultCancellationPolicy(), c.Policies.Cancellation)
	approval := models.ApprovalRules{Above: c.Policies.RefundApprovalAbove, Wait: c.Policies.RefundApprovalWait}
	require.Equal(t, "20000.00 50000.00", fmt.Sprint(c.Policies.RefundsAlonePerDay, c.Policies.PayoutApprovalAbove))
	require.Equal(t, models.DefaultPolicies().Approval, approval)
	require.Equal(t, 10*time.Second, c.Schedules.SweepInterval)
	require.Equal(t, SMSFile, c.Notify.SMSDriver)
	require.Equal(t, slog.LevelInfo, c.App.LogLevel)

	limits := map[models.Role]int{}
	for _, role := range models.Roles() {
		limits[role] = c.Limits.ForRole(role)
	}

	require.Equal(t, map[models.Role]int{
		models.RoleEndUser: 120, models.RoleProviderStaff: 600, models.RoleProviderAdmin: 600, models.RoleSupportAgent: 600,
		models.RoleFinanceAdmin: 1200, models.RoleAdmin: 1200, models.RoleSuperAdmin: 1200,
	}, limits)
	require.Equal(t, []int{60, 0, 10, 60, 60}, []int{
		c.Limits.Anonymous, c.Limits.Webhook, c.Limits.Login, c.Limits.LoginIP, c.Limits.ForRole("NOBODY"),
	})
}

func TestLoadReadsValues(t *testing.T) {
	t.Parallel()

	environ := complete()
	environ["CANCELLATION_POLICY"] = "0h:10, 48h:80"
	environ["VAT_RATE_AD"] = "0.15"
	environ["LATE_PAYMENT_CHECKS"] = "1m,36h"
	environ["RATE_LIMIT_LOGIN"] = "0"
	environ["BOOKING_FAILURE_POLICY"] = "fail_at_once"
	environ["BOOKING_HOLD"] = "" // as a compose file leaves what is not set
	environ["JWT_JWKS_URLS"] = "https://id.example.com/.well-known/jwks.json,https://b.example.com/=https://keys.example.com/b"
	environ["TRUSTED_PROXIES"] = "10.0.0.0/8,127.0.0.1"
	environ["CORS_ALLOWED_ORIGINS"] = "https://app.example.com, http://localhost:3000"
	c := load(t, environ)

	require.NoError(t, c.RequireAPI())
	require.NoError(t, c.RequireWorker())
	require.NoError(t, c.RequireDatabase())
	require.ErrorContains(t, c.RequireDevelopment(), "APP_ENV=production")
	require.NoError(t, load(t, nil).RequireDevelopment())
	require.Equal(t, "https://pay.example.com", c.App.PublicURL)
	require.Equal(t, "https://wallet.example.com", c.Gateways.For(models.AccountWalletB).URL)
	require.Len(t, c.Webhooks.For(models.ChannelGatewayA), 2)
	require.True(t, strings.HasPrefix(c.Webhooks.For(models.ChannelBillPayment).Reveal()[0], "whsec_"))
	require.Equal(t, "48h:80,0h:10", c.Policies.Cancellation.String())
	require.Equal(t, []time.Duration{time.Minute, 36 * time.Hour}, c.Policies.LateChecks)
	require.Equal(t, FailAtOnce, c.Policies.BookingFailure)
	require.Equal(t, 30*time.Minute, c.Policies.BookingHold)
	require.Zero(t, c.Limits.Login)
	require.Equal(t, JWKSSources{
		{Issuer: "https://id.example.com", URL: "https://id.example.com/.well-known/jwks.json"},
		{Issuer: "https://b.example.com/", URL: "https://keys.example.com/b"},
	}, c.Tokens.JWKS)
	require.Equal(t, []models.Role{models.RoleEndUser, models.RoleProviderStaff, models.RoleProviderAdmin}, c.Tokens.ExternalRoles,
		"no role of the platform unless an operator names it")
	require.Equal(t, []string{"10.0.0.0/8", "127.0.0.1"}, c.HTTP.TrustedProxies)
	require.Equal(t, Origins{"https://app.example.com", "http://localhost:3000"}, c.HTTP.CORSOrigins)

	for listen, public := range map[string]string{
		":9000": "http://127.0.0.1:9000", "0.0.0.0:1": "http://127.0.0.1:1", "[::]:1": "http://127.0.0.1:1", "api.test:1": "http://api.test:1",
	} {
		require.Equal(t, public, load(t, map[string]string{"LISTEN_ADDR": listen}).App.PublicURL)
	}
}

func TestLoadNamesEveryMalformedVariable(t *testing.T) {
	t.Parallel()

	malformed := map[string]string{
		"APP_ENV": "prod", "BOOKING_HOLD": "soon", "VAT_RATE_AD": "20", "RATE_LIMIT_LOGIN": "ten", "SMS_DRIVER": "pigeon",
		"BOOKING_FAILURE_POLICY": "never", "CANCELLATION_POLICY": "24h:50,72h:10", "JWT_JWKS_URLS": "http://id.example.com/.well-known/x",
		"LOG_LEVEL": "LOUD", "CORS_ALLOWED_ORIGINS": "app.example.com",
	}
	_, err := Load(malformed)

	for name := range malformed {
		require.ErrorContains(t, err, name+": ")
	}

	invalid := map[string]string{
		"LISTEN_ADDR": "8080", "PUBLIC_URL": "pay.example.com", "GATEWAY_A_URL": "ftp://x", "REDIS_URL": sentinel, "SMTP_URL": "http://" + sentinel,
		"MAIL_FROM": "nobody", "SMS_URL": "x", "SWEEP_INTERVAL": "0s", "ACCESS_TOKEN_TTL": "-1m", "DB_MAX_CONNS": "0", "DB_MAX_IDLE_CONNS": "0", "TRUSTED_PROXIES": "lb",
		"REDIS_TIMEOUT": "0s", "LATE_PAYMENT_CHECKS": "2h,10m", "EXPIRY_ASK_FOR": "0s",
		"REFUND_APPROVAL_ABOVE": "-1", "REFUND_APPROVAL_WAIT": "169h",
	}
	_, err = Load(invalid)

	for name := range invalid {
		require.ErrorContains(t, err, name+" must be")
	}

	require.NotContains(t, err.Error(), sentinel)

	for _, wrong := range []string{"-1m", "0,10m"} {
		_, err = Load(map[string]string{"LATE_PAYMENT_CHECKS": wrong})
		require.ErrorContains(t, err, "LATE_PAYMENT_CHECKS must be", wrong)
	}

	require.Equal(t, []time.Duration{0}, load(t, map[string]string{"LATE_PAYMENT_CHECKS": "0"}).Policies.LateChecks)

	for _, name := range []string{"REFUNDS_ALONE_PER_DAY", "PAYOUT_APPROVAL_ABOVE"} {
		_, err = Load(map[string]string{name: "-1"})
		require.ErrorContains(t, err, name)
	}

	_, err = Load(map[string]string{"RATE_LIMIT_ADMIN": "-1"})
	require.ErrorContains(t, err, "RATE_LIMIT_")
	_, err = Load(map[string]string{"JWT_JWKS_URLS": "rihla=https://x.example.com/keys"})
	require.ErrorContains(t, err, "JWT_ISSUER")
	_, err = Load(map[string]string{"JWT_EXTERNAL_ROLES": "END_USER,BOSS"})
	require.ErrorContains(t, err, `JWT_EXTERNAL_ROLES has "BOSS"`)
}

func TestGatewayLimits(t *testing.T) {
	t.Parallel()

	c := load(t, map[string]string{"GATEWAY_TIMEOUT": "3s", "WALLET_B_TIMEOUT": "1s", "WALLET_B_RATE": "2.5", "WALLET_B_BREAKER_FAILURES": "0"})
	a, b := c.Gateways.For(models.AccountGatewayA), c.Gateways.For(models.AccountWalletB)
	require.Equal(t, []any{3 * time.Second, 100.0, 100, 16, 5, 10 * time.Second},
		[]any{a.Timeout, a.Rate, a.Burst, a.Concurrency, a.BreakerFailures, a.BreakerOpenFor})
	require.Equal(t, []any{time.Second, 2.5, 0}, []any{b.Timeout, b.Rate, b.BreakerFailures})

	for name, values := range map[string][]string{
		"TIMEOUT": {"-1s", "5s"}, "RATE": {"-1", "NaN", "Inf", "1e9"}, "BURST": {"0"}, "CONCURRENCY": {"0", "-1"},
		"BREAKER_FAILURES": {"-1", "1000000"}, "BREAKER_OPEN_FOR": {"0s", "6m"},
	} {
		for _, value := range values {
			_, err := Load(map[string]string{"GATEWAY_A_" + name: value})
			require.ErrorContains(t, err, "GATEWAY_A_"+name, value)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()

	for text, valid := range map[string]bool{
		"*": true, "https://a.example.com": true, "http://localhost:3000": true, "https://[::1]:8443": true, "https://a.test, https://b.test": true,
		"": false, "a.example.com": false, "https://": false, "https://a.test/": false, "https://a.test/x": false, "https://A.test": false,
		"https://a.test:443": false, "http://a.test:80": false, "https://a.test:": false, "https://*.a.test": false, "null": false,
		"ftp://a.test": false, "https://u@a.test": false, "https://a.test?x": false, "https://مثال.test": false, "*,https://a.test": false,
		"https://a.test,": false,
	} {
		var o Origins
		require.Equal(t, valid, o.UnmarshalText([]byte(text)) == nil, text)
	}
}

func TestRedisAddresses(t *testing.T) {
	t.Parallel()

	for url, valid := range map[string]bool{
		"redis://h": true, "redis://h:6379/2": true, "rediss://u:" + sentinel + "@h:6380": true,
		"redis://h/x": false, "unix:///tmp/redis": false, "redis://h:port": false, "http://h": false, "redis://h?nonsense=1": false,
	} {
		_, err := Load(map[string]string{"REDIS_URL": url})
		require.Equal(t, valid, err == nil, url)
	}
}

func TestRequireNamesWhatIsMissingOrWeak(t *testing.T) {
	t.Parallel()

	c := load(t, map[string]string{"SMS_DRIVER": "http"})
	require.EqualError(t, c.RequireDatabase(), "configuration: DATABASE_URL is missing")
	require.EqualError(t, c.RequireAPI(), "configuration: DATABASE_URL is missing; JWT_SIGNING_KEYS is missing (an Ed25519 private key "+
		"as PEM text, or the path of its file); WEBHOOK_SECRETS_GATEWAY_A is missing; WEBHOOK_SECRETS_WALLET_B is missing; "+
		"WEBHOOK_SECRETS_WALLET_A is missing; WEBHOOK_SECRETS_BILL_PAYMENT is missing; MEDIA_URL_SECRET is missing (at least 32 random "+
		"characters, the same for every API process)")
	require.EqualError(t, c.RequireWorker(), "configuration: DATABASE_URL is missing; GATEWAY_A_URL is missing; GATEWAY_A_API_KEY is missing; "+
		"WALLET_B_URL is missing; WALLET_B_API_KEY is missing; SMS_URL is missing, and SMS_DRIVER=http needs it; SMS_API_KEY is missing")

	tests := map[string]struct{ name, value, want string }{
		"database":        {"DATABASE_URL", "postgres://u:" + sentinel + "@h:port/x", "DATABASE_URL is not"},
		"no prefix":       {"WEBHOOK_SECRETS_WALLET_A", base64.StdEncoding.EncodeToString([]byte(sentinel + sentinel)), "WEBHOOK_SECRETS_WALLET_A has"},
		"not base64":      {"WEBHOOK_SECRETS_WALLET_A", "whsec_" + sentinel + "!", "WEBHOOK_SECRETS_WALLET_A has"},
		"short":           {"WEBHOOK_SECRETS_WALLET_A", "whsec_" + base64.StdEncoding.EncodeToString([]byte(sentinel[:23])), "WEBHOOK_SECRETS_WALLET_A has a weak"},
		"one letter":      {"WEBHOOK_SECRETS_WALLET_A", "whsec_" + strings.Repeat("A", 44), "WEBHOOK_SECRETS_WALLET_A has a weak"},
		"published":       {"WEBHOOK_SECRETS_WALLET_B", DevWebhookSecret(models.ChannelWalletB).Reveal(), "WEBHOOK_SECRETS_WALLET_B has a secret that is published"},
		"short key":       {"GATEWAY_A_API_KEY", sentinel[:15], "GATEWAY_A_API_KEY is weak"},
		"published key":   {"WALLET_B_API_KEY", DevAPIKey.Reveal(), "WALLET_B_API_KEY has a secret that is published"},
		"sandbox":         {"GATEWAY_A_DRIVER", "sandbox", "GATEWAY_A_DRIVER must"},
		"default driver":  {"WALLET_B_DRIVER", "", "WALLET_B_DRIVER must"},
		"plain http":      {"PUBLIC_URL", "http://pay.example.com", "PUBLIC_URL must"},
		"no proxy":        {"TRUSTED_PROXIES", "", "TRUSTED_PROXIES is missing"},
		"any origin":      {"CORS_ALLOWED_ORIGINS", "*", "CORS_ALLOWED_ORIGINS must name"},
		"local origins":   {"CORS_ALLOWED_ORIGINS", "https://app.example.com,localhost", "CORS_ALLOWED_ORIGINS must name"},
		"test mail":       {"MAIL_FROM", "", "MAIL_FROM must"},
		"sms key":         {"SMS_API_KEY", "aaaaaaaaaaaaaaaaaaaaaaaa", "SMS_API_KEY is weak"},
		"plain database":  {"DATABASE_URL", "postgres://u:" + sentinel + "@db/x?sslmode=disable", "DATABASE_URL must demand TLS"},
		"perhaps TLS":     {"DATABASE_URL", "postgres://u:" + sentinel + "@db/x?sslmode=prefer", "DATABASE_URL must demand TLS"},
		"no word of TLS":  {"DATABASE_URL", "postgres://u:" + sentinel + "@db/x", "DATABASE_URL must demand TLS"},
		"two databases":   {"DATABASE_URL", "postgres://u:" + sentinel + "@db,other/x?sslmode=allow", "DATABASE_URL must demand TLS"},
		"owner's name":    {"DATABASE_URL", "postgres://rihla:rihla@db/x?sslmode=require", "DATABASE_URL has a password"},
		"example":         {"DATABASE_URL", "postgres://rihla:change-me@db/x?sslmode=require", "DATABASE_URL has a password"},
		"plain redis":     {"REDIS_URL", "redis://:" + sentinel + "@redis:6379", "REDIS_URL must begin with rediss://"},
		"plain gateway":   {"WALLET_B_URL", "http://wallet.example.com", "WALLET_B_URL must be an https"},
		"plain sms":       {"SMS_URL", "http://sms.example.com", "SMS_URL must be an https"},
		"everybody":       {"TRUSTED_PROXIES", "10.0.0.1,0.0.0.0/0", "TRUSTED_PROXIES must name"},
		"half of all":     {"TRUSTED_PROXIES", "128.0.0.0/1", "TRUSTED_PROXIES must name"},
		"everybody of 6":  {"TRUSTED_PROXIES", "::/0", "TRUSTED_PROXIES must name"},
		"published media": {"MEDIA_URL_SECRET", "compose-media-url-secret-9c1e7b3f5a", "MEDIA_URL_SECRET has a secret that is published"},
		"no signing keys": {"JWT_SIGNING_KEYS", " ", "JWT_SIGNING_KEYS is missing"},
		"no ticket keys":  {"TICKET_SIGNING_KEYS", " ", "TICKET_SIGNING_KEYS is missing"},
		"published ticket key": {
			"TICKET_SIGNING_KEYS", DevTicketKey().Reveal(), "TICKET_SIGNING_KEYS has a secret that is published",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			environ := complete()
			environ[tt.name] = tt.value

			if strings.HasPrefix(tt.name, "WEBHOOK_SECRETS_") {
				environ["GATEWAY_A_DRIVER"] = "sandbox" // which alone has that channel, and secrets of that form
			}

			c := load(t, environ)
			text := fmt.Sprint(c.RequireAPI(), c.RequireWorker())
			require.Contains(t, text, tt.want)
			require.NotContains(t, text, sentinel[:15])
		})
	}
}

// TestTrustedNetworks: the connections in ALLOW_INSECURE may go without TLS; payments and telephone numbers never do.
func TestTrustedNetworks(t *testing.T) {
	t.Parallel()

	environ := complete()
	environ["DATABASE_URL"], environ["REDIS_URL"] = "postgres://u:"+sentinel+"@db/x?sslmode=disable", "redis://redis:6379"
	environ["ALLOW_INSECURE"] = "database, redis,temporal"
	c := load(t, environ)
	require.NoError(t, c.RequireAPI())
	require.NoError(t, c.RequireWorker())
	require.False(t, c.Demands(InsecureTemporal))

	environ["ALLOW_INSECURE"] = "redis"
	c = load(t, environ)
	require.ErrorContains(t, c.RequireDatabase(), "DATABASE_URL must demand TLS")
	require.True(t, c.Demands(InsecureTemporal))

	environ["ALLOW_INSECURE"] = "everything"
	_, err := Load(environ)
	require.ErrorContains(t, err, "ALLOW_INSECURE")

	environ["ALLOW_INSECURE"], environ["REDIS_URL"] = "", ""
	environ["DATABASE_URL"] = "host=/var/run/postgresql user=u dbname=d"
	require.NoError(t, load(t, environ).RequireAPI(), "a socket of this machine needs no TLS")
}

// TestProductionRefusesWhatIsPublished reads the secrets of the files that come with the source.
func TestProductionRefusesWhatIsPublished(t *testing.T) {
	t.Parallel()

	secrets := regexp.MustCompile(`(?m)^\s*#?([A-Z_]*(?:SECRETS?_|SECRET|API_KEY|DATABASE_URL|REDIS_URL|CODEC_TOKEN)[A-Z_]*)(?:=|: +)(?:&\w+ +)?(\S+)`)
	seen := 0

	for _, name := range []string{"docker-compose.yml", ".env.example"} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)

		for _, found := range secrets.FindAllStringSubmatch(string(text), -1) {
			variable, value := found[1], strings.Trim(found[2], `"'`)
			if strings.HasPrefix(value, "*") || strings.HasPrefix(value, "$") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "#") {
				continue // another one, one from outside, a file
			}

			environ := complete()
			environ[variable] = value
			c := load(t, environ)
			text := fmt.Sprint(c.RequireAPI(), c.RequireWorker())
			require.Contains(t, text, variable, "%s: production takes what is published", name)

			seen++
		}
	}

	require.GreaterOrEqual(t, seen, 8)
}

func TestDevelopmentSecretsStartInDevelopment(t *testing.T) {
	t.Parallel()

	environ := map[string]string{
		"DATABASE_URL": "host=/tmp user=u dbname=d", "JWT_SIGNING_KEYS": "key.pem", "MEDIA_URL_SECRET": sentinel + "-media-url",
		"GATEWAY_A_URL": "http://127.0.0.1:8090", "GATEWAY_A_API_KEY": DevAPIKey.Reveal(),
		"WALLET_B_URL": "http://127.0.0.1:8090", "WALLET_B_API_KEY": DevAPIKey.Reveal(),
	}
	for _, channel := range models.Channels() {
		environ["WEBHOOK_SECRETS_"+strings.ToUpper(string(channel))] = DevWebhookSecret(channel).Reveal()
	}

	c := load(t, environ)
	require.NoError(t, c.RequireAPI())
	require.NoError(t, c.RequireWorker())
}

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()

	c := load(t, complete())

	var logged bytes.Buffer
	for _, logger := range []*slog.Logger{slog.New(slog.NewJSONHandler(&logged, nil)), slog.New(slog.NewTextHandler(&logged, nil))} {
		logger.Info("config", "config", c, "url", c.Database.URL, "secrets", c.Webhooks.GatewayA)
	}

	marshalled, err := json.Marshal(map[string]any{"config": c})
	require.NoError(t, err)

	logged.Write(marshalled)

	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&logged, verb+verb+verb, c, c.Webhooks, c.Notify.SMSAPIKey)
	}

	shown := logged.String()

	require.Contains(t, shown, "[redacted]")
	require.NotContains(t, shown, sentinel)
	require.NotContains(t, shown, base64.StdEncoding.EncodeToString([]byte(sentinel)))
	require.NotContains(t, strings.ToLower(shown), fmt.Sprintf("%x", sentinel))
	require.Empty(t, Secret("").String())
}
