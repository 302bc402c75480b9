package models

import (
	"time"

	"github.com/google/uuid"
)

// RefundSplit is what a refund does to the live ledger entry of a payment (rules: refunds.split).
type RefundSplit struct {
	Refunded   FinancialRecord  // the old entry, reduced to the refunded part
	Rest       *FinancialRecord // a new entry with what is left; nil when nothing is
	Clawback   *FinancialRecord // a negative entry, when the provider had already been paid its part
	Adjustment *FinancialRecord // what makes one side bear the refund alone; nil when both do
	Transfers  []LedgerTransfer
}

// SplitForRefund takes amount, with 0 < amount ≤ line.GrossAmount, out of a live entry. Commission and VAT follow in
// proportion, half-up, and the rest is what remains, so that the parts always add up to the entry. The money is paid from
// the account payer (RefundAccount).
func SplitForRefund(line FinancialRecord, refund uuid.UUID, amount Money, payer Account, at time.Time) RefundSplit {
	wasTransferred := line.BalanceStatus == BalanceTransferred

	part := line
	part.BalanceStatus = BalanceRefunded
	part.RefundID = &refund
	part.GrossAmount = amount
	part.RefundedAmount = amount
	part.PlatformCommissionAmount = line.PlatformCommissionAmount.Share(amount, line.GrossAmount)
	part.NetAmount = amount.Sub(part.PlatformCommissionAmount)
	part.VATAmount = line.VATAmount.Share(amount, line.GrossAmount)

	split := RefundSplit{Refunded: part, Transfers: refundTransfers(&part, refund, payer)}

	if rest := line.GrossAmount.Sub(amount); !rest.IsZero() {
		split.Rest = restOf(&line, &part, refund)
	}

	if wasTransferred && part.NetAmount.IsPositive() {
		split.Clawback = clawbackOf(&part, refund, at)
	}

	return split
}

func restOf(line, part *FinancialRecord, refund uuid.UUID) *FinancialRecord {
	rest, origin := *line, line.ID
	rest.ID = RecordID(refund, "REST")
	rest.TransactionNumber = ""
	rest.SplitFrom = &origin
	rest.GrossAmount = line.GrossAmount.Sub(part.GrossAmount)
	rest.PlatformCommissionAmount = line.PlatformCommissionAmount.Sub(part.PlatformCommissionAmount)
	rest.NetAmount = line.NetAmount.Sub(part.NetAmount)
	rest.VATAmount = line.VATAmount.Sub(part.VATAmount)

	return &rest
}

func clawbackOf(part *FinancialRecord, refund uuid.UUID, at time.Time) *FinancialRecord {
	return besideRefund(part, RecordClawback, RecordClawback.Details().EN+part.TransactionNumber, part.NetAmount.Neg(), refund, at)
}

// besideRefund is a new entry of a refund that moves the company's balance alone; part is what the refund took out of the payment's entry.
func besideRefund(part *FinancialRecord, kind RecordKind, details string, net Money, refund uuid.UUID, at time.Time) *FinancialRecord {
	return &FinancialRecord{
		ID:                   RecordID(refund, string(kind)),
		Kind:                 kind,
		PaymentTransactionID: part.PaymentTransactionID,
		ProviderID:           part.ProviderID,
		BookingID:            part.BookingID,
		AdCampaignID:         part.AdCampaignID,
		RefundID:             &refund,
		GrossAmount:          net,
		NetAmount:            net,
		Currency:             part.Currency,
		TripTitle:            part.TripTitle,
		Details:              details,
		RecordDate:           DateIn(at),
		BalanceStatus:        BalanceInCurrent,
	}
}

// BearBy has one side alone bear the refund of a sale (rules: refunds.bearer): the platform gives the company's share back to it, or the
// company pays the commission's share. The split itself stays proportional.
func (s *RefundSplit) BearBy(bearer RefundBearer, at time.Time) {
	part := &s.Refunded
	if part.Kind != RecordSale {
		return
	}

	var (
		net      Money
		from, to = PayableAccount(part.ProviderID), AccountCommission
	)

	switch bearer {
	case BearByPlatform:
		net = part.NetAmount
		from, to = AccountGoodwill, from
	case BearByProvider:
		net = part.PlatformCommissionAmount.Neg()
	case BearProportionally:
	}

	if net.IsZero() {
		return
	}

	s.Adjustment = besideRefund(part, RecordAdjustment, RecordAdjustment.Details().EN, net, *part.RefundID, at)
	s.Transfers = append(s.Transfers,
		transfer(*part.RefundID, TransferAdjustment, from, to, net.Abs(), s.Adjustment, part.RefundID))
}

