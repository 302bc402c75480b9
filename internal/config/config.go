// Package config reads the service's settings from environment variables. Load checks that every value is well
// formed; the Require methods check that what one command needs is there and strong enough. Nothing is global:
// the environment is an argument.
package config

import (
	"cmp"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"rihla/models"
)

// Config is every setting of the service, one struct per concern. Printing or logging it shows no secret.
type Config struct {
	App       App
	HTTP      HTTP
	Returns   Returns
	Limits    RateLimits
	Logins    Logins
	Strangers Strangers
	AtOnce    AtOnce
	Admission Admission
	PageSizes PageSizes `envPrefix:"PAGE_SIZE_MAX_"`
	Database  Database
	Temporal  Temporal
	Gateways  Gateways
	Webhooks  Webhooks
	Tokens    Tokens
	Tickets   Tickets
	Identity  Identity
	Policies  Policies
	Redis     Redis
	Media     Media
	Notify    Notify
	Schedules Schedules
	Metrics   Metrics
}

// App is what concerns the whole process.
type App struct {
	// Env is development or production.
	Env Environment `env:"APP_ENV" envDefault:"development"`
	// AllowInsecure are the connections that production may make without TLS.
	AllowInsecure []Insecure `env:"ALLOW_INSECURE"`
	// DataDir holds local state: the media and outbox folders, and what `dev` keeps between runs.
	DataDir string `env:"DATA_DIR" envDefault:".data"`
	// PublicURL is where customers reach the API, without a trailing slash.
	// Unset: http://<LISTEN_ADDR>, with 127.0.0.1 for an address that means every interface.
	PublicURL string `env:"PUBLIC_URL"`
	// PayURL is where customers reach pages of ours on which they pay (/pay/…), without a trailing slash; unset: PublicURL. The scripts
	// of payment companies run there, so that in production it is another host than the console's.
	PayURL string `env:"PAY_URL"`
	// ApplePayDomainFile proves to Apple that the pages' host is ours; empty: no Apple Pay there.
	ApplePayDomainFile string `env:"APPLE_PAY_DOMAIN_FILE"`
	// RunbookURL is where docs/operations.md is served, the index of the runbook, to which incidents link; empty: no links.
	RunbookURL string `env:"RUNBOOK_URL"`
	// LogLevel is DEBUG, INFO, WARN or ERROR.
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"INFO"`
	// ShutdownTimeout bounds how long a stopping process finishes what it has begun.
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"20s"`
}

// HTTP is how the API serves.
type HTTP struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080"`
	// TrustedProxies are addresses or CIDR blocks whose X-Forwarded-For names the client; of none, no header is believed.
	TrustedProxies []string `env:"TRUSTED_PROXIES"`
	// CORSOrigins are the web pages' origins that may read answers; of none, no CORS header is sent.
	CORSOrigins Origins `env:"CORS_ALLOWED_ORIGINS"`
	// CheckoutWait is how long an intent waits for the gateway's checkout before it answers without one.
	CheckoutWait time.Duration `env:"CHECKOUT_WAIT" envDefault:"5s"`
	// RefundWait is how long a refund request waits for the gateway before it answers 202.
	RefundWait time.Duration `env:"REFUND_WAIT" envDefault:"5s"`
}

// Returns are the addresses to which customers may be sent after they have paid.
type Returns struct {
	// Hosts of https addresses, *.example.com for all below a domain; of none, any host, and in development http on this machine.
	Hosts []string `env:"RETURN_URL_HOSTS"`
	// Schemes are those of apps, `rihla` for rihla://done.
	Schemes []string `env:"RETURN_URL_SCHEMES"`
}

