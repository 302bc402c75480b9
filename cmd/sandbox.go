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
	"rihla/gateways/sandbox/server"
	"rihla/internal/config"
	"rihla/internal/telemetry"
	"rihla/models"
)

// defaultSandboxAddr is where the sandbox gateway listens.
const defaultSandboxAddr = "127.0.0.1:8090"

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

			stop, err := startSandbox(cfg, listener, public)
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

// startSandbox serves the sandbox gateway on listener, as the counterpart of cfg: it accepts cfg's API keys and signs
// with cfg's webhook secrets. Its state is kept in DATA_DIR. public is the address in the links that it hands out.
func startSandbox(cfg config.Config, listener net.Listener, public string) (stop func() error, err error) {
	file := filepath.Join(cfg.App.DataDir, "sandbox", "state.db")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, errors.Join(err, listener.Close())
	}

	s, err := server.New(server.Config{
		BaseURL:   public,
		Merchants: sandboxMerchants(cfg),
		DataFile:  file,
	})
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

// sandboxMerchants are the accounts of our two payment companies. They may share an API key in development.
func sandboxMerchants(cfg config.Config) []server.Merchant {
	byKey := map[string]int{}

	var merchants []server.Merchant

	for _, account := range cfg.Gateways.Accounts() {
		one := cfg.Gateways.For(account)
		if one.Driver != drivers.Sandbox {
			continue
		}

		key := one.APIKey.Reveal()

		at, ok := byKey[key]
		if !ok {
			at = len(merchants)
			byKey[key] = at

			merchants = append(merchants, server.Merchant{
				Name: string(account), APIKey: key, Channels: map[models.PaymentMethod]server.Channel{},
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

			merchants[at].Channels[method] = server.Channel{
				WebhookURL: cfg.App.PublicURL + "/api/v1/payments/" + channel.Path(),
				Secret:     strings.Join(cfg.Webhooks.For(channel).Reveal(), ","),
			}
		}
	}

	return merchants
}

// useDevSecrets fills in the published development secrets where none is set. Production refuses them.
func useDevSecrets(cfg *config.Config) {
	for _, g := range []*config.MerchantAccount{&cfg.Gateways.A.MerchantAccount, &cfg.Gateways.WalletB.MerchantAccount} {
		if !g.APIKey.IsSet() {
			g.APIKey = config.DevAPIKey
		}
	}

	// A backup is another account: it has a key of its own.
	for _, g := range []*config.MerchantAccount{&cfg.Gateways.ABackup.MerchantAccount, &cfg.Gateways.WalletBBackup.MerchantAccount} {
		if !g.APIKey.IsSet() {
			g.APIKey = config.DevAPIKey + "-backup"
		}
	}

	for channel, secrets := range map[models.Channel]*config.Secrets{
		models.ChannelGatewayA: &cfg.Webhooks.GatewayA, models.ChannelWalletB: &cfg.Webhooks.WalletB,
		models.ChannelWalletA: &cfg.Webhooks.WalletA, models.ChannelBillPayment: &cfg.Webhooks.BillPayment,
		models.ChannelGatewayABackup: &cfg.Webhooks.GatewayABackup, models.ChannelWalletBBackup: &cfg.Webhooks.WalletBBackup,
	} {
		if len(*secrets) == 0 {
			*secrets = config.Secrets{config.DevWebhookSecret(channel)}
		}
	}
}
