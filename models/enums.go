package models

// Role is what an authenticated user may do (spec 5, contract §2).
type Role string

// The roles of contract §2.
const (
	RoleEndUser       Role = "END_USER"
	RoleProviderStaff Role = "PROVIDER_STAFF"
	RoleProviderAdmin Role = "PROVIDER_ADMIN"
	RoleSupportAgent  Role = "SUPPORT_AGENT"
	RoleFinanceAdmin  Role = "FINANCE_ADMIN"
	RoleAdmin         Role = "ADMIN"
	RoleSuperAdmin    Role = "SUPER_ADMIN"
)

// Roles are all roles, least powerful first.
func Roles() []Role {
	return []Role{
		RoleEndUser, RoleProviderStaff, RoleProviderAdmin, RoleSupportAgent, RoleFinanceAdmin, RoleAdmin, RoleSuperAdmin,
	}
}

// IsProvider reports whether the role acts for one provider company.
func (r Role) IsProvider() bool { return r == RoleProviderStaff || r == RoleProviderAdmin }

// IsAdmin reports whether the role may act for any user and any provider.
func (r Role) IsAdmin() bool { return r == RoleAdmin || r == RoleSuperAdmin }

// ReadsAnyBooking reports whether the role reads bookings of other users (contract §2).
func (r Role) ReadsAnyBooking() bool {
	return r.IsAdmin() || r == RoleFinanceAdmin || r == RoleSupportAgent
}

// PaymentMethod is how a customer pays (spec 2.9).
type PaymentMethod string

// The payment methods of spec 2.9.
const (
	MethodCreditCard   PaymentMethod = "credit_card"
	MethodDebitNetwork PaymentMethod = "debit_network"
	MethodWalletA      PaymentMethod = "wallet_a"
	MethodWalletB      PaymentMethod = "wallet_b"
	MethodBillPayment  PaymentMethod = "bill_payment"
)

// PaymentProvider is the gateway company that takes the money (spec 2.9).
type PaymentProvider string

// The payment providers of spec 2.9.
const (
	ProviderGatewayA PaymentProvider = "gateway_a"
	ProviderWalletB  PaymentProvider = "wallet_b"
)

// PaymentProviders are all gateway companies.
func PaymentProviders() []PaymentProvider {
	return []PaymentProvider{ProviderGatewayA, ProviderWalletB}
}

// Provider is the gateway that serves the method (contract §5).
func (m PaymentMethod) Provider() PaymentProvider {
	if m == MethodWalletB {
		return ProviderWalletB
	}

	return ProviderGatewayA
}

// Channel is one inbound webhook path with secrets of its own (contract §5).
type Channel string

// The four webhook channels of spec 4.6.
const (
	ChannelGatewayA    Channel = "gateway_a"
	ChannelWalletB     Channel = "wallet_b"
	ChannelWalletA     Channel = "wallet_a"
	ChannelBillPayment Channel = "bill_payment"
)

// Channels are all webhook channels.
func Channels() []Channel {
	return []Channel{ChannelGatewayA, ChannelWalletB, ChannelWalletA, ChannelBillPayment}
}

// Channel is the webhook channel on which the gateway reports the method.
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

// Provider is the gateway company that uses the channel.
func (c Channel) Provider() PaymentProvider {
	if c == ChannelWalletB {
		return ProviderWalletB
	}

	return ProviderGatewayA
}

// Methods are the payment methods whose transactions the channel may resolve (contract §5).
func (c Channel) Methods() []PaymentMethod {
	switch c {
	case ChannelWalletA:
		return []PaymentMethod{MethodWalletA}
	case ChannelWalletB:
		return []PaymentMethod{MethodWalletB}
	case ChannelBillPayment:
		return []PaymentMethod{MethodBillPayment}
	default:
		return []PaymentMethod{MethodCreditCard, MethodDebitNetwork}
	}
}

// Path is the channel's webhook path below /api/v1/payments/ (spec 4.6; the odd one is the specification's).
func (c Channel) Path() string {
	if c == ChannelBillPayment {
		return "webhook-bill_payment"
	}

	return "webhook/" + string(c)
}

// TransactionStatus is the state of a PaymentTransaction (spec 3.3).
type TransactionStatus string

// The states of spec 3.3.
const (
	TransactionPending       TransactionStatus = "PENDING"
	TransactionPaid          TransactionStatus = "PAID"
	TransactionFailed        TransactionStatus = "FAILED"
	TransactionRefunded      TransactionStatus = "REFUNDED"
	TransactionPartialRefund TransactionStatus = "PARTIAL_REFUND"
)

// TransactionKind tells a payment attempt from the transaction that a refund adds (spec 3.5).
type TransactionKind string

// The kinds of transaction.
const (
	KindPayment TransactionKind = "PAYMENT"
	KindRefund  TransactionKind = "REFUND"
)

// FailureCode says why an attempt failed (contract §5).
type FailureCode string

// The failure codes of contract §5.
const (
	FailureDeclined         FailureCode = "DECLINED"
	FailureExpired          FailureCode = "EXPIRED"
	FailureCancelled        FailureCode = "CANCELLED"
	FailureGatewayRejected  FailureCode = "GATEWAY_REJECTED"
	FailureAmountMismatch   FailureCode = "AMOUNT_MISMATCH"
	FailureCurrencyMismatch FailureCode = "CURRENCY_MISMATCH"
)

