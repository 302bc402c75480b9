package config

import (
	"slices"
	"time"

	"rihla/models"
)

// Gateways are the payment companies (rules: payments.methods).
type Gateways struct {
	A       Gateway `envPrefix:"GATEWAY_A_"`
	WalletB Gateway `envPrefix:"WALLET_B_"`
	// The backup accounts take new payments while those take none; without a driver there is none.
	ABackup       Backup `envPrefix:"GATEWAY_A_BACKUP_"`
	WalletBBackup Backup `envPrefix:"WALLET_B_BACKUP_"`
	// Timeout bounds one call to a gateway that has no limit of its own; past it the outcome is unknown.
	Timeout time.Duration `env:"GATEWAY_TIMEOUT" envDefault:"4s"`
}

// Gateway is how one payment company is reached.
type Gateway struct {
	// Driver names the company; `sandbox` is the local one, refused in production.
	Driver string `env:"DRIVER" envDefault:"sandbox"`
	MerchantAccount
}

// Backup is the same for a second account, whose driver has no default.
type Backup struct {
	Driver string `env:"DRIVER"`
	MerchantAccount
}

// MerchantAccount is one account at a payment company, and how much it may be asked.
type MerchantAccount struct {
	// URL is the base address, without a trailing slash. Only the sandbox has no default of its own.
	URL    string `env:"URL"`
	APIKey Secret `env:"API_KEY" secret:"text"`
	// EntityIDs are the company's ids of the methods, method=id, where it has such (hyperpay).
	EntityIDs map[models.PaymentMethod]string `env:"ENTITY_IDS" envKeyValSeparator:"="`
	// SearchLag is for how long the company's search may not show what was made, where it names no time (moyasar, hyperpay);
	// unset: the driver's own margin.
	SearchLag time.Duration `env:"SEARCH_LAG"`
	// HyperPay has what that company needs besides.
	HyperPay HyperPay `envPrefix:"HYPERPAY_"`
	// Timeout bounds one call; unset: GATEWAY_TIMEOUT.
	Timeout time.Duration `env:"TIMEOUT"`
	// Rate is calls per second of one worker process, 0 for no limit; Burst of them may come at once.
	Rate  float64 `env:"RATE" envDefault:"100"`
	Burst int     `env:"BURST" envDefault:"100"`
	// Concurrency is how many calls of one worker process are under way at most.
	Concurrency int `env:"CONCURRENCY" envDefault:"16"`
	// BreakerFailures in a row open the breaker of a kind of calls, for BreakerOpenFor; 0: it never opens.
	BreakerFailures int           `env:"BREAKER_FAILURES" envDefault:"5"`
	BreakerOpenFor  time.Duration `env:"BREAKER_OPEN_FOR" envDefault:"10s"`
}

// HyperPay are settings of its driver.
type HyperPay struct {
	// Brands are the company's names of what a method offers, with spaces between: wallet_a=APPLEPAY,credit_card=VISA MASTER.
	Brands map[models.PaymentMethod]string `env:"BRANDS" envKeyValSeparator:"="`
	// Parameters are sent with every checkout besides: billing.country=SA,testMode=EXTERNAL.
	Parameters map[string]string `env:"PARAMETERS" envKeyValSeparator:"="`
}

// For is the configuration of a merchant account; its Driver is empty for a backup that there is not.
func (g Gateways) For(account models.MerchantAccount) Gateway {
	var one Gateway

	switch account {
	case models.AccountWalletB:
		one = g.WalletB
	case models.AccountGatewayABackup:
		one = Gateway(g.ABackup)
	case models.AccountWalletBBackup:
		one = Gateway(g.WalletBBackup)
	default:
		one = g.A
	}

	if one.Timeout == 0 {
		one.Timeout = g.Timeout
	}

	return one
}

// Accounts are those that are configured: each gateway's first, and the backups with a driver.
func (g Gateways) Accounts() []models.MerchantAccount {
	return slices.DeleteFunc(models.MerchantAccounts(), func(a models.MerchantAccount) bool { return g.For(a).Driver == "" })
}

// Routes say on which channel each payment is reported: any driver but the sandbox has one address for all methods.
func (g Gateways) Routes() models.Routes {
	one := map[models.Gateway]bool{}
	for _, gateway := range models.Gateways() {
		one[gateway] = g.For(gateway.Primary()).Driver != sandboxDriver
	}

	return models.Routes{OneChannel: one}
}

// Channels are those on which webhooks are taken.
func (g Gateways) Channels() []models.Channel {
	open := map[models.Channel]bool{}
	for _, m := range models.PaymentMethods() {
		open[g.Routes().Channel(m)] = true
	}

	for _, account := range g.Accounts() {
		open[account.Gateway().BackupChannel()] = open[account.Gateway().BackupChannel()] || account.IsBackup()
	}

	return slices.DeleteFunc(models.AllChannels(), func(c models.Channel) bool { return !open[c] })
}

// Webhooks are the signing secrets per channel, newest first (rules: webhooks.signature).
type Webhooks struct {
	GatewayA    Secrets `env:"WEBHOOK_SECRETS_GATEWAY_A" secret:"text"`
	WalletB     Secrets `env:"WEBHOOK_SECRETS_WALLET_B" secret:"text"`
	WalletA     Secrets `env:"WEBHOOK_SECRETS_WALLET_A" secret:"text"`
	BillPayment Secrets `env:"WEBHOOK_SECRETS_BILL_PAYMENT" secret:"text"`

	GatewayABackup Secrets `env:"WEBHOOK_SECRETS_GATEWAY_A_BACKUP" secret:"text"`
	WalletBBackup  Secrets `env:"WEBHOOK_SECRETS_WALLET_B_BACKUP" secret:"text"`
}

// For is the secrets of a channel, newest first.
func (w Webhooks) For(c models.Channel) Secrets {
	switch c {
	case models.ChannelWalletA:
		return w.WalletA
	case models.ChannelWalletB:
		return w.WalletB
	case models.ChannelBillPayment:
		return w.BillPayment
	case models.ChannelGatewayABackup:
		return w.GatewayABackup
	case models.ChannelWalletBBackup:
		return w.WalletBBackup
	default:
		return w.GatewayA
	}
}
