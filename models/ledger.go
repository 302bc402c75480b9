package models

import (
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// FinancialRecord is one line of the statement that people work with (rules: ledger.lines). Amounts are in SAR;
// on every entry GrossAmount = PlatformCommissionAmount + NetAmount.
type FinancialRecord struct {
	bun.BaseModel `bun:"table:financial_records,alias:fr"`

	ID                       uuid.UUID     `bun:"id,pk"`
	TransactionNumber        string        `bun:"transaction_number"`
	Kind                     RecordKind    `bun:"kind"`
	PaymentTransactionID     uuid.UUID     `bun:"payment_transaction_id"`
	ProviderID               uuid.UUID     `bun:"provider_id"`
	BookingID                *uuid.UUID    `bun:"booking_id"`
	AdCampaignID             *uuid.UUID    `bun:"ad_campaign_id"`
	RefundID                 *uuid.UUID    `bun:"refund_id"`
	SplitFrom                *uuid.UUID    `bun:"split_from"`
	GrossAmount              Money         `bun:"gross_amount"`
	PlatformCommissionAmount Money         `bun:"platform_commission_amount"`
	NetAmount                Money         `bun:"net_amount"`
	CommissionRate           Rate          `bun:"commission_rate"` // at which the commission was taken; 0 of a claw-back
	VATAmount                Money         `bun:"vat_amount"`
	RefundedAmount           Money         `bun:"refunded_amount"`
	Currency                 string        `bun:"currency"`
	TripTitle                string        `bun:"trip_title"`
	Details                  string        `bun:"details"`
	RecordDate               Date          `bun:"record_date"`
	BalanceStatus            BalanceStatus `bun:"balance_status"`
	PayoutReference          *string       `bun:"payout_reference"`
	PayoutDate               *Date         `bun:"payout_date"`
	TransferredAt            *time.Time    `bun:"transferred_at"`
	TransferredBy            *uuid.UUID    `bun:"transferred_by"` // who has marked it; unknown for some old ones
	TransferrerName          string        `bun:"transferrer_name,scanonly"`
	NettedAgainst            *uuid.UUID    `bun:"netted_against"` // of a claw-back: the entry whose mark was taken back with it
	CreatedAt                time.Time     `bun:"created_at,nullzero,default:now()"`
	UpdatedAt                time.Time     `bun:"updated_at,nullzero,default:now()"`

	ProviderName     string     `bun:"provider_name,scanonly"`
	BookingNumber    string     `bun:"booking_number,scanonly"`
	CapturedAt       *time.Time `bun:"captured_at,scanonly"`        // when the gateway took the payment
	PayoutRevertedAt *time.Time `bun:"payout_reverted_at,scanonly"` // when the entry's last mark, which it may still show, was taken back
}

// PayoutReversal is a mark of a ledger entry that was taken back: what it was, why, and by whom. N is 1 for the entry's first.
type PayoutReversal struct {
	bun.BaseModel `bun:"table:payout_reversals,alias:pr"`

	RecordID        uuid.UUID  `bun:"record_id,pk"`
	N               int        `bun:"n,pk"`
	TransferredAt   time.Time  `bun:"transferred_at"`
	TransferredBy   *uuid.UUID `bun:"transferred_by"`
	PayoutReference *string    `bun:"payout_reference"`
	PayoutDate      *Date      `bun:"payout_date"`
	Reason          string     `bun:"reason"`
	RevertedBy      uuid.UUID  `bun:"reverted_by"`
	CreatedAt       time.Time  `bun:"created_at,nullzero,default:now()"`
}

// LedgerTransfer moves Amount from DebitAccount to CreditAccount; it is never changed or deleted (rules: ledger.transfers).
type LedgerTransfer struct {
	bun.BaseModel `bun:"table:ledger_transfers,alias:lt"`

	ID            uuid.UUID    `bun:"id,pk"`
	DebitAccount  Account      `bun:"debit_account"`
	CreditAccount Account      `bun:"credit_account"`
	Amount        Money        `bun:"amount"`
	Kind          TransferKind `bun:"kind"`
	TransactionID uuid.UUID    `bun:"transaction_id"`
	RefundID      *uuid.UUID   `bun:"refund_id"`
	RecordID      *uuid.UUID   `bun:"record_id"`
	CreatedAt     time.Time    `bun:"created_at,nullzero,default:now()"`
}

// Account names a place where money is, `gateway:gateway_a`, `provider:<id>:payable`.
type Account string

// The platform's own accounts.
const (
	AccountCommission  Account = "platform:commission"
	AccountAdvertising Account = "platform:advertising"
	AccountVAT         Account = "tax:vat"
	AccountRefunds     Account = "customer:refunds"
	AccountBank        Account = "platform:bank"     // the sum of manual payouts
	AccountGoodwill    Account = "platform:goodwill" // what the platform has borne of refunds for companies
)

// GatewayAccount is the money that a gateway holds for the platform; a debit to it means that more came in.
func GatewayAccount(p Gateway) Account { return Account("gateway:" + string(p)) }

// SuspenseAccount is money that a gateway took in another amount or currency than was asked for, until it has gone back.
func SuspenseAccount(p Gateway) Account { return Account("suspense:" + string(p)) }

// OutsideAccount is what a gateway gave back without an order of the service, until a person has decided what it was.
func OutsideAccount(p Gateway) Account { return Account("outside_refunds:" + string(p)) }

// In is the account's part in a currency: an account holds one currency, and names it unless it is SAR.
func (a Account) In(currency string) Account {
	if currency == Currency {
		return a
	}

	return a + Account(":"+currency)
}

// Currency is the one that the account holds.
func (a Account) Currency() string {
	if at := strings.LastIndexByte(string(a), ':'); at >= 0 && currencyCode.MatchString(string(a[at+1:])) {
		return string(a[at+1:])
	}

	return Currency
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// RefundAccount is where a refund's money comes from: the gateway that holds it, or the platform's bank.
func RefundAccount(by RefundChannel, p Gateway) Account {
	if by == RefundByHand {
		return AccountBank
	}

	return GatewayAccount(p)
}

// PayableAccount is what the platform owes a provider.
func PayableAccount(provider uuid.UUID) Account {
	return Account("provider:" + provider.String() + ":payable")
}

// PaidOutAccount is what a provider has been paid.
func PaidOutAccount(provider uuid.UUID) Account {
	return Account("provider:" + provider.String() + ":paid_out")
}

// TransferKind says why money moved; with its cause it makes the transfer's id.
type TransferKind string

// The kinds of transfer.
const (
	TransferSaleNet          TransferKind = "SALE_NET"
	TransferSaleCommission   TransferKind = "SALE_COMMISSION"
	TransferAdvertising      TransferKind = "ADVERTISING"
	TransferAdvertisingVAT   TransferKind = "ADVERTISING_VAT"
	TransferRefundNet        TransferKind = "REFUND_NET"
	TransferRefundCommission TransferKind = "REFUND_COMMISSION"
	TransferRefundAd         TransferKind = "REFUND_ADVERTISING"
	TransferRefundAdVAT      TransferKind = "REFUND_ADVERTISING_VAT"
	TransferRefundPaid       TransferKind = "REFUND_PAID"
	TransferAdjustment       TransferKind = "ADJUSTMENT"      // of a refund that one side bears alone
	TransferRefundReturned   TransferKind = "REFUND_RETURNED" // it failed after it had succeeded
	TransferRefundRepaid     TransferKind = "REFUND_REPAID"   // what came back, paid manually
	TransferPayout           TransferKind = "PAYOUT"
	TransferPayoutReversal   TransferKind = "PAYOUT_REVERSAL"
	TransferLateCapture      TransferKind = "LATE_CAPTURE"
	TransferSuspense         TransferKind = "SUSPENSE_CAPTURE"
	TransferOutsideRefund    TransferKind = "OUTSIDE_REFUND"          // given back by the gateway without an order
	TransferOutsideReturned  TransferKind = "OUTSIDE_REFUND_RETURNED" // which it has again
)
