package cmd

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/internal/config"
	"rihla/models"
)

// accountsOf are settings of a merchant account by driver: a live key, a test key, and what else the company needs. The texts are
// made up, in the look of the company's.
var accountsOf = map[string]struct {
	live, test string
	env        map[string]string // without the prefix
	secret     string            // with %02d in it: every channel has its own
}{
	drivers.Moyasar: {live: "sk_live_4Kd8sQzT1mW7yBf3", test: "sk_test_4Kd8sQzT1mW7yBf3", secret: "token-%02d-4Kd8sQzT1mW7yBf3"},
	drivers.Stripe: {
		live: "sk_live_51Hq8sQzT1mW7yBf3", test: "rk_test_51Hq8sQzT1mW7yBf3", secret: "whsec_%02d4Kd8sQzT1mW7yBf3",
	},
	drivers.HyperPay: {
		live: "OGE4Mjk0MTc1MjgxY2VmZDAxNTI4NDJm", test: "OGE4Mjk0MTc1MjgxY2VmZDAxNTI4NDJm",
		env:    map[string]string{"ENTITY_IDS": "credit_card=8ac7a4ca6d1f2b5e016d20a4b3ee0c77,debit_network=8ac7a4ca6d1f2b5e016d20a4b3ee0c78"},
		secret: "%02da1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f",
	},
}

// productionEnviron is a deployment with one company behind both gateways, and behind the first one's backup.
func productionEnviron(driver, key string) map[string]string {
	environ := map[string]string{
		"APP_ENV": "production", "DATABASE_URL": "postgres://svc:k3F9vLq2Zp8w@db/rihla?sslmode=require", "JWT_SIGNING_KEYS": "/keys/signing.pem",
		"TICKET_SIGNING_KEYS": "/keys/tickets.pem",
		"MEDIA_URL_SECRET":    "k3F9vLq2Zp8wk3F9vLq2Zp8wk3F9vLq2Zp8w", "PUBLIC_URL": "https://api.example.sa", "PAY_URL": "https://pay.example.sa", "TRUSTED_PROXIES": "10.0.0.1",
		"CORS_ALLOWED_ORIGINS": "https://app.example.sa", "ALLOW_INSECURE": "temporal", "MAIL_FROM": "Rihla <no-reply@example.sa>",
		"SMTP_URL": "smtps://mail:k3F9vLq2Zp8w@mail.example.sa:465",
	}

	for i, account := range []models.MerchantAccount{models.AccountGatewayA, models.AccountWalletB, models.AccountGatewayABackup} {
		name := strings.ToUpper(string(account))
		environ[name+"_DRIVER"], environ[name+"_API_KEY"] = driver, key
		environ["WEBHOOK_SECRETS_"+name] = fmt.Sprintf(accountsOf[driver].secret, i)

		for setting, value := range accountsOf[driver].env {
			environ[name+"_"+setting] = value
		}
	}

	return environ
}

// TestProductionStartsWithEveryCompany: API and worker take its settings, with TLS in front and a live key, and refuse a test key.
func TestProductionStartsWithEveryCompany(t *testing.T) {
	t.Parallel()

	for _, driver := range drivers.Names() {
		if driver == drivers.Sandbox {
			continue
		}

		t.Run(driver, func(t *testing.T) {
			t.Parallel()

			account, known := accountsOf[driver]
			require.True(t, known, "a new driver has an account here")

			for _, need := range []func(config.Config) error{config.Config.RequireAPI, config.Config.RequireWorker} {
				cfg, err := loadServingFrom(io.Discard, productionEnviron(driver, account.live), need)
				require.NoError(t, err)

				channels, err := webhookVerifiers(cfg)
				require.NoError(t, err)
				require.Len(t, channels, 3)

				for _, a := range cfg.Gateways.Accounts() {
					_, err = drivers.Open(a, driverConfig(cfg, a))
					require.NoError(t, err)
				}

				d, err := drivers.Of(driver)
				require.NoError(t, err)

				if d.Mode(account.test) == gateways.ModeUnknown {
					continue // the key does not tell; the address does
				}

				_, err = loadServingFrom(io.Discard, productionEnviron(driver, account.test), need)
				require.ErrorContains(t, err, "GATEWAY_A_API_KEY is a test key")
				require.ErrorContains(t, err, "GATEWAY_A_BACKUP_API_KEY is a test key")
				require.NotContains(t, err.Error(), account.test)

				outside := productionEnviron(driver, account.live)
				outside["APP_ENV"] = "development"
				_, err = loadServingFrom(io.Discard, outside, need)
				require.ErrorContains(t, err, "WALLET_B_API_KEY is a live key")
			}
		})
	}
}

// TestPagesNeedAHostOfTheirOwnInProduction: the script of a company that runs on the console's host could do what its cookies allow.
func TestPagesNeedAHostOfTheirOwnInProduction(t *testing.T) {
	t.Parallel()

	const same = "PAY_URL must be an https:// address on another host than PUBLIC_URL"

	for _, need := range []func(config.Config) error{config.Config.RequireAPI, config.Config.RequireWorker} {
		for _, driver := range []string{drivers.HyperPay, drivers.Moyasar, drivers.Stripe} {
			environ := productionEnviron(driver, accountsOf[driver].live)

			for _, pay := range []string{"", "https://api.example.sa", "https://API.example.sa:443/", "https://api.example.sa:8443", "http://pay.example.sa"} {
				environ["PAY_URL"] = pay
				_, err := loadServingFrom(io.Discard, environ, need)

				if driver == drivers.HyperPay {
					require.ErrorContains(t, err, same, pay)
				} else {
					require.NoError(t, err, "customers of %s pay on its own pages", driver)
				}
			}

			environ["PAY_URL"], environ["APP_ENV"] = "", "development"
			if driver == drivers.HyperPay {
				_, err := loadServingFrom(io.Discard, environ, need)
				require.NoError(t, err)
			}
		}
	}
}

// TestProductionRefusesTheSandbox: at the API, too, which takes the webhooks of the company.
func TestProductionRefusesTheSandbox(t *testing.T) {
	t.Parallel()

	for _, need := range []func(config.Config) error{config.Config.RequireAPI, config.Config.RequireWorker} {
		environ := productionEnviron(drivers.Moyasar, accountsOf[drivers.Moyasar].live)
		environ["WALLET_B_DRIVER"] = drivers.Sandbox
		_, err := loadServingFrom(io.Discard, environ, need)
		require.ErrorContains(t, err, "WALLET_B_DRIVER must name a real gateway")

		environ["WALLET_B_DRIVER"] = "cash"
		_, err = loadServingFrom(io.Discard, environ, need)
		require.ErrorContains(t, err, `WALLET_B_DRIVER: unknown driver "cash"`)
	}
}
