package models

// Channel is one inbound webhook path with secrets of its own, and one account at a gateway behind it (rules: webhooks.channel).
type Channel string

// The webhook channels.
const (
	ChannelGatewayA       Channel = "gateway_a"
	ChannelWalletB        Channel = "wallet_b"
	ChannelWalletA        Channel = "wallet_a"
	ChannelBillPayment    Channel = "bill_payment"
	ChannelGatewayABackup Channel = "gateway_a_backup"
	ChannelWalletBBackup  Channel = "wallet_b_backup"
)

// Channels are the channels of the gateways' first accounts.
func Channels() []Channel {
	return []Channel{ChannelGatewayA, ChannelWalletB, ChannelWalletA, ChannelBillPayment}
}

// BackupChannels are those of the backup accounts, one for each gateway.
func BackupChannels() []Channel {
	return []Channel{ChannelGatewayABackup, ChannelWalletBBackup}
}

// AllChannels are both.
func AllChannels() []Channel { return append(Channels(), BackupChannels()...) }

// Channel is the webhook channel on which a gateway reports the method that has a channel for each (Routes).
func (m PaymentMethod) Channel() Channel {
	switch m {
	case MethodWalletA:
		return ChannelWalletA
	case MethodWalletB:
		return ChannelWalletB
	case MethodBillPayment:
		return ChannelBillPayment
	default:
		return ChannelGatewayA
	}
}

// Gateway is the gateway company that uses the channel.
func (c Channel) Gateway() Gateway {
	if c == ChannelWalletB || c == ChannelWalletBBackup {
		return GatewayWalletB
	}

	return GatewayA
}

// Account is the merchant account that uses the channel.
func (c Channel) Account() MerchantAccount {
	if c == ChannelGatewayABackup || c == ChannelWalletBBackup {
		return MerchantAccount(c)
	}

	return c.Gateway().Primary()
}

// Path is the channel's webhook path below /api/v1/payments/ (bill_payment's has another form than the others).
func (c Channel) Path() string {
	switch {
	case c == ChannelBillPayment:
		return "webhook-bill_payment"
	case c.Account().IsBackup():
		return "webhook/" + string(c.Gateway()) + "/backup"
	default:
		return "webhook/" + string(c)
	}
}

// MerchantAccount is an account that we have at a gateway. New payments go to the backup while the primary one takes none. An
// attempt stays at the one at which it was opened.
type MerchantAccount string

// The accounts; those of each gateway are of one company or of two.
const (
	AccountGatewayA       MerchantAccount = "gateway_a"
	AccountGatewayABackup MerchantAccount = "gateway_a_backup"
	AccountWalletB        MerchantAccount = "wallet_b"
	AccountWalletBBackup  MerchantAccount = "wallet_b_backup"
)

// MerchantAccounts are all that can be configured.
func MerchantAccounts() []MerchantAccount {
	return []MerchantAccount{AccountGatewayA, AccountGatewayABackup, AccountWalletB, AccountWalletBBackup}
}

// Primary is the first account at the gateway.
func (g Gateway) Primary() MerchantAccount { return MerchantAccount(g) }

// Backup is the second account at the gateway.
func (g Gateway) Backup() MerchantAccount { return MerchantAccount(g + "_backup") }

// Gateway is the gateway at which the account is.
func (a MerchantAccount) Gateway() Gateway { return Channel(a).Gateway() }

// IsBackup reports the second account at its gateway.
func (a MerchantAccount) IsBackup() bool { return a == a.Gateway().Backup() }

// Kind is primary or backup, as the API names it.
func (a MerchantAccount) Kind() string {
	if a.IsBackup() {
		return "backup"
	}

	return "primary"
}

// Routes say on which channel each payment is reported. The zero value: each method on its own.
type Routes struct {
	// OneChannel are the gateways that report all their methods on one channel, that of their name.
	OneChannel map[Gateway]bool
}

// Channel is the one on which a payment by the method at the gateway's first account is reported.
func (r Routes) Channel(m PaymentMethod) Channel {
	if !r.OneChannel[m.Gateway()] {
		return m.Channel()
	}

	return Channel(m.Gateway())
}

// TakenAt is the channel whose messages are taken at the path of another: its own, and where the gateway reports all methods on one
// channel, that one. A company may have any of its gateway's addresses.
func (r Routes) TakenAt(path Channel) Channel {
	if path.Account().IsBackup() || !r.OneChannel[path.Gateway()] {
		return path
	}

	return Channel(path.Gateway())
}

// BackupChannel is that of the gateway's backup account, which reports all methods.
func (g Gateway) BackupChannel() Channel { return Channel(g.Backup()) }
