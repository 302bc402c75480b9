package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"rihla/activities"
	"rihla/api/middleware"
	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/internal/clock"
	"rihla/internal/config"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/models"
	"rihla/worker"
)

// driverConfig is what a driver needs to know of the configuration.
func driverConfig(cfg config.Config, account models.MerchantAccount) drivers.Config {
	g := cfg.Gateways.For(account)
	brands := map[models.PaymentMethod][]string{}

	for method, names := range g.HyperPay.Brands {
		brands[method] = strings.Fields(names)
	}

	return drivers.Config{
		Driver: g.Driver, URL: g.URL, APIKey: g.APIKey.Reveal(), EntityIDs: g.EntityIDs,
		PublicURL: cfg.App.PublicURL, PayURL: cfg.App.PayURL,
		Live: cfg.App.Env == config.Production, Timeout: g.Timeout, Brands: brands, Parameters: g.HyperPay.Parameters,
		SearchLag: g.SearchLag,
	}
}

// checkDrivers says what is wrong with the names of drivers and with keys of the wrong mode: a test key would take no money in
// production, and a live one would take it outside.
func checkDrivers(cfg config.Config) error {
	var found []error

	for _, account := range cfg.Gateways.Accounts() {
		name, one := strings.ToUpper(string(account)), cfg.Gateways.For(account)

		driver, err := drivers.Of(one.Driver)
		if err != nil {
			found = append(found, config.Problem("%s_DRIVER: %v", name, err))

			continue
		}

		if len(driver.Capabilities(driverConfig(cfg, account)).Methods) == 0 {
			found = append(found, config.Problem("%s_ENTITY_IDS names no payment method that %s has", name, one.Driver))
		}

		if driver.NeedsPublicURL && cfg.App.PublicURL == "" {
			found = append(found, config.Problem("PUBLIC_URL is missing, and %s needs it for its customers", one.Driver))
		}

		if driver.Page != nil && cfg.App.Env == config.Production {
			found = append(found, checkPayURL(cfg.App, one.Driver))
		}

		switch mode := driver.Mode(one.APIKey.Reveal()); {
		case one.Driver == drivers.Sandbox || !one.APIKey.IsSet():
		case mode == gateways.ModeTest && cfg.App.Env == config.Production:
			found = append(found, config.Problem("%s_API_KEY is a test key, and production needs a live one", name))
		case mode == gateways.ModeLive && cfg.App.Env != config.Production:
			found = append(found, config.Problem("%s_API_KEY is a live key, and moves real money: only with APP_ENV=production", name))
		}
	}

	return config.Join(found...)
}

// checkPayURL: a company's script runs on the page on which customers pay, and could do there what the host's cookies allow. So it is
// another host than that of the API and the console (rules: gateways.pages).
func checkPayURL(app config.App, driver string) error {
	name := func(address string) string { // cookies know no ports
		host := middleware.Host(address)
		if bare, _, err := net.SplitHostPort(host); err == nil {
			return bare
		}

		return host
	}

	if strings.HasPrefix(app.PayURL, "https://") && name(app.PayURL) != name(app.PublicURL) {
		return nil
	}

	return config.Problem("PAY_URL must be an https:// address on another host than PUBLIC_URL in production: "+
		"a script of %s runs on its pages", driver)
}

// webhookVerifiers are those of the channels that are open.
func webhookVerifiers(cfg config.Config) (map[models.Channel]gateways.WebhookVerifier, error) {
	all := map[models.Channel]gateways.WebhookVerifier{}

	for _, channel := range cfg.Gateways.Channels() {
		with := driverConfig(cfg, channel.Account())

		driver, err := drivers.Of(with.Driver)
		if err != nil {
			return nil, err
		}

		if all[channel], err = driver.Verifier(with, cfg.Webhooks.For(channel).Reveal()); err != nil {
			return nil, fmt.Errorf("WEBHOOK_SECRETS_%s: %w", strings.ToUpper(string(channel)), err)
		}
	}

	return all, nil
}

