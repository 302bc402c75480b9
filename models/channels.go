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

// Account is the account at the gateway that uses the channel.
func (c Channel) Account() AccountAtGateway {
	account := AccountPrimary
	if c == ChannelGatewayABackup || c == ChannelWalletBBackup {
		account = AccountBackup
	}

	return AccountAtGateway{Gateway: c.Gateway(), Kind: account}
}

// Path is the channel's webhook path below /api/v1/payments/ (bill_payment's has another form than the others).
func (c Channel) Path() string {
	switch {
	case c == ChannelBillPayment:
		return "webhook-bill_payment"
	case c.Account().Kind == AccountBackup:
		return "webhook/" + string(c.Gateway()) + "/backup"
	default:
		return "webhook/" + string(c)
	}
}

// AccountKind tells the accounts at one gateway apart.
type AccountKind string

// The kinds of accounts: new payments go to the backup while the primary one takes none.
const (
	AccountPrimary AccountKind = "primary"
	AccountBackup  AccountKind = "backup"
)

// AccountAtGateway is a merchant's account at a gateway. An attempt stays at the one at which it was opened.
type AccountAtGateway struct {
	Gateway Gateway
	Kind    AccountKind
}

// Primary is the first account at a gateway.
func (g Gateway) Primary() AccountAtGateway {
	return AccountAtGateway{Gateway: g, Kind: AccountPrimary}
}

// Backup is the second account at a gateway.
func (g Gateway) Backup() AccountAtGateway { return AccountAtGateway{Gateway: g, Kind: AccountBackup} }

// String is gateway_a or gateway_a_backup, as metrics and logs name an account.
func (a AccountAtGateway) String() string {
	if a.Kind == AccountBackup {
		return string(a.Gateway) + "_backup"
	}

	return string(a.Gateway)
}

// AccountsAtGateways are all that can be configured.
func AccountsAtGateways() []AccountAtGateway {
	var all []AccountAtGateway

	for _, g := range Gateways() {
		all = append(all, g.Primary(), g.Backup())
	}

	return all
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

// BackupChannel is that of the gateway's backup account, which reports all methods.
func (g Gateway) BackupChannel() Channel { return Channel(g.Backup().String()) }
