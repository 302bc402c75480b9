package models

import "slices"

// Role is what an authenticated user may do (rules: scope.roles).
type Role string

// The roles.
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

// ReadsAnyBooking reports whether the role reads bookings of other users (rules: scope.bookings).
func (r Role) ReadsAnyBooking() bool {
	return r.IsAdmin() || r == RoleFinanceAdmin || r == RoleSupportAgent
}

// PaymentMethod is how a customer pays.
type PaymentMethod string

// The payment methods.
const (
	MethodCreditCard   PaymentMethod = "credit_card"
	MethodDebitNetwork PaymentMethod = "debit_network"
	MethodWalletA      PaymentMethod = "wallet_a"
	MethodWalletB      PaymentMethod = "wallet_b"
	MethodBillPayment  PaymentMethod = "bill_payment"
)

// PaymentMethods are all payment methods.
func PaymentMethods() []PaymentMethod {
	return []PaymentMethod{MethodCreditCard, MethodDebitNetwork, MethodWalletA, MethodWalletB, MethodBillPayment}
}

// Gateway is the gateway company that takes the money.
type Gateway string

// The gateways.
const (
	GatewayA       Gateway = "gateway_a"
	GatewayWalletB Gateway = "wallet_b"
)

// Gateways are all gateway companies.
func Gateways() []Gateway {
	return []Gateway{GatewayA, GatewayWalletB}
}

// Gateway is the gateway that serves the method (rules: payments.methods).
func (m PaymentMethod) Gateway() Gateway {
	if m == MethodWalletB {
		return GatewayWalletB
	}

	return GatewayA
}

// TransactionStatus is the state of a PaymentTransaction (rules: payments.states).
type TransactionStatus string

// The states of a transaction.
const (
	TransactionPending       TransactionStatus = "PENDING"
	TransactionPaid          TransactionStatus = "PAID"
	TransactionFailed        TransactionStatus = "FAILED"
	TransactionRefunded      TransactionStatus = "REFUNDED"
	TransactionPartialRefund TransactionStatus = "PARTIAL_REFUND"
)

// TransactionKind tells a payment attempt from the transaction that a refund adds (rules: refunds.transaction), and from what the gateway
// took once more for a checkout that had been settled (rules: late.second-debit).
type TransactionKind string

// The kinds of transaction.
const (
	KindPayment     TransactionKind = "PAYMENT"
	KindRefund      TransactionKind = "REFUND"
	KindSecondDebit TransactionKind = "SECOND_DEBIT"
)

// FailureCode says why an attempt failed.
type FailureCode string

// The failure codes.
const (
	FailureDeclined         FailureCode = "DECLINED"
	FailureExpired          FailureCode = "EXPIRED"
	FailureCancelled        FailureCode = "CANCELLED"
	FailureGatewayRejected  FailureCode = "GATEWAY_REJECTED"
	FailureAmountMismatch   FailureCode = "AMOUNT_MISMATCH"
	FailureCurrencyMismatch FailureCode = "CURRENCY_MISMATCH"
	FailurePaidTwice        FailureCode = "PAID_TWICE" // of a second payment alone
)

// IsMismatch reports a failure that is final whatever comes later (rules: late.mismatch).
func (f FailureCode) IsMismatch() bool {
	return f == FailureAmountMismatch || f == FailureCurrencyMismatch
}

// BookingStatus is the state of a booking (rules: bookings.seats-follow-state).
type BookingStatus string

// The states of a booking.
const (
	BookingPendingPayment BookingStatus = "PENDING_PAYMENT"
	BookingConfirmed      BookingStatus = "CONFIRMED"
	BookingPaymentFailed  BookingStatus = "PAYMENT_FAILED"
	BookingCancelled      BookingStatus = "CANCELLED"
)

// CampaignStatus is the state of an advertising campaign (rules: campaigns.dates).
type CampaignStatus string

// The states of a campaign.
const (
	CampaignPendingPayment CampaignStatus = "PENDING_PAYMENT"
	CampaignPaymentFailed  CampaignStatus = "PAYMENT_FAILED"
	CampaignScheduled      CampaignStatus = "SCHEDULED"
	CampaignActive         CampaignStatus = "ACTIVE"
	CampaignPaused         CampaignStatus = "PAUSED"
	CampaignEnded          CampaignStatus = "ENDED"
	CampaignCancelled      CampaignStatus = "CANCELLED" // its trip does not run, or it was refunded in full
)

// RecordKind is what a ledger entry is about (rules: ledger.lines).
type RecordKind string

