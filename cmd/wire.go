package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"rihla/internal/clock"
	"rihla/internal/codec"
	"rihla/internal/config"
	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/telemetry"
	"rihla/internal/ticket"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

// openStore connects to the database with the configured money rules, and fails when it does not answer.
func openStore(ctx context.Context, cfg config.Config) (*store.Store, error) {
	return store.Open(ctx, cfg.Database.URL.Reveal(), policies(cfg), poolOptions(cfg))
}

func policies(cfg config.Config) models.Policies {
	p := cfg.Policies

	return models.Policies{
		VATBooking: p.VATRateBooking, VATAd: p.VATRateAd, Commission: p.CommissionRate,
		BookingHold: p.BookingHold, BillHold: p.BillPaymentHold,
		FailAtOnce: p.BookingFailure == config.FailAtOnce, Cancellation: p.Cancellation, LateChecks: p.LateChecks,
		CancelAlone: p.CancellationAutoApprove, CancelReminder: p.CancellationReminder,
		TripCancellationAbove: p.TripCancellationAbove,
		Approval:              models.ApprovalRules{Above: p.RefundApprovalAbove, AlonePerDay: p.RefundsAlonePerDay, Wait: p.RefundApprovalWait},
		PayoutAbove:           p.PayoutApprovalAbove,
		Login:                 models.LoginRules{PauseMax: cfg.Logins.PauseMax, LockAfter: cfg.Logins.LockAfter},
		Strangers:             models.StrangerRules{Mails: cfg.Strangers.MailsPerHour, Registrations: cfg.Strangers.RegistrationsPerNetwork},
		RescheduleTolerance:   p.RescheduleTolerance, RescheduleNotice: p.RescheduleNotice, TripMovesPerDay: p.TripMovesPerDay,
		PassengerNameChanges: p.PassengerNameChanges,
		UnpaidBookings:       p.UnpaidBookingsMax, UnpaidSeats: p.UnpaidSeatsMax, BillShare: p.BillSeatsShare,
		UnverifiedShare: p.UnverifiedSeatsShare, UnpaidPerNetwork: p.UnpaidSeatsPerNetwork,
		UnpaidAttempts: p.UnpaidAttemptsPerHour, Routes: cfg.Gateways.Routes(), Methods: offered(cfg).terms(),
		MediaQuota: int64(cfg.Media.Quota),
		AdPerDay:   p.AdMinPricePerDay, MessagesPerRecipient: cfg.Notify.MessagesPerRecipient, SMSCountries: cfg.Notify.Countries(),
	}
}

// serving is the pool of API and worker, whose statements are short.
func serving(cfg config.Config) db.Options {
	o := poolOptions(cfg)
	o.StatementTimeout, o.IdleInTxTimeout = cfg.Database.StatementTimeout, cfg.Database.IdleInTxTimeout

	return o
}

func poolOptions(cfg config.Config) db.Options {
	return db.Options{
		MaxConns: cfg.Database.MaxConns, MaxIdleConns: cfg.Database.MaxIdleConns,
		ConnMaxLifetime: cfg.Database.ConnMaxLifetime, ConnMaxIdleTime: cfg.Database.ConnMaxIdleTime,
	}
}

// firstTry bounds how long a process that starts waits for its database's first answer.
const firstTry = 5 * time.Second

// openServing is openStore for API and worker. A database that is away does not keep them from starting, as one that
// goes away later does not end them: requests are answered with 503 and activities tried again until it is back. One that
// refuses this process (a wrong password, no such database) is an error: only an operator can mend that.
func openServing(ctx context.Context, cfg config.Config) (*store.Store, error) {
	s, err := store.OpenLazy(cfg.Database.URL.Reveal(), policies(cfg), serving(cfg))
	if err != nil {
		return nil, err
	}

	if cfg.App.Env == config.Production && len(cfg.App.AllowInsecure) > 0 {
		slog.WarnContext(ctx, "ALLOW_INSECURE: connections without TLS are allowed", "connections", cfg.App.AllowInsecure)
	}

	ping, cancel := context.WithTimeout(ctx, firstTry)
	defer cancel()

	switch err := s.DB.Ping(ping); {
	case err == nil:
		warnOfSchema(ctx, s)
		warnOfOwnership(ctx, s)
	case !db.IsUnavailable(err):
		return nil, errors.Join(err, s.Close())
	default:
		slog.WarnContext(ctx, "the database does not answer; starting without it", "error", err)
	}

	return s, nil
}

// orchestrator is Temporal as API and worker see it.
type orchestrator struct {
	client.Client

	options   client.Options
	codec     *codec.Codec
	namespace string
}