// Database is the PostgreSQL connection and its pool.
type Database struct {
	URL             Secret        `env:"DATABASE_URL" secret:"address"`
	MaxConns        int           `env:"DB_MAX_CONNS" envDefault:"20"`
	MaxIdleConns    int           `env:"DB_MAX_IDLE_CONNS" envDefault:"20"`
	ConnMaxLifetime time.Duration `env:"DB_CONN_MAX_LIFETIME" envDefault:"1h"`
	ConnMaxIdleTime time.Duration `env:"DB_CONN_MAX_IDLE_TIME" envDefault:"5m"`
	// StatementTimeout and IdleInTxTimeout end statements and transactions of API and worker that a lost client or a bug leaves
	// behind; 0: never.
	StatementTimeout time.Duration `env:"DB_STATEMENT_TIMEOUT" envDefault:"1m"`
	IdleInTxTimeout  time.Duration `env:"DB_IDLE_IN_TRANSACTION_TIMEOUT" envDefault:"1m"`
}

// Temporal is the orchestrator. Only what is ours to say is here: namespace, API key and TLS come from the
// SDK's own environment configuration.
type Temporal struct {
	// Address is empty when the SDK's profile or default decides, or when `dev` starts a server of its own.
	Address   string `env:"TEMPORAL_ADDRESS"`
	TaskQueue string `env:"TEMPORAL_TASK_QUEUE" envDefault:"payments"`
	// UIURL is a namespace in the Temporal UI, http://127.0.0.1:8233/namespaces/default, to which incidents link; empty: no links.
	UIURL string `env:"TEMPORAL_UI_URL"`
	// BuildID switches Worker Versioning on; DeploymentName is what the worker's versions are versions of.
	BuildID        string `env:"TEMPORAL_BUILD_ID"`
	DeploymentName string `env:"TEMPORAL_DEPLOYMENT_NAME" envDefault:"rihla"`
	// WorkerBuildID is BuildID as Temporal's worker controller sets it. Load copies it there when BuildID is not set.
	WorkerBuildID string `env:"TEMPORAL_WORKER_BUILD_ID"`
	// CodecKeys encrypt what workflows say, newest first, each `id:base64 of 32 bytes`; of none, nothing is encrypted.
	CodecKeys Secrets `env:"TEMPORAL_CODEC_KEYS" secret:"text"`
	// CodecToken is what the UI and the command line present to the codec server.
	CodecToken Secret `env:"TEMPORAL_CODEC_TOKEN" secret:"text"`
}

// Tokens is how users prove who they are (rules: identity.tokens).
type Tokens struct {
	// SigningKeys is PEM text with Ed25519 private keys, or comma-separated paths of such files. The first signs.
	SigningKeys Secret `env:"JWT_SIGNING_KEYS" secret:"pem"`
	Issuer      string `env:"JWT_ISSUER" envDefault:"rihla"`
	Audience    string `env:"JWT_AUDIENCE" envDefault:"rihla-api"`
	// JWKS are the external issuers whose tokens are accepted.
	JWKS JWKSSources `env:"JWT_JWKS_URLS"`
	// ExternalRoles are the roles of the accounts that external issuers may speak for.
	ExternalRoles []models.Role `env:"JWT_EXTERNAL_ROLES" envDefault:"END_USER,PROVIDER_STAFF,PROVIDER_ADMIN"`
	AccessTTL     time.Duration `env:"ACCESS_TOKEN_TTL" envDefault:"15m"`
	RefreshTTL    time.Duration `env:"REFRESH_TOKEN_TTL" envDefault:"720h"`
}

