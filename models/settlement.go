package models

import (
	"time"

	"github.com/google/uuid"
)

// Verdict is what a gateway's status of a payment attempt means for it.
type Verdict struct {
	Status  TransactionStatus // PENDING: the event changes nothing
	Failure FailureCode       // set when Status is FAILED
	Outcome EventOutcome
}

// Judge decides what an event means for an attempt in its present state (rules: settling.compare). It is pure: the
// caller holds the row lock. A success that comes too late (attempt FAILED, but not by a mismatch) is for IsLateSuccess.
func Judge(t *PaymentTransaction, e *WebhookEvent) Verdict {
	if t.Status != TransactionPending {
		return Verdict{Status: t.Status, Outcome: eventAfterEnd(t, e)}
	}

	switch e.Type {
	case EventPaymentSucceeded:
		if failure, ok := Mismatch(t, e); !ok {
			return Verdict{Status: TransactionFailed, Failure: failure, Outcome: OutcomeIncident}
		}

		return Verdict{Status: TransactionPaid, Outcome: OutcomeApplied}
	case EventPaymentFailed:
		return Verdict{Status: TransactionFailed, Failure: FailureDeclined, Outcome: OutcomeApplied}
	case EventPaymentExpired:
		return Verdict{Status: TransactionFailed, Failure: FailureExpired, Outcome: OutcomeApplied}
	default:
		return Verdict{Status: TransactionPending, Outcome: OutcomeIgnored}
	}
}

// eventAfterEnd classifies an event for an attempt that has ended.
func eventAfterEnd(t *PaymentTransaction, e *WebhookEvent) EventOutcome {
	failed := t.Status == TransactionFailed && t.FailureCode != nil
	switch {
	case failed && t.FailureCode.IsMismatch():
		return OutcomeIncident // whatever comes later is only added to the incident
	case e.Type == EventPaymentSucceeded && t.CapturedAt != nil:
		if _, ok := Mismatch(t, e); !ok {
			return OutcomeIncident
		}

		return OutcomeDuplicate
	case e.Type == EventPaymentFailed && failed, e.Type == EventPaymentExpired && failed:
		return OutcomeDuplicate
	default:
		return OutcomeIgnored
	}
}

// TakenAt is the moment at which the gateway took the money that the event reports: the event's own time, but never before the
// attempt was opened and never after the event was received. Days, deadlines and departures go by it, however late the event
// is processed.
func (e *WebhookEvent) TakenAt(t *PaymentTransaction) time.Time {
	at := e.OccurredAt
	if at.After(e.ReceivedAt) {
		at = e.ReceivedAt
	}

	if at.Before(t.CreatedAt) {
		at = t.CreatedAt
	}

	return at
}

// Mismatch compares what the gateway says it took with what was asked for. ok means that they agree.
// With another currency the amounts cannot be compared, so the currency is looked at first.
func Mismatch(t *PaymentTransaction, e *WebhookEvent) (f FailureCode, ok bool) {
	switch {
	case !SameCurrency(e.Currency, t.Currency):
		return FailureCurrencyMismatch, false
	case e.Amount == nil || !e.Amount.Equal(t.Amount):
		return FailureAmountMismatch, false
	default:
		return "", true
	}
}

// IsLateSuccess reports that the gateway took money for an attempt which had already ended unpaid: the booking is
// confirmed if it still can be, else the money goes back (rules: late.accept, late.return).
func IsLateSuccess(t *PaymentTransaction, e *WebhookEvent) bool {
	return e.Type == EventPaymentSucceeded && t.Status == TransactionFailed && t.CapturedAt == nil &&
		!t.FailureCode.IsMismatch()
}

// Sale is the ledger entry of a captured booking payment: the commission is gross × the rate of the attempt, half-up, the rest is
// the provider's (rules: prices.commission).
func Sale(t *PaymentTransaction, tripTitle string) FinancialRecord {
	r := newRecord(t, RecordSale, tripTitle)
	r.PlatformCommissionAmount = t.Amount.AtRate(t.CommissionRate)
	r.NetAmount = t.Amount.Sub(r.PlatformCommissionAmount)
	r.Details = tripTitle

	return r
}

