package models

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// PaymentTransaction is one payment attempt through a gateway, the transaction that a refund adds, or a second payment (rules:
// payments.states, late.second-debit). ParentID is the payment of the last two.
// Amounts are in SAR; Amount includes VAT. The rates are those of its creation and never change.
type PaymentTransaction struct {
	bun.BaseModel `bun:"table:payment_transactions,alias:pt"`

	ID                   uuid.UUID         `bun:"id,pk"`
	Kind                 TransactionKind   `bun:"kind"`
	ParentID             *uuid.UUID        `bun:"parent_id"`
	Attempt              int               `bun:"attempt"`
	Reference            *string           `bun:"reference"`
	UserID               uuid.UUID         `bun:"user_id"`
	ProviderID           uuid.UUID         `bun:"provider_id"`
	BookingID            *uuid.UUID        `bun:"booking_id"`
	AdCampaignID         *uuid.UUID        `bun:"ad_campaign_id"`
	Amount               Money             `bun:"amount"`
	Currency             string            `bun:"currency"`
	VATRate              Rate              `bun:"vat_rate"`
	VATAmount            Money             `bun:"vat_amount"`
	CommissionRate       Rate              `bun:"commission_rate"` // the platform's share; 1 of advertising
	PaymentMethod        PaymentMethod     `bun:"payment_method"`  // that the customer had chosen
	PaidBy               *PaymentMethod    `bun:"paid_by"`         // that the money came by; nil: the same, or not known
	Gateway              Gateway           `bun:"gateway"`
	Channel              Channel           `bun:"channel"` // where the gateway reports it; tells the account
	Status               TransactionStatus `bun:"status"`
	FailureCode          *FailureCode      `bun:"failure_code"`
	FailureReason        string            `bun:"failure_reason"`
	CheckoutURL          *string           `bun:"checkout_url"`
	PageData             map[string]string `bun:"page_data,type:jsonb,nullzero"` // of a page of ours; see gateways.Checkout
	OpenedAt             *time.Time        `bun:"opened_at"`                     // when its checkout was made; nil: not known
	ReturnURL            string            `bun:"return_url"`
	ReturnBase           string            `bun:"return_base"` // PUBLIC_URL of the API that was asked
	ReturnID             *uuid.UUID        `bun:"return_id"`   // random; opens the redirect to ReturnURL
	OpenedFor            *uuid.UUID        `bun:"opened_for"`  // Attempt.Opener of the request that has opened it; nil: not known
	SentAnswer           *SentAnswer       `bun:"sent_answer"` // how openings were answered without success; nil: none that counts
	ExpiresAt            time.Time         `bun:"expires_at"`
	CapturedAt           *time.Time        `bun:"captured_at"`       // when the gateway took the money (WebhookEvent.TakenAt)
	CapturedAmount       *Money            `bun:"captured_amount"`   // with the next two: only of money in suspense
	CapturedCurrency     *string           `bun:"captured_currency"` // ISO 4217, in capitals
	SuspenseAt           *time.Time        `bun:"suspense_at"`       // when the gateway took it
	RefundedAmount       Money             `bun:"refunded_amount"`   // in the currency that was taken
	RefundReservedAmount Money             `bun:"refund_reserved_amount"`
	// OutsideRefundedAmount is what the gateway has given back without an order of ours, as far as it fits beside the two: see Outside.
	OutsideRefundedAmount Money      `bun:"outside_refunded_amount"`
	RecheckAt             *time.Time `bun:"recheck_at"`  // when the gateway is to be asked what it took and gave back; nil: not
	ComparedAt            *time.Time `bun:"compared_at"` // when it last answered that
	CreatedAt             time.Time  `bun:"created_at,nullzero,default:now()"`
	UpdatedAt             time.Time  `bun:"updated_at,nullzero,default:now()"`

	GatewayPaymentID *string  `bun:"gateway_payment_id"` // the gateway's id of the payment, where that is not the checkout's
	BookingNumber    string   `bun:"-"`                  // read for people only
	Purchase         Purchase `bun:"-" json:"-"`         // what is paid for, for the gateway's page; read when the attempt is opened
}