// Policies are the business rules that are configuration.
type Policies struct {
	// BookingHold is how long seats are kept for an unpaid booking; BillPaymentHold is that of bill_payment.
	BookingHold     time.Duration `env:"BOOKING_HOLD" envDefault:"30m"`
	BillPaymentHold time.Duration `env:"BILL_PAYMENT_HOLD" envDefault:"72h"`
	BookingFailure  FailurePolicy `env:"BOOKING_FAILURE_POLICY" envDefault:"retry_until_hold_ends"`
	VATRateBooking  models.Rate   `env:"VAT_RATE_BOOKING" envDefault:"0.15"`
	VATRateAd       models.Rate   `env:"VAT_RATE_AD" envDefault:"0.20"`
	CommissionRate  models.Rate   `env:"COMMISSION_RATE" envDefault:"0.10"`
	// Cancellation is what a refund by the policy pays back; the worker computes refunds, the API quotes them.
	Cancellation models.CancellationPolicy `env:"CANCELLATION_POLICY" envDefault:"72h:100,24h:50,0h:0"`
	// CancellationAutoApprove approves what customers ask for by the policy, up to RefundApprovalAbove, without a person.
	CancellationAutoApprove bool `env:"CANCELLATION_AUTO_APPROVE" envDefault:"false"`
	// TripCancellationRate is how many bookings of cancelled trips are cancelled a second, over all trips and workers.
	TripCancellationRate float64 `env:"TRIP_CANCELLATION_RATE" envDefault:"2"`
	// TripCancellationAbove is the refund_total above which the cancellation of a trip needs a second person; 0: never.
	TripCancellationAbove models.Money `env:"TRIP_CANCELLATION_APPROVAL_ABOVE" envDefault:"20000.00"`
	// CancellationReminder is how long a request waits before finance staff are reminded of it.
	CancellationReminder time.Duration `env:"CANCELLATION_REMIND_AFTER" envDefault:"24h"`
	// RefundApprovalAbove is what of one payment goes back on one person's word at most; more needs the approval of a second one; 0: never.
	RefundApprovalAbove models.Money `env:"REFUND_APPROVAL_ABOVE" envDefault:"5000.00"`
	// RefundApprovalWait is how long such a refund waits for the approval, at most 7 days.
	RefundApprovalWait time.Duration `env:"REFUND_APPROVAL_WAIT" envDefault:"168h"`
	// RefundsAlonePerDay is what one person orders back within 24 hours without an approval, over all payments; 0: no limit.
	RefundsAlonePerDay models.Money `env:"REFUNDS_ALONE_PER_DAY" envDefault:"20000.00"`
	// PayoutApprovalAbove is what one person marks as transferred within 24 hours, and confirms as manual payouts; 0: no limit.
	PayoutApprovalAbove models.Money `env:"PAYOUT_APPROVAL_ABOVE" envDefault:"50000.00"`
	// RescheduleTolerance is how far a trip may be moved before its customers may have all of their money back.
	RescheduleTolerance time.Duration `env:"RESCHEDULE_TOLERANCE" envDefault:"2h"`
	// RescheduleNotice is how long before it leaves a sold trip is brought forward beyond the tolerance at the latest; 0: at any time.
	RescheduleNotice time.Duration `env:"RESCHEDULE_NOTICE" envDefault:"24h"`
	// TripMovesPerDay is how often a sold trip is moved at most on a day in Riyadh; 0: no limit.
	TripMovesPerDay int `env:"TRIP_MOVES_PER_DAY" envDefault:"5"`
	// PassengerNameChanges is how often staff change the name of one passenger; 0: never.
	PassengerNameChanges int `env:"PASSENGER_NAME_CHANGES" envDefault:"2"`
	// UnpaidBookingsMax and UnpaidSeatsMax are per account and per phone, BillSeatsShare is of a trip's seats; 0: no limit.
	UnpaidBookingsMax int         `env:"UNPAID_BOOKINGS_MAX" envDefault:"5"`
	UnpaidSeatsMax    int         `env:"UNPAID_SEATS_MAX" envDefault:"20"`
	BillSeatsShare    models.Rate `env:"BILL_SEATS_SHARE" envDefault:"0.3"`
	// UnverifiedSeatsShare of a trip's seats, and UnpaidSeatsPerNetwork (/24, /48), are what accounts without a verified email address hold
	// unpaid, all together; 0: no limit.
	UnverifiedSeatsShare  models.Rate `env:"UNVERIFIED_SEATS_SHARE" envDefault:"0.2"`
	UnpaidSeatsPerNetwork int         `env:"UNPAID_SEATS_PER_NETWORK" envDefault:"60"`
	// UnpaidAttemptsPerHour is how many payments an account may begin within an hour without paying; 0: no limit.
	UnpaidAttemptsPerHour int `env:"UNPAID_ATTEMPTS_PER_HOUR" envDefault:"60"`
	// AdMinPricePerDay is what a campaign costs at least for each of its days, without VAT; 0: anything.
	AdMinPricePerDay models.Money `env:"AD_MIN_PRICE_PER_DAY" envDefault:"10.00"`
	// AskFor is how long a gateway is polled about an expired attempt before an incident notifies an operator.
	AskFor time.Duration `env:"EXPIRY_ASK_FOR" envDefault:"5m"`
	// SettleAfter is how long a gateway is asked about a refund that it does not know, after a request whose outcome is unknown,
	// before the refund counts as not made.
	SettleAfter time.Duration `env:"REFUND_SETTLE_AFTER" envDefault:"2m"`
	// LateChecks are how long after the end of an unpaid attempt the gateway is polled again whether it has taken money for
	// it; 0: never.
	LateChecks []time.Duration `env:"LATE_PAYMENT_CHECKS" envDefault:"10m,2h,24h"`
}

