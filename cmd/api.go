package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"rihla/api"
	"rihla/api/admission"
	"rihla/api/exports"
	"rihla/api/middleware"
	"rihla/api/operations"
	"rihla/api/ratelimit"
	"rihla/internal/auth"
	"rihla/internal/clock"
	"rihla/internal/config"
	"rihla/internal/inbox"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/internal/ticket"
	"rihla/workflows"
)

// hashesAtOnce bounds how many passwords are hashed side by side: each takes 19 MiB and a core.
const hashesAtOnce = 4

func newAPI() *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Serve the HTTP API",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadServing(config.Config.RequireAPI)
			if err != nil {
				return err
			}

			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			registry := prometheus.NewRegistry()

			metrics, err := newMetrics(registry)
			if err != nil {
				return err
			}

			var serves atomic.Bool

			stopMetrics, err := serveMetrics(cmd.Context(), cfg.Metrics.Addr, metrics, serves.Load)
			if err != nil {
				return err
			}
			defer stopMetrics()

			stop, err := startAPI(cmd.Context(), cfg, registry, metrics)
			if err != nil {
				return err
			}

			serves.Store(true)
			<-cmd.Context().Done()
			serves.Store(false)

			return stop()
		},
	}
}

// startAPI connects everything the API needs, begins to relay what is stored, and serves. The returned function lets
// running requests finish.
func startAPI(
	ctx context.Context, cfg config.Config, registry *prometheus.Registry, metrics *telemetry.Metrics,
) (stop func() error, err error) {
	var open closers
	defer func() {
		if err != nil {
			open.close()
		}
	}()

	s, temporal, err := connect(ctx, cfg, metrics, &open)
	if err != nil {
		return nil, err
	}

	warnOfReturns(ctx, slog.Default(), cfg)

	workflowClient := workflows.NewClient(temporal, cfg.Temporal.TaskQueue)
	eventRelay := inbox.NewRelay(s.Inbox, slog.Default(), workflowClient.Deliver)

	eventRelay.Report(metrics.RelayBacklog)
	metrics.WatchBooks(countUnfinished(s, cfg.Gateways.Accounts()))
	metrics.WatchBackup(cfg.Metrics.BackupStamp)
	metrics.WatchPool("api", s.DB.Raw)

	deps, handlers, err := apiDeps(ctx, cfg, apiParts{s, workflowClient, eventRelay, registry, metrics}, &open)
	if err != nil {
		return nil, err
	}

	app, err := api.New(deps)
	if err != nil {
		return nil, err
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.HTTP.ListenAddr)
	if err != nil {
		return nil, fmt.Errorf("LISTEN_ADDR: %w", err)
	}

	eventRelay.Start()
	open.add(eventRelay.Stop)

	exports.Clear(ctx, slog.Default())

	stopListening := handlers.Listen()

	served := make(chan error, 1)
	entrance := newAcceptGate(api.Listener(listener))

	go func() { served <- app.Listener(entrance) }()

	select {
	case <-entrance.begun:
	case err := <-served:
		served <- err // for the one who stops
	}

	slog.InfoContext(ctx, "API serves", "address", listener.Addr().String())

	return func() error {
		stopListening()

		exportsOver := handlers.StopExports()

		err := app.ShutdownWithTimeout(cfg.App.ShutdownTimeout)
		handlers.FinishResets()
		err = errors.Join(err, exportsOver(), <-served)
		open.close()

		return err
	}, nil
}

// apiParts are what the API is wired from.
type apiParts struct {
	store     *store.Store
	workflows *workflows.Client
	relay     *inbox.Relay
	registry  *prometheus.Registry
	metrics   *telemetry.Metrics
}

