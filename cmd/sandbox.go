//go:build !production

package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/gateways/drivers"
	"rihla/gateways/simulator"
	"rihla/gateways/simulator/engine"
	"rihla/internal/config"
	"rihla/internal/telemetry"
	"rihla/models"
)

// defaultSandboxAddr is where the sandbox gateway listens.
const defaultSandboxAddr = "127.0.0.1:8090"

// otherSimulatorAddr is where the simulator of another company listens, if it is free.
const otherSimulatorAddr = "127.0.0.1:8092"

func newSandbox() *cobra.Command {
	var listen, public string

	sandbox := &cobra.Command{
		Use:   "sandbox",
		Short: "Run the sandbox gateway: hosted checkout page, signed webhooks, refunds, fault injection; no real money",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(config.Config.RequireDevelopment)
			if err != nil {
				return err
			}

			useDevSecrets(&cfg)
			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", listen)
			if err != nil {
				return fmt.Errorf("sandbox: %w", err)
			}

			stop, err := startSimulator(cfg, drivers.Sandbox, listener, public)
			if err != nil {
				return err
			}

			<-cmd.Context().Done()

			return stop()
		},
	}
	sandbox.Flags().StringVar(&listen, "listen", defaultSandboxAddr, "address to listen on")
	sandbox.Flags().StringVar(&public, "public-url", "", "address at which customers reach it (default: the one each request came to)")

	return sandbox
}

// startSimulator serves the simulator of a driver on listener, as the counterpart of cfg: it accepts the API keys of the accounts with that
// driver, and signs with cfg's webhook secrets. Its state is kept in DATA_DIR. public is the address in the links that it hands out.
func startSimulator(cfg config.Config, driver string, listener net.Listener, public string) (stop func() error, err error) {
	file := filepath.Join(cfg.App.DataDir, driver, "state.db")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, errors.Join(err, listener.Close())
	}

	d, err := simulator.Of(driver)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}

	s, err := d.New(engine.Config{BaseURL: public, Merchants: merchantsOf(cfg, driver), DataFile: file})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}

	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()

	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()

		return errors.Join(s.Close(ctx), <-served)
	}, nil
}

// merchantsOf are our accounts with the driver. They may share an API key in development.
func merchantsOf(cfg config.Config, driver string) []engine.Merchant {
	byKey := map[string]int{}

	var merchants []engine.Merchant

	for _, account := range cfg.Gateways.Accounts() {
		one := cfg.Gateways.For(account)
		if one.Driver != driver {
			continue
		}

		key := one.APIKey.Reveal()

		at, ok := byKey[key]
		if !ok {
			at = len(merchants)
			byKey[key] = at

			merchants = append(merchants, engine.Merchant{
				Name: string(account), APIKey: key, Channels: map[models.PaymentMethod]engine.Channel{},
			})
		}

		for _, method := range models.PaymentMethods() {
			if method.Gateway() != account.Gateway() {
				continue
			}

			channel := cfg.Gateways.Routes().Channel(method)
			if account.IsBackup() {
				channel = account.Gateway().BackupChannel()
			}

			merchants[at].Channels[method] = engine.Channel{
				WebhookURL: cfg.App.PublicURL + "/api/v1/payments/" + channel.Path(),
				Secret:     strings.Join(cfg.Webhooks.For(channel).Reveal(), ","),
			}
		}
	}

	return merchants
}

// useDevSecrets fills in the published development secrets where none is set, in the form of each account's company. Production
// refuses them.
func useDevSecrets(cfg *config.Config) {
	for account, one := range accountSettings(cfg) {
		if d, err := simulator.Of(cfg.Gateways.For(account).Driver); err == nil && !one.APIKey.IsSet() {
			one.APIKey = config.Secret(d.Key(devKey(account)))
		}
	}

	useDevEntities(cfg)

	for channel, secrets := range map[models.Channel]*config.Secrets{
		models.ChannelGatewayA: &cfg.Webhooks.GatewayA, models.ChannelWalletB: &cfg.Webhooks.WalletB,
		models.ChannelWalletA: &cfg.Webhooks.WalletA, models.ChannelBillPayment: &cfg.Webhooks.BillPayment,
		models.ChannelGatewayABackup: &cfg.Webhooks.GatewayABackup, models.ChannelWalletBBackup: &cfg.Webhooks.WalletBBackup,
	} {
		if d, err := simulator.Of(cfg.Gateways.For(channel.Account()).Driver); err == nil && len(*secrets) == 0 {
			*secrets = config.Secrets{config.Secret(d.Secret(config.DevWebhookSecret(channel).Reveal()))}
		}
	}
}

// accountSettings are the settings of every account, to be filled in.
func accountSettings(cfg *config.Config) map[models.MerchantAccount]*config.MerchantAccount {
	return map[models.MerchantAccount]*config.MerchantAccount{
		models.AccountGatewayA: &cfg.Gateways.A.MerchantAccount, models.AccountGatewayABackup: &cfg.Gateways.ABackup.MerchantAccount,
		models.AccountWalletB: &cfg.Gateways.WalletB.MerchantAccount, models.AccountWalletBBackup: &cfg.Gateways.WalletBBackup.MerchantAccount,
	}
}

// useDevEntities gives each account the company's ids of the merchant that it is at the simulator.
func useDevEntities(cfg *config.Config) {
	for account, one := range accountSettings(cfg) {
		driver := cfg.Gateways.For(account).Driver

		d, err := simulator.Of(driver)
		if err != nil || d.Entities == nil || len(one.EntityIDs) > 0 {
			continue
		}

		for _, m := range merchantsOf(*cfg, driver) {
			if m.APIKey == one.APIKey.Reveal() {
				one.EntityIDs = d.Entities(m.Name)
			}
		}
	}
}

// devKey is what development's key of an account is made of. A backup is another account: it has another key.
func devKey(account models.MerchantAccount) string {
	if account.IsBackup() {
		return config.DevAPIKey.Reveal() + "-backup"
	}

	return config.DevAPIKey.Reveal()
}

// usesSimulator reports whether development has to start the account's company: nothing says where that is, and the key is none of its.
func usesSimulator(cfg config.Config, account models.MerchantAccount) bool {
	one := cfg.Gateways.For(account)
	d, err := simulator.Of(one.Driver)

	return err == nil && one.URL == "" && (one.Driver == drivers.Sandbox || one.APIKey.Reveal() == d.Key(devKey(account)))
}