// Taken is what the gateway has taken for the attempt, in the currency that it has taken: of money in suspense another amount or
// currency than was asked for. Nothing, in SAR, when it has taken none.
func (t *PaymentTransaction) Taken() (amount Money, currency string) {
	switch {
	case t.SuspenseAt != nil:
		return *t.CapturedAmount, *t.CapturedCurrency
	case t.CapturedAt != nil:
		return t.Amount, t.Currency
	default:
		return Money{}, Currency
	}
}

// TakenCurrency is the currency of what the gateway has taken.
func (t *PaymentTransaction) TakenCurrency() string {
	_, currency := t.Taken()

	return currency
}

// TakenAt is when the gateway took it; nil when it has taken nothing.
func (t *PaymentTransaction) TakenAt() *time.Time {
	if t.SuspenseAt != nil {
		return t.SuspenseAt
	}

	return t.CapturedAt
}

// Remaining is what can still be refunded: taken, not given back by us or by the gateway on its own, and not reserved for a running
// refund.
func (t *PaymentTransaction) Remaining() Money {
	taken, _ := t.Taken()

	return taken.Sub(t.GivenBack()).Sub(t.RefundReservedAmount)
}

// GivenBack is what the customer has had back: by refunds of ours, and by the gateway without an order of ours.
func (t *PaymentTransaction) GivenBack() Money { return t.RefundedAmount.Add(t.OutsideRefundedAmount) }

// ComparedLately is for how long a gateway's answer about what it has given back will do, unless something is heard.
const ComparedLately = 30 * time.Second

// NeedsComparison reports a payment of which the gateway is to be asked what it has given back, before any more goes back.
func (t *PaymentTransaction) NeedsComparison(now time.Time) bool {
	lately := t.ComparedAt != nil && t.ComparedAt.After(now.Add(-ComparedLately))

	return t.TakenAt() != nil && t.Reference != nil && (!lately || t.RecheckAt != nil)
}

// WentBack reports that all that was taken has been given back.
func (t *PaymentTransaction) WentBack() bool {
	taken, _ := t.Taken()

	return t.GivenBack().Cmp(taken) >= 0
}

// InSuspense reports an attempt whose gateway took another amount or currency than was asked for, as long as not all of it has
// gone back.
func (t *PaymentTransaction) InSuspense() bool {
	return t.SuspenseAt != nil && !t.WentBack()
}

// Method is what the money came by, as far as that is known, else what the customer has chosen: a company's own page offers all that it has
// (rules: payments.paid-by). Whatever is decided about money that was taken goes by it.
func (t *PaymentTransaction) Method() PaymentMethod {
	if t.PaidBy != nil {
		return *t.PaidBy
	}

	return t.PaymentMethod
}

// NotePaidBy notes what the gateway says the money came by, unless it does not say it, or it is what was chosen.
func (t *PaymentTransaction) NotePaidBy(m PaymentMethod) {
	if m != t.PaymentMethod && slices.Contains(PaymentMethods(), m) {
		t.PaidBy = &m
	}
}

// RefundChannel is how money of the attempt goes back: as its method does, but by a manual payout in another currency than SAR,
// which no gateway is asked for.
func (t *PaymentTransaction) RefundChannel() RefundChannel {
	if t.TakenCurrency() != Currency {
		return RefundByHand
	}

	return t.Method().RefundChannel()
}

// CameTooLate reports an attempt whose money was taken after it had ended, or could buy nothing any more, and a second payment: it is owed
// to the customer, and was never a sale.
func (t *PaymentTransaction) CameTooLate() bool {
	return t.Kind != KindRefund && t.Status == TransactionFailed && t.CapturedAt != nil
}

// Paying are the kinds of transaction by which a gateway has taken money.
func Paying() []TransactionKind { return []TransactionKind{KindPayment, KindSecondDebit} }

// StateChange is one step in the life of a transaction, written by the database itself.
type StateChange struct {
	bun.BaseModel `bun:"table:transaction_state_changes,alias:sc"`

	ID            int64              `bun:"id,pk,autoincrement"`
	TransactionID uuid.UUID          `bun:"transaction_id"`
	FromStatus    *TransactionStatus `bun:"from_status"`
	ToStatus      TransactionStatus  `bun:"to_status"`
	FailureCode   *FailureCode       `bun:"failure_code"`
	ChangedAt     time.Time          `bun:"changed_at"`
}