// refundTransfers give every account's share of the refunded part back to the customer, and have the payer pay the whole.
func refundTransfers(part *FinancialRecord, refund uuid.UUID, payer Account) []LedgerTransfer {
	give := func(kind TransferKind, from Account, amount Money) LedgerTransfer {
		return transfer(refund, kind, from, AccountRefunds, amount, part, &refund)
	}
	paid := transfer(refund, TransferRefundPaid, AccountRefunds, payer, part.GrossAmount, part, &refund)

	if part.Kind == RecordAdvertising {
		return nonZero(
			give(TransferRefundAd, AccountAdvertising, part.GrossAmount.Sub(part.VATAmount)),
			give(TransferRefundAdVAT, AccountVAT, part.VATAmount),
			paid,
		)
	}

	return nonZero(
		give(TransferRefundNet, PayableAccount(part.ProviderID), part.NetAmount),
		give(TransferRefundCommission, AccountCommission, part.PlatformCommissionAmount),
		paid,
	)
}

// SuspenseTransfer books money that was taken in another amount or currency than was asked for. t is in suspense.
func SuspenseTransfer(t *PaymentTransaction) LedgerTransfer {
	taken, currency := t.Taken()

	return LedgerTransfer{
		ID:           TransferID(t.ID, TransferSuspense),
		DebitAccount: GatewayAccount(t.Gateway).In(currency), CreditAccount: SuspenseAccount(t.Gateway).In(currency),
		Amount: taken, Kind: TransferSuspense, TransactionID: t.ID,
	}
}

// SuspenseRefundTransfer books the way back of money in suspense, which the payer (RefundAccount) pays.
func SuspenseRefundTransfer(t *PaymentTransaction, refund uuid.UUID, amount Money, payer Account) LedgerTransfer {
	currency := t.TakenCurrency()

	return LedgerTransfer{
		ID:           TransferID(refund, TransferRefundPaid),
		DebitAccount: SuspenseAccount(t.Gateway).In(currency), CreditAccount: payer.In(currency),
		Amount: amount, Kind: TransferRefundPaid, TransactionID: t.ID, RefundID: &refund,
	}
}

// ReturnedRefundTransfer books a refund that the gateway has again: it is owed to the customer once more, whatever it was of.
func ReturnedRefundTransfer(t *PaymentTransaction, r *Refund) LedgerTransfer {
	return LedgerTransfer{
		ID:           TransferID(r.ID, TransferRefundReturned),
		DebitAccount: GatewayAccount(t.Gateway).In(r.Currency), CreditAccount: AccountRefunds.In(r.Currency),
		Amount: r.Amount, Kind: TransferRefundReturned, TransactionID: t.ID, RefundID: &r.ID,
	}
}

// RepaidRefundTransfer books the manual payout of a refund that had come back.
func RepaidRefundTransfer(t *PaymentTransaction, r *Refund) LedgerTransfer {
	return LedgerTransfer{
		ID:           TransferID(r.ID, TransferRefundRepaid),
		DebitAccount: AccountRefunds.In(r.Currency), CreditAccount: AccountBank.In(r.Currency),
		Amount: r.Amount, Kind: TransferRefundRepaid, TransactionID: t.ID, RefundID: &r.ID,
	}
}

// OutsideRefundTransfer books that the total of what a gateway gave back of t without an order has changed, for the nth time: the money
// has left its account, or is there again, and it is not decided yet what it was.
func OutsideRefundTransfer(t *PaymentTransaction, n int, before, total Money) LedgerTransfer {
	currency := t.TakenCurrency()
	out := LedgerTransfer{
		DebitAccount: OutsideAccount(t.Gateway).In(currency), CreditAccount: GatewayAccount(t.Gateway).In(currency),
		Amount: total.Sub(before), Kind: TransferOutsideRefund, TransactionID: t.ID,
	}

	if out.Amount.IsNegative() {
		out.DebitAccount, out.CreditAccount = out.CreditAccount, out.DebitAccount
		out.Amount, out.Kind = out.Amount.Neg(), TransferOutsideReturned
	}

	out.ID = TransferID(OutsideCause(t.ID, n), out.Kind)

	return out
}

// LateCaptureTransfer books money that was taken for an attempt which had ended: it is owed straight back.
func LateCaptureTransfer(t *PaymentTransaction) LedgerTransfer {
	return LedgerTransfer{
		ID:           TransferID(t.ID, TransferLateCapture),
		DebitAccount: GatewayAccount(t.Gateway), CreditAccount: AccountRefunds,
		Amount: t.Amount, Kind: TransferLateCapture, TransactionID: t.ID,
	}
}

// LateRefundTransfer books the way back of a late capture, which has no ledger entry.
func LateRefundTransfer(t *PaymentTransaction, refund uuid.UUID, amount Money, payer Account) LedgerTransfer {
	return LedgerTransfer{
		ID:           TransferID(refund, TransferRefundPaid),
		DebitAccount: AccountRefunds, CreditAccount: payer,
		Amount: amount, Kind: TransferRefundPaid, TransactionID: t.ID, RefundID: &refund,
	}
}