// The kinds of ledger entries.
const (
	RecordSale        RecordKind = "SALE"
	RecordAdvertising RecordKind = "ADVERTISING"
	RecordClawback    RecordKind = "CLAWBACK"
	RecordAdjustment  RecordKind = "ADJUSTMENT" // of a refund that one side bears alone
)

// RecordKinds are all of them, in the order in which people read them.
func RecordKinds() []RecordKind {
	return []RecordKind{RecordSale, RecordAdvertising, RecordClawback, RecordAdjustment}
}

// IsOfPayment reports the kinds whose entries add up to what was paid, whatever was refunded of it. Of the others each stands for itself.
func (k RecordKind) IsOfPayment() bool { return k == RecordSale || k == RecordAdvertising }

// PaymentRecordKinds are those that IsOfPayment.
func PaymentRecordKinds() []RecordKind {
	return slices.DeleteFunc(RecordKinds(), func(k RecordKind) bool { return !k.IsOfPayment() })
}

// BalanceStatus is where a ledger entry's money is (rules: ledger.states).
type BalanceStatus string

// The balance states.
const (
	BalanceInCurrent   BalanceStatus = "IN_CURRENT_BALANCE"
	BalanceTransferred BalanceStatus = "TRANSFERRED"
	BalanceRefunded    BalanceStatus = "REFUNDED"
)

// RefundType is how the amount of a refund is found (rules: refunds.types).
type RefundType string

// The refund types.
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

// PayoutDecision is what finance staff decided about a manual payout.
type PayoutDecision string

// The decisions about a manual payout.
const (
	PayoutPaid     PayoutDecision = "PAID_OUT"
	PayoutRejected PayoutDecision = "REJECTED"
)

// RefundStatus is the state of a refund.
type RefundStatus string

// The refund states.
const (
	RefundPending   RefundStatus = "PENDING"
	RefundSucceeded RefundStatus = "SUCCEEDED"
	RefundFailed    RefundStatus = "FAILED"
)

// EventType is the type of a gateway webhook.
type EventType string

// The webhook types.
const (
	EventPaymentSucceeded EventType = "payment.succeeded"
	EventPaymentFailed    EventType = "payment.failed"
	EventPaymentExpired   EventType = "payment.expired"
	EventRefundSucceeded  EventType = "refund.succeeded"
	EventRefundFailed     EventType = "refund.failed"
	// EventPaymentDisputed: the customer's bank demands the money back. A person has to answer it at the company.
	EventPaymentDisputed EventType = "payment.disputed"
	// EventUnreadable: a proven message that the driver cannot read, as one of another API version or of the other mode.
	EventUnreadable EventType = "unreadable"
	// EventDisputeClosed: the dispute is decided, or came to nothing.
	EventDisputeClosed EventType = "payment.dispute_closed"
	// EventNotice changes nothing: a step on the way, as a declined card of a checkout that stays open.
	EventNotice EventType = "notice"
)

// EventTypes are all types that the service understands.
func EventTypes() []EventType {
	return []EventType{
		EventPaymentSucceeded, EventPaymentFailed, EventPaymentExpired, EventRefundSucceeded, EventRefundFailed,
		EventPaymentDisputed, EventDisputeClosed, EventUnreadable, EventNotice,
	}
}

// LiveCampaigns are the states of campaigns that have not ended.
func LiveCampaigns() []CampaignStatus {
	return []CampaignStatus{CampaignPendingPayment, CampaignPaymentFailed, CampaignScheduled, CampaignActive, CampaignPaused}
}

// IncidentKind is what an operator has to look at (rules: incidents.kinds).
type IncidentKind string

// The kinds of incidents.
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
	IncidentPaymentDisputed  IncidentKind = "PAYMENT_DISPUTED"
	IncidentOutsideRefund    IncidentKind = "OUTSIDE_REFUND"
	// IncidentTripBlocked is of a booking that cannot be cancelled although its trip does not run.
	IncidentTripBlocked IncidentKind = "TRIP_CANCELLATION_BLOCKED"
)

// IncidentKinds are all kinds, in the order of the API's document.
func IncidentKinds() []IncidentKind {
	return []IncidentKind{
		IncidentAmountMismatch, IncidentCurrencyMismatch, IncidentLatePayment, IncidentRefundFailed, IncidentUnknownReference,
		IncidentGatewayOutage, IncidentAuditDifference, IncidentRefundMismatch, IncidentRefundUnordered,
		IncidentUnknownEvent, IncidentWebhookIDReused, IncidentReferenceClash, IncidentPaymentDisputed,
		IncidentOutsideRefund, IncidentTripBlocked,
	}
}

// Locale is the language of a person: ar (default) or en (rules: api.language).
type Locale string

// The languages of the service.
const (
	LocaleArabic  Locale = "ar"
	LocaleEnglish Locale = "en"
)