// Hold is how long seats are kept for an unpaid booking of the method.
func (p Policies) Hold(method models.PaymentMethod) time.Duration {
	if method == models.MethodBillPayment {
		return p.BillPaymentHold
	}

	return p.BookingHold
}

// Redis shares rate limits between replicas; an empty URL keeps them in memory.
type Redis struct {
	URL Secret `env:"REDIS_URL" secret:"address"`
	// Timeout bounds one count, connecting included; past it the process counts for itself.
	Timeout time.Duration `env:"REDIS_TIMEOUT" envDefault:"100ms"`
}

// Media is where uploaded photos go, and how they are opened (rules: companies.photos).
type Media struct {
	// URL is file:///directory or s3://bucket?region=…; empty means files under DATA_DIR/media.
	URL string `env:"MEDIA_URL"`
	// URLSecrets sign the addresses of photos, newest first. Every API process needs the same.
	URLSecrets Secrets `env:"MEDIA_URL_SECRET" secret:"text"`
	// URLTTL is how long an address opens at least; twice that at most.
	URLTTL time.Duration `env:"MEDIA_URL_TTL" envDefault:"1h"`
	// Quota is what the photos of one company may take up; 0: no limit.
	Quota Bytes `env:"MEDIA_QUOTA" envDefault:"1GiB"`
}

// Notify are the settings of messages to customers.
type Notify struct {
	// SMTPURL is smtp://user:password@host:port or smtps://…; empty writes mail to DATA_DIR/outbox.
	SMTPURL  Secret `env:"SMTP_URL" secret:"address"`
	MailFrom string `env:"MAIL_FROM" envDefault:"Rihla <no-reply@rihla.test>"`
	// BookingURL is where customers see a booking, with {booking_id} or {booking_number} in it; empty: mails have no link.
	BookingURL string `env:"BOOKING_URL"`
	// TripURL is where customers book a trip, with {trip_id} in it; empty: mails about a payment that came too late have no link to it.
	TripURL string `env:"TRIP_URL"`
	// SupportPhone and SupportEmail are where customers reach support, for the end of each mail; empty: mails do not say it.
	SupportPhone string `env:"SUPPORT_PHONE"`
	SupportEmail string `env:"SUPPORT_EMAIL"`
	// SMSDriver is file (DATA_DIR/outbox) or http (POST to SMSURL).
	SMSDriver SMSDriver `env:"SMS_DRIVER" envDefault:"file"`
	SMSURL    string    `env:"SMS_URL"`
	SMSAPIKey Secret    `env:"SMS_API_KEY" secret:"text"`
	// SMSCountries are the country codes to which SMS are sent; 0: all.
	SMSCountries []string `env:"SMS_COUNTRIES" envDefault:"966"`
	// MailConcurrency and SMSConcurrency are how many messages one worker process hands over at once.
	MailConcurrency int `env:"MAIL_CONCURRENCY" envDefault:"64"`
	SMSConcurrency  int `env:"SMS_CONCURRENCY" envDefault:"64"`
	// Deliverers is by how many deliverers, on all workers, a backlog of messages is shared; 1: by none.
	Deliverers int `env:"OUTBOX_DELIVERERS" envDefault:"4"`
	// MessagesPerRecipient is how many emails, and how many SMS, an address gets within 24 hours; 0: no limit.
	MessagesPerRecipient int `env:"MESSAGES_PER_RECIPIENT" envDefault:"20"`
}