// pages are those of ours on which customers pay.
func pages(cfg config.Config) map[models.MerchantAccount]gateways.Page {
	all := map[models.MerchantAccount]gateways.Page{}

	for _, account := range cfg.Gateways.Accounts() {
		if driver, err := drivers.Of(cfg.Gateways.For(account).Driver); err == nil && driver.Page != nil {
			all[account] = driver.Page
		}
	}

	return all
}

// openGateways opens the configured driver of every merchant account.
func openGateways(cfg config.Config, m *telemetry.Metrics, circuits *worker.Circuits) (map[models.MerchantAccount]gateways.Gateway, error) {
	all := map[models.MerchantAccount]gateways.Gateway{}

	for _, account := range cfg.Gateways.Accounts() {
		opened, err := drivers.Open(account, driverConfig(cfg, account))
		if err != nil {
			return nil, err
		}

		observed := gateways.Observed(opened, func(operation, outcome string, took time.Duration) {
			m.GatewayCall(account, operation, outcome, took)
		})
		one := cfg.Gateways.For(account)
		all[account] = gateways.Guarded(observed, limitsOf(one), guardReports(account, m, circuits, one.BreakerOpenFor))
	}

	return all, nil
}

func limitsOf(g config.Gateway) gateways.Limits {
	return gateways.Limits{
		Timeout: g.Timeout, Rate: g.Rate, Burst: g.Burst, Concurrency: g.Concurrency,
		BreakerFailures: g.BreakerFailures, BreakerOpenFor: g.BreakerOpenFor,
	}
}

// guardReports counts what the guard of a gateway does, and logs what an operator wants to know of.
func guardReports(
	account models.MerchantAccount, m *telemetry.Metrics, circuits *worker.Circuits, openFor time.Duration,
) gateways.Reports {
	for _, calls := range gateways.AllCalls() {
		m.GatewayBreaker(account, string(calls), string(gateways.CircuitClosed))
	}

	return gateways.Reports{
		Moved: func(calls gateways.Calls, to gateways.Circuit, cause gateways.ErrorKind) {
			circuits.Moved(account, calls, to, cause, openFor)
			m.GatewayBreaker(account, string(calls), string(to))
			slog.Warn("gateway breaker", "gateway", account, "calls", calls, "state", to)
		},
		NotSent: func(calls gateways.Calls, reason string) { m.GatewayNotSent(account, string(calls), reason) },
		Paused: func(calls gateways.Calls, pause time.Duration) {
			circuits.Paused(account, calls, pause)
			m.GatewayPaused(account, string(calls), pause)
			slog.Warn("gateway wants a pause", "gateway", account, "calls", calls, "pause", pause)
		},
		Waited: func(calls gateways.Calls, waited time.Duration) { m.GatewayWaited(account, string(calls), waited) },
		Anomaly: func(ctx context.Context, calls gateways.Calls, problem string) {
			slog.WarnContext(ctx, "gateway answer does not match its request", "gateway", account, "calls", calls, "problem", problem)
		},
	}
}

// pollLimiters are those of questions about attempts, at each gateway.
func pollLimiters(g config.Gateways) map[models.MerchantAccount]activities.PollLimiters {
	limiters := map[models.MerchantAccount]activities.PollLimiters{}
	for _, account := range g.Accounts() {
		limiters[account] = activities.NewPollLimiters(g.For(account).Rate)
	}

	return limiters
}

// accountStates say which merchant accounts take no payments now, and why.
func accountStates(cfg config.Config, s *store.Store) func(context.Context) (map[string]string, error) {
	return func(ctx context.Context) (map[string]string, error) {
		outages, err := s.Incidents.GatewayOutages(ctx, clock.Now())
		if err != nil {
			return nil, err
		}

		states := map[string]string{}

		for _, outage := range outages {
			if !slices.Contains(cfg.Gateways.Accounts(), outage.Account) || outage.Calls != string(gateways.CallsCheckout) {
				continue
			}

			says := string(outage.Reason)
			if outage.Reason == models.OutageUnauthorized {
				says = "switched off: the gateway refuses " + strings.ToUpper(string(outage.Account)) + "_API_KEY"
			}

			states[string(outage.Account)] = says
		}

		return states, nil
	}
}