// Advertising is the ledger entry of a captured campaign payment: all of it is the platform's (rules: prices.commission).
func Advertising(t *PaymentTransaction, tripTitle, campaignTitle string) FinancialRecord {
	r := newRecord(t, RecordAdvertising, tripTitle)
	r.PlatformCommissionAmount = t.Amount
	r.Details = RecordAdvertising.Details().EN + tripTitle + " (" + campaignTitle + ")"

	return r
}

// newRecord counts on the day in Riyadh on which the gateway took the money.
func newRecord(t *PaymentTransaction, kind RecordKind, tripTitle string) FinancialRecord {
	return FinancialRecord{
		ID:                   RecordID(t.ID, string(kind)),
		Kind:                 kind,
		PaymentTransactionID: t.ID,
		ProviderID:           t.ProviderID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		GrossAmount:          t.Amount,
		VATAmount:            t.VATAmount,
		CommissionRate:       t.CommissionRate,
		Currency:             t.Currency,
		TripTitle:            tripTitle,
		RecordDate:           DateIn(*t.CapturedAt),
		BalanceStatus:        BalanceInCurrent,
	}
}

// SettlementTransfers are the movements behind a new ledger entry. They add up to its gross amount.
func SettlementTransfers(r *FinancialRecord, gateway Gateway) []LedgerTransfer {
	from := GatewayAccount(gateway)
	add := func(kind TransferKind, to Account, amount Money) LedgerTransfer {
		return transfer(r.PaymentTransactionID, kind, from, to, amount, r, nil)
	}

	if r.Kind == RecordAdvertising {
		return nonZero(
			add(TransferAdvertising, AccountAdvertising, r.GrossAmount.Sub(r.VATAmount)),
			add(TransferAdvertisingVAT, AccountVAT, r.VATAmount),
		)
	}

	return nonZero(
		add(TransferSaleNet, PayableAccount(r.ProviderID), r.NetAmount),
		add(TransferSaleCommission, AccountCommission, r.PlatformCommissionAmount),
	)
}

// PayoutTransfer is the movement behind an entry that is marked transferred; a claw-back moves the other way.
// An entry without a net amount moves nothing. Reversals is how many marks of the entry were taken back before.
func PayoutTransfer(r *FinancialRecord, reversals int) []LedgerTransfer {
	return payoutTransfer(r, reversals, TransferPayout, PayableAccount(r.ProviderID), PaidOutAccount(r.ProviderID))
}

// PayoutReversalTransfer takes back what is left of an entry's payout: the net amount that the entry still has.
// Reversals is how many marks of the entry were taken back before.
func PayoutReversalTransfer(r *FinancialRecord, reversals int) []LedgerTransfer {
	return payoutTransfer(r, reversals, TransferPayoutReversal, PaidOutAccount(r.ProviderID), PayableAccount(r.ProviderID))
}

func payoutTransfer(r *FinancialRecord, reversals int, kind TransferKind, from, to Account) []LedgerTransfer {
	amount := r.NetAmount
	if amount.IsNegative() {
		from, to, amount = to, from, amount.Neg()
	}

	return nonZero(transfer(PayoutCause(r.ID, reversals), kind, from, to, amount, r, r.RefundID))
}

func transfer(
	cause uuid.UUID, kind TransferKind, from, to Account, amount Money, r *FinancialRecord, refund *uuid.UUID,
) LedgerTransfer {
	record := r.ID

	return LedgerTransfer{
		ID: TransferID(cause, kind), DebitAccount: from, CreditAccount: to, Amount: amount, Kind: kind,
		TransactionID: r.PaymentTransactionID, RefundID: refund, RecordID: &record,
	}
}

func nonZero(all ...LedgerTransfer) []LedgerTransfer {
	kept := make([]LedgerTransfer, 0, len(all))

	for _, t := range all {
		if !t.Amount.IsZero() {
			kept = append(kept, t)
		}
	}

	return kept
}