// dialTemporal connects to the orchestrator as the SDK's profile and environment variables say. It does not wait for
// it: a service that starts while Temporal is away answers 503 until it is back. m counts what the SDK does; nil: nothing does.
func dialTemporal(cfg config.Config, m client.MetricsHandler) (*orchestrator, error) {
	o, err := temporalOptions(cfg, envconfig.EnvLookupOS)
	if err != nil {
		return nil, err
	}

	o.Logger, o.MetricsHandler = log.NewStructuredLogger(slog.Default().With("component", "temporal")), m
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithConnectParams(reconnect()))

	t := &orchestrator{options: o, namespace: o.Namespace}

	if t.codec, err = openCodec(cfg); err != nil {
		return nil, err
	}

	if t.Client, err = t.dial(t.codec); err != nil {
		return nil, fmt.Errorf("connect to Temporal: %w", err)
	}

	return t, nil
}

// temporalOptions are how to reach Temporal, by the SDK's profile and environment variables and our own; its error names all
// that is wrong with them.
func temporalOptions(cfg config.Config, environ envconfig.EnvLookup) (client.Options, error) {
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: environ})
	if err != nil {
		return client.Options{}, config.Problem("Temporal configuration: %v", err)
	}

	if cfg.Temporal.Address != "" {
		o.HostPort = cfg.Temporal.Address
	}

	if o.Namespace == "" {
		o.Namespace = client.DefaultNamespace
	}

	return o, checkTemporalSafety(cfg, &o)
}

// lookup is an environment as the SDK reads one.
type lookup map[string]string

// Environ implements envconfig.EnvLookup.
func (l lookup) Environ() []string {
	all := make([]string, 0, len(l))
	for name, value := range l {
		all = append(all, name+"="+value)
	}

	return all
}

// LookupEnv implements envconfig.EnvLookup.
func (l lookup) LookupEnv(name string) (string, bool) {
	value, ok := l[name]

	return value, ok
}

// checkTemporalSafety checks the connection to Temporal in production: without a key any client that reaches it could start
// workflows, read histories and signal payments.
func checkTemporalSafety(cfg config.Config, o *client.Options) error {
	if !cfg.Demands(config.InsecureTemporal) {
		return nil
	}

	const trusted = " (for a trusted network: ALLOW_INSECURE=temporal)"

	var found []error

	tls := o.ConnectionOptions.TLS

	switch {
	case tls == nil || o.ConnectionOptions.TLSDisabled:
		found = append(found, config.Problem("TEMPORAL_TLS must be true in production"+trusted))
	case tls.InsecureSkipVerify:
		found = append(found, config.Problem("TEMPORAL_TLS_DISABLE_HOST_VERIFICATION must not be set in production"+trusted))
	}

	if o.Credentials == nil && (tls == nil || len(tls.Certificates) == 0 && tls.GetClientCertificate == nil) {
		found = append(found, config.Problem("TEMPORAL_API_KEY or TEMPORAL_TLS_CLIENT_CERT_PATH is missing, and production needs one"+trusted))
	}

	return config.Join(found...)
}

func (t *orchestrator) dial(with *codec.Codec) (client.Client, error) {
	o := t.options
	with.Install(&o)

	return client.NewLazyClient(o)
}

// openCodec makes the codec of TEMPORAL_CODEC_KEYS.
func openCodec(cfg config.Config) (*codec.Codec, error) {
	keys, err := codec.ParseKeys(cfg.Temporal.CodecKeys.Reveal())
	if err != nil {
		return nil, fmt.Errorf("TEMPORAL_CODEC_KEYS %w", err)
	}

	return codec.New(keys)
}

// forPolling is the client of the workers' own: a payload that cannot be decrypted there is tried again, and fails nothing
// (codec.PanicOnUndecryptable). It has a connection of its own, since the SDK would share one only while the orchestrator answers.
func (t *orchestrator) forPolling(open *closers) (client.Client, error) {
	c, err := t.dial(t.codec.PanicOnUndecryptable())
	if err == nil {
		open.add(c.Close)
	}

	return c, err
}

// reconnect tries to reach an orchestrator that is away once a second. The SDK would wait up to ten, in which payments
// that could be settled again stand still; and pollers have a back-off of their own on top of it.
func reconnect() grpc.ConnectParams {
	p := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 20 * time.Second}
	p.Backoff.BaseDelay, p.Backoff.MaxDelay = 200*time.Millisecond, time.Second

	return p
}

// warnOfSchema logs a warning when the database has not been migrated yet.
func warnOfSchema(ctx context.Context, s *store.Store) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()

	if err := s.DB.Ready(ctx); models.CodeOf(err) == models.CodeServiceUnavailable {
		slog.WarnContext(ctx, "the database is not ready for this version", "database", err)
	}
}

