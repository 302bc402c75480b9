package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/internal/clock"
	"rihla/internal/config"
	"rihla/models"
)

// checkTime bounds all calls of the check of one account.
const checkTime = 30 * time.Second

var errGatewayCheck = errors.New("gateway check: see above what is wrong")

func newGateway() *cobra.Command {
	gateway := &cobra.Command{Use: "gateway", Short: "Look at the merchant accounts at the payment companies"}
	gateway.AddCommand(&cobra.Command{
		Use:   "check",
		Short: "Call each configured account once without moving money, and say what is wrong",
		Long: "Reads the configuration and calls each configured merchant account without moving money: whether its key is taken, " +
			"whether it is for tests or for real money, and, where the company tells, whether the webhooks are registered. Prints " +
			"the webhook addresses to register. Ends with status 1 when something is wrong. Keys are never printed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(checkDrivers)
			if err != nil {
				return err
			}

			if cfg.App.Env == config.Development {
				useDevSecrets(&cfg)
			}

			good := true
			for _, account := range cfg.Gateways.Accounts() {
				good = checkAccount(cmd.Context(), cmd.OutOrStdout(), cfg, account) && good
			}

			if !good {
				return errGatewayCheck
			}

			return nil
		},
	})

	return gateway
}

// checkAccount reports whether nothing is wrong with the account.
func checkAccount(ctx context.Context, w io.Writer, cfg config.Config, account models.MerchantAccount) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()

	name, with := strings.ToUpper(string(account)), driverConfig(cfg, account)
	fmt.Fprintf(w, "%s: %s\n", account, with.Driver)

	findings, hooks := settingsOf(cfg, account)

	if g, err := drivers.Open(account, with); err != nil {
		findings = append(findings, gateways.Finding{About: "settings", Says: err.Error()})
	} else {
		findings = append(findings, callsOf(ctx, g, name, hooks[0])...)
	}

	good := true

	for _, f := range findings {
		mark := "ok   "
		if !f.OK {
			mark, good = "WRONG", false
		}

		fmt.Fprintf(w, "  %s  %-9s %s\n", mark, f.About, f.Says)
	}

	for _, hook := range hooks {
		fmt.Fprintf(w, "         register  %s\n", hook)
	}

	return good
}

// settingsOf looks at the secrets of the account's channels, and lists the addresses of its webhooks.
func settingsOf(cfg config.Config, account models.MerchantAccount) (findings []gateways.Finding, hooks []string) {
	with := driverConfig(cfg, account)

	for _, channel := range cfg.Gateways.Channels() {
		if channel.Account() != account {
			continue
		}

		hooks = append(hooks, cfg.App.PublicURL+"/api/v1/payments/"+channel.Path())
		name := "WEBHOOK_SECRETS_" + strings.ToUpper(string(channel))
		found := gateways.Finding{OK: true, About: "secret", Says: name + " is set"}

		driver, err := drivers.Of(with.Driver)
		if err == nil {
			_, err = driver.Verifier(with, cfg.Webhooks.For(channel).Reveal())
		}

		if err != nil {
			found.OK, found.Says = false, name+": "+err.Error()
		}

		findings = append(findings, found)
	}

	return findings, hooks
}

// callsOf asks the company.
func callsOf(ctx context.Context, g gateways.Gateway, name, hook string) []gateways.Finding {
	err := gateways.CheckKey(ctx, g, clock.Now())

	switch {
	case gateways.KindOf(err) == gateways.KindUnauthorized:
		return []gateways.Finding{{About: "key", Says: name + "_API_KEY is refused"}}
	case err != nil:
		return []gateways.Finding{{About: "calls", Says: "the company cannot be asked: " + err.Error()}}
	}

	findings := []gateways.Finding{{OK: true, About: "key", Says: name + "_API_KEY is taken"}}

	checker, ok := g.(gateways.Checker)
	if !ok {
		return findings
	}

	more, err := checker.Check(ctx, hook)
	if err != nil {
		return append(findings, gateways.Finding{About: "calls", Says: "the company cannot be asked: " + err.Error()})
	}

	return append(findings, more...)
}