// IsMismatch reports a failure that is final whatever comes later (contract §5).
func (f FailureCode) IsMismatch() bool {
	return f == FailureAmountMismatch || f == FailureCurrencyMismatch
}

// BookingStatus is the state of a booking (spec 3.4).
type BookingStatus string

// The states of spec 2.11.
const (
	BookingPendingPayment BookingStatus = "PENDING_PAYMENT"
	BookingConfirmed      BookingStatus = "CONFIRMED"
	BookingPaymentFailed  BookingStatus = "PAYMENT_FAILED"
	BookingCancelled      BookingStatus = "CANCELLED"
)

// CampaignStatus is the state of an advertising campaign (contract §4).
type CampaignStatus string

// The states of contract §4.
const (
	CampaignPendingPayment CampaignStatus = "PENDING_PAYMENT"
	CampaignPaymentFailed  CampaignStatus = "PAYMENT_FAILED"
	CampaignScheduled      CampaignStatus = "SCHEDULED"
	CampaignActive         CampaignStatus = "ACTIVE"
	CampaignPaused         CampaignStatus = "PAUSED"
	CampaignEnded          CampaignStatus = "ENDED"
)

// RecordKind is what a ledger line is about (contract §6).
type RecordKind string

// The kinds of contract §6.
const (
	RecordSale        RecordKind = "SALE"
	RecordAdvertising RecordKind = "ADVERTISING"
	RecordClawback    RecordKind = "CLAWBACK"
)

// BalanceStatus is where a ledger line's money is (spec 2.10).
type BalanceStatus string

// The balance states of spec 2.10.
const (
	BalanceInCurrent   BalanceStatus = "IN_CURRENT_BALANCE"
	BalanceTransferred BalanceStatus = "TRANSFERRED"
	BalanceRefunded    BalanceStatus = "REFUNDED"
)

// RefundType is how the amount of a refund is found (contract §7).
type RefundType string

// The refund types of contract §7.
const (
	RefundFull    RefundType = "FULL"
	RefundPartial RefundType = "PARTIAL"
	RefundPolicy  RefundType = "POLICY"
)

// RefundChannel is the way on which a refund's money goes back.
type RefundChannel string

// The ways back: through the gateway that took the money, or paid out by finance staff.
const (
	RefundByGateway RefundChannel = "GATEWAY"
	RefundByHand    RefundChannel = "MANUAL"
)

// RefundChannel is how money that was paid by the method goes back. A bill is paid at a bank, whose network takes nothing
// back: finance staff have to transfer the money. The database holds new refunds to the same.
func (m PaymentMethod) RefundChannel() RefundChannel {
	if m == MethodBillPayment {
		return RefundByHand
	}

	return RefundByGateway
}

// PayoutDecision is what finance staff decided about a refund by hand.
type PayoutDecision string

// The decisions about a refund by hand.
const (
	PayoutPaid     PayoutDecision = "PAID_OUT"
	PayoutRejected PayoutDecision = "REJECTED"
)

// RefundStatus is the state of a refund (contract §7).
type RefundStatus string

// The refund states of contract §7.
const (
	RefundPending   RefundStatus = "PENDING"
	RefundSucceeded RefundStatus = "SUCCEEDED"
	RefundFailed    RefundStatus = "FAILED"
)

// EventType is the type of a gateway webhook (contract §5).
type EventType string

// The webhook types of contract §5.
const (
	EventPaymentSucceeded EventType = "payment.succeeded"
	EventPaymentFailed    EventType = "payment.failed"
	EventPaymentExpired   EventType = "payment.expired"
	EventRefundSucceeded  EventType = "refund.succeeded"
	EventRefundFailed     EventType = "refund.failed"
)

// IncidentKind is what an operator has to look at (contract §5).
type IncidentKind string

// The kinds of contract §5.
const (
	IncidentAmountMismatch   IncidentKind = "AMOUNT_MISMATCH"
	IncidentCurrencyMismatch IncidentKind = "CURRENCY_MISMATCH"
	IncidentLatePayment      IncidentKind = "LATE_PAYMENT"
	IncidentRefundFailed     IncidentKind = "REFUND_FAILED"
	IncidentUnknownReference IncidentKind = "UNKNOWN_REFERENCE"
	IncidentGatewayOutage    IncidentKind = "GATEWAY_OUTAGE"
	IncidentAuditDifference  IncidentKind = "AUDIT_DIFFERENCE"
	IncidentRefundMismatch   IncidentKind = "REFUND_MISMATCH"
	IncidentRefundUnordered  IncidentKind = "REFUND_WITHOUT_ORDER"
	IncidentUnknownEvent     IncidentKind = "UNKNOWN_EVENT"
	IncidentWebhookIDReused  IncidentKind = "WEBHOOK_ID_REUSED"
	IncidentReferenceClash   IncidentKind = "REFERENCE_CONFLICT"
)

// IncidentKinds are all kinds, in the contract's order.
func IncidentKinds() []IncidentKind {
	return []IncidentKind{
		IncidentAmountMismatch, IncidentCurrencyMismatch, IncidentLatePayment, IncidentRefundFailed, IncidentUnknownReference,
		IncidentGatewayOutage, IncidentAuditDifference, IncidentRefundMismatch, IncidentRefundUnordered,
		IncidentUnknownEvent, IncidentWebhookIDReused, IncidentReferenceClash,
	}
}

// Locale is the language of a person: ar (default) or en (spec 9.6).
type Locale string

// The languages of the service.
const (
	LocaleArabic  Locale = "ar"
	LocaleEnglish Locale = "en"
)