func apiDeps(ctx context.Context, cfg config.Config, p apiParts, open *closers) (api.Deps, *operations.Operations, error) {
	who, err := openAuth(ctx, cfg, p.store)
	if err != nil {
		return api.Deps{}, nil, err
	}

	channels, err := webhookVerifiers(cfg)
	if err != nil {
		return api.Deps{}, nil, err
	}

	limiter, err := openLimiter(ctx, cfg, who.keys, p.metrics, open)
	if err != nil {
		return api.Deps{}, nil, err
	}

	tickets, err := ticket.LoadKeys(cfg.Tickets.SigningKeys.Reveal())
	if err != nil {
		return api.Deps{}, nil, err
	}

	keySet, err := auth.KeySet(who.keys, tickets.Public()...)
	if err != nil {
		return api.Deps{}, nil, err
	}

	files, links, err := openMedia(ctx, cfg, p.store, open)
	if err != nil {
		return api.Deps{}, nil, err
	}

	limits := ratelimit.New(limiter, cfg.Limits, middleware.LimiterFailed(slog.Default()))
	handlers := operations.New(operations.Deps{
		Store: p.store, Workflows: p.workflows, Passwords: who.passwords, Issuer: auth.NewIssuer(who.keys, cfg.Tokens),
		Sealer: who.sealer, SignOn: who.signOn, StepUpAbove: cfg.Identity.StepUpAbove,
		Logins: limits, Verifiers: channels, Pages: pages(cfg), Methods: offered(cfg), Hold: policies(cfg).Hold,
		AtOnce: cfg.AtOnce, Inbox: inbox.NewQueue(slog.Default(), p.store.Inbox.StoreOpenEvents, p.store.Inbox.StoreEvent),
		Deliver: p.relay.Enqueue, Metrics: p.metrics, Media: files, Links: links, Tickets: tickets, Now: clock.Now, Log: slog.Default(),
		RefreshTTL: cfg.Tokens.RefreshTTL, CheckoutWait: cfg.HTTP.CheckoutWait, RefundWait: cfg.HTTP.RefundWait,
		PublicURL: cfg.App.PublicURL, PayURL: cfg.App.PayURL, Returns: cfg.ReturnRules(),
		TemporalUI: strings.TrimRight(cfg.Temporal.UIURL, "/"), Runbook: cfg.App.RunbookURL,
	})

	domain, err := applePayDomain(cfg.App.ApplePayDomainFile)
	if err != nil {
		return api.Deps{}, nil, err
	}

	// The public address is open to all: in production only METRICS_ADDR shows the figures of the business.
	var public prometheus.Gatherer
	if cfg.App.Env != config.Production {
		public = p.registry
	}

	return api.Deps{
		Deps: middleware.Deps{
			Auth: auth.NewGate(who.verifier, accountStatus(p.store), cfg.StrictRoles()...), MayWrite: handlers.MayWrite,
			SteppedUp: handlers.SteppedUp, ReadPeople: handlers.ReadPeople, Webhooks: handlers.Webhooks(), Limits: limits,
			Admission:   admission.New(cfg.Admission, p.metrics),
			Idempotency: &idempotency{store: p.store}, Observe: p.metrics.Request, Log: slog.Default(),
			PublicURL: cfg.App.PublicURL, PayURL: cfg.App.PayURL, TrustedProxies: cfg.HTTP.TrustedProxies,
		},
		Operations: handlers, JWKS: keySet, Metrics: public, CORSOrigins: cfg.HTTP.CORSOrigins,
		ApplePayDomain: domain,
		Checks:         map[string]func(context.Context) error{"database": p.store.DB.Ready, "orchestrator": p.workflows.Ping},
		Accounts:       accountStates(cfg, p.store), PageSizes: cfg.PageSizes.ByModule(),
	}, handlers, nil
}

// apiAuth is what the API knows callers by.
type apiAuth struct {
	keys      *auth.Keyring
	verifier  *auth.Verifier
	passwords *auth.Passwords
	sealer    *auth.Sealer
	signOn    *auth.SignOn
}

func openAuth(ctx context.Context, cfg config.Config, s *store.Store) (apiAuth, error) {
	keys, err := auth.LoadKeyring(cfg.Tokens.SigningKeys.Reveal())
	if err != nil {
		return apiAuth{}, err
	}

	verifier, err := auth.NewVerifier(ctx, keys, cfg.Tokens, slog.Default())
	if err != nil {
		return apiAuth{}, err
	}

	passwords, err := auth.NewPasswords(hashesAtOnce)
	if err != nil {
		return apiAuth{}, err
	}

	unknown, err := keys.Derive("rihla addresses without an account")
	if err != nil {
		return apiAuth{}, err
	}

	s.Accounts.KeyUnknown(unknown)

	sealer, err := auth.NewSealer(cfg.Identity.TOTPKeys.Reveal(), keys)
	if err != nil {
		return apiAuth{}, err
	}

	signOn, err := auth.NewSignOn(ctx, cfg.Identity.OIDC, cfg.App.PublicURL, slog.Default())
	if err != nil {
		return apiAuth{}, err
	}

	return apiAuth{keys: keys, verifier: verifier, passwords: passwords, sealer: sealer, signOn: signOn}, nil
}

// maxApplePayDomain is far above the size of Apple's file, which has 9 KB.
const maxApplePayDomain = 64 << 10

// applePayDomain reads the file that Apple gave, if there is one.
func applePayDomain(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}

	file, err := os.ReadFile(name) //nolint:gosec // operator's own file
	if err != nil {
		return nil, config.Problem("APPLE_PAY_DOMAIN_FILE cannot be read: %v", err)
	}

	if len(file) == 0 || len(file) > maxApplePayDomain {
		return nil, config.Problem("APPLE_PAY_DOMAIN_FILE must have 1 byte to %d: it is the file that Apple offers for the domain",
			maxApplePayDomain)
	}

	return file, nil
}

// accountStatus looks accounts up for the gate.
func accountStatus(s *store.Store) func(context.Context, uuid.UUID, uuid.UUID) (auth.AccountStatus, error) {
	return func(ctx context.Context, user, session uuid.UUID) (auth.AccountStatus, error) {
		now, err := s.Accounts.AccountStatus(ctx, user, session)

		return auth.AccountStatus{
			Role: now.Role, ProviderID: now.ProviderID, Generation: now.TokenGeneration,
			SessionOver: now.SessionOver, SecondFactor: now.SecondFactor,
		}, err
	}
}