// warnOfOwnership logs a warning when the service's role owns append-only tables and could change their rows. A database
// that is away says so elsewhere.
func warnOfOwnership(ctx context.Context, s *store.Store) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()

	if owns, err := s.DB.OwnsLedger(ctx); err == nil && owns {
		slog.WarnContext(ctx, "the database role owns the ledger and could disable its triggers: "+
			"make it another one with `rihla migrate --grant-to`")
	}
}

// warnOfReturns says once at the start of production that customers may be sent to any https address after they have paid, which an
// API without apps on the web allows.
func warnOfReturns(ctx context.Context, log *slog.Logger, cfg config.Config) {
	if cfg.App.Env == config.Production && len(cfg.Returns.Hosts) == 0 {
		log.WarnContext(ctx, "RETURN_URL_HOSTS is not set: return_url may be any https address, and an account can make an address of "+
			"this service redirect to any site; set it to the hosts of your apps")
	}
}

// connect opens what API and worker both need, and has it closed with the rest.
func connect(ctx context.Context, cfg config.Config, m *telemetry.Metrics, open *closers) (*store.Store, *orchestrator, error) {
	s, err := openServing(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}

	open.add(func() { _ = s.Close() })

	counts, err := m.Temporal()
	if err != nil {
		return nil, nil, err
	}

	t, err := dialTemporal(cfg, counts)
	if err != nil {
		return nil, nil, err
	}

	open.add(t.Close)

	return s, t, nil
}

// startWorker connects everything a worker needs and begins to poll. The returned function stops it.
func startWorker(ctx context.Context, cfg config.Config, m *telemetry.Metrics) (stop func(), err error) {
	var open closers
	defer func() {
		if err != nil {
			open.close()
		}
	}()

	s, temporal, err := connect(ctx, cfg, m, &open)
	if err != nil {
		return nil, err
	}

	m.WatchPool("worker", s.DB.Raw)

	if err := m.Workflows(temporal.namespace, cfg.Temporal.TaskQueue, workflows.Names()); err != nil {
		return nil, err
	}

	circuits := worker.NewCircuits(s.Incidents.RecordOutage, clock.Now, slog.Default())
	open.add(circuits.Stop)

	gates, err := openGateways(cfg, m, circuits)
	if err != nil {
		return nil, err
	}

	go circuits.WatchKeys(ctx, gates)

	sender, err := notify.New(cfg, slog.Default())
	if err != nil {
		return nil, err
	}

	open.add(sender.Close)

	outbox, err := outboxLimits(cfg)
	if err != nil {
		return nil, err
	}

	polls, err := temporal.forPolling(&open)
	if err != nil {
		return nil, err
	}

	reads := client.Options{}
	temporal.codec.Install(&reads)

	w := worker.New(worker.Deps{
		Temporal: temporal, Polls: polls, Store: s, Gateways: gates, Sender: sender, Outbox: outbox, Namespace: temporal.namespace,
		Queue: cfg.Temporal.TaskQueue, SweepInterval: cfg.Schedules.SweepInterval, Concurrency: cfg.Database.MaxConns,
		AskFor: cfg.Policies.AskFor, SettleAfter: cfg.Policies.SettleAfter, TripRate: cfg.Policies.TripCancellationRate,
		WebhookSilence: cfg.Schedules.WebhookSilence, PollLimiters: pollLimiters(cfg.Gateways), Asked: m.StatusAsked, Silent: m.WebhooksSilent,
		Now: clock.Now, Log: slog.Default(), Settled: countSettled(m), Deployment: cfg.Temporal.DeploymentName, BuildID: cfg.Temporal.BuildID,
		Data: reads.DataConverter, Failures: reads.FailureConverter,
	})
	if err := w.Start(ctx); err != nil {
		return nil, err
	}

	open.add(w.Stop)

	return open.close, nil
}

func outboxLimits(cfg config.Config) (worker.OutboxLimits, error) {
	limits := worker.OutboxLimits{
		AtOnce: map[models.NotificationChannel]int{
			models.NotifyEmail: cfg.Notify.MailConcurrency, models.NotifySMS: cfg.Notify.SMSConcurrency,
		},
		Deliverers: cfg.Notify.Deliverers, AccountPages: cfg.AccountPages(),
	}

	tickets, err := ticket.LoadKeys(cfg.Tickets.SigningKeys.Reveal())
	if err != nil {
		return limits, err
	}

	// In production a worker that was not told PUBLIC_URL does not know where customers reach the API.
	if cfg.App.Env != config.Production || strings.HasPrefix(cfg.App.PublicURL, "https://") {
		limits.TicketLink = func(booking uuid.UUID) string { return cfg.App.PublicURL + tickets.LinkTo(booking) }
	}

	return limits, nil
}

// closers run in the opposite order of their adding.
type closers []func()

func (c *closers) add(f func()) { *c = append(*c, f) }

func (c *closers) close() {
	for _, f := range slices.Backward(*c) {
		f()
	}
}