// Countries are the country codes to which SMS are sent, digits only; none: all.
func (n Notify) Countries() []string {
	if slices.Equal(n.SMSCountries, []string{"0"}) {
		return nil
	}

	codes := make([]string, len(n.SMSCountries))
	for i, code := range n.SMSCountries {
		codes[i] = strings.TrimPrefix(strings.TrimSpace(code), "+")
	}

	return codes
}

// Schedules are the periods of background work.
type Schedules struct {
	// SweepInterval is the time between two sweeps for lost events (rules: webhooks.durable).
	SweepInterval time.Duration `env:"SWEEP_INTERVAL" envDefault:"10s"`
	// WebhookSilence is after how long without webhooks, while customers wait, the gateway is asked; 0: never.
	WebhookSilence time.Duration `env:"WEBHOOK_SILENCE" envDefault:"2m"`
}

// Metrics is where API and worker show their metrics; outside production the API has them at /metrics of its own address, too.
type Metrics struct {
	// Addr is host:port; empty: nowhere else.
	Addr string `env:"METRICS_ADDR"`
	// BackupStamp is a file that the backup touches when it has succeeded; the API shows its age. Empty: no such metric.
	BackupStamp string `env:"BACKUP_STAMP_FILE"`
}

// OSEnviron is the environment of this process, as Load wants it.
func OSEnviron() map[string]string { return env.ToMap(os.Environ()) }

// Load reads the settings from environ; a name with an empty value counts as unset, as compose files leave them.
// Of malformed values it returns one error that names every one of them and shows no secret, with the settings as they are
// without the ones that cannot be read: the caller can report their other problems together with these.
func Load(environ map[string]string) (Config, error) {
	set := make(map[string]string, len(environ))

	for name, value := range environ {
		if v := strings.TrimSpace(value); v != "" {
			set[name] = v
		}
	}

	var c Config

	malformed := env.ParseWithOptions(&c, env.Options{Environment: set})
	if malformed != nil {
		malformed = parseProblems(set, malformed)
		c = Config{}

		if err := env.ParseWithOptions(&c, env.Options{Environment: readable(set)}); err != nil {
			return Config{}, malformed
		}
	}

	c.App.PublicURL = strings.TrimRight(c.App.PublicURL, "/")
	c.App.PayURL = strings.TrimRight(c.App.PayURL, "/")
	c.Temporal.BuildID = cmp.Or(c.Temporal.BuildID, c.Temporal.WorkerBuildID)

	for _, g := range []*MerchantAccount{
		&c.Gateways.A.MerchantAccount, &c.Gateways.WalletB.MerchantAccount,
		&c.Gateways.ABackup.MerchantAccount, &c.Gateways.WalletBBackup.MerchantAccount,
	} {
		g.URL = strings.TrimRight(g.URL, "/")
	}

	if c.App.Env != Production && !c.Tickets.SigningKeys.IsSet() {
		c.Tickets.SigningKeys = DevTicketKey()
	}

	err := Join(malformed, c.validate())

	if c.App.PublicURL == "" {
		c.App.PublicURL = "http://" + Dialable(c.HTTP.ListenAddr)
	}

	if c.App.PayURL == "" {
		c.App.PayURL = c.App.PublicURL
	}

	return c, err
}

// Dialable turns a listen address into one that a browser on this machine can open.
func Dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}

	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}

	return net.JoinHostPort(host, port)
}
