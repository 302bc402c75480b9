package refunds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"rihla/internal/store/db"
	"rihla/models"
)

// refundEffects are what a refund has changed besides itself and its payment; all of it is empty for one that was refused.
type refundEffects struct {
	line                *models.FinancialRecord // the entry that the refunded part was taken out of, as it was; nil when there was none
	split               models.RefundSplit      // what has become of it
	bookingWas, booking models.BookingStatus    // empty for a campaign
}

// auditOutcome notes what became of a refund, in the service's own name: who asked for it is in the entry
// REFUND_REQUESTED and in requested_by. was is the payment before the refund's settlement.
func (st *refundSettlement) auditOutcome(ctx context.Context, was refundState) error {
	action := models.AuditRefundSucceeded
	if st.r.Status == models.RefundFailed {
		action = models.AuditRefundFailed
	}

	before, after := was.details(), st.state().details()
	after["completed_at"] = exactMoment(*st.r.CompletedAt)

	if st.r.GatewayRefundID != nil {
		after["gateway_refund_id"] = *st.r.GatewayRefundID
	}

	details := map[string]any{
		"booking_id": st.r.BookingID, "payment_transaction_id": st.t.ID, "refund_transaction_id": st.r.RefundTransactionID,
		"amount": st.r.Amount, "currency": st.r.Currency, "requested_by": st.r.RequestedBy,
		"ordered_at": exactMoment(st.r.CreatedAt), "before": before, "after": after,
	}

	if st.done.booking != "" {
		before["booking_status"], after["booking_status"] = st.done.bookingWas, st.done.booking
	}

	if line := st.done.line; line != nil {
		details["financial_record_id"], details["transaction_number"] = line.ID, line.TransactionNumber
		before["financial_records"] = entryStates(line)
		after["financial_records"] = entryStates(&st.done.split.Refunded, st.done.split.Rest, st.done.split.Clawback,
			st.done.split.Adjustment)
	}

	return db.Audit(ctx, st.tx, db.Actor{RequestID: st.r.RequestID}, action, models.EntityRefund, &st.r.ID, details)
}

// exactMoment is a time to the microsecond, as the database keeps it: the audit compares it as text.
func exactMoment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// reasonDigest is the SHA-256 of a refund's reason, which may be personal and is therefore not in the audit log itself.
func reasonDigest(reason string) string {
	sum := sha256.Sum256([]byte(reason))

	return hex.EncodeToString(sum[:])
}

// entryStates is what a refund's settlement changes of ledger entries, and what it adds; entries that are nil are left out.
func entryStates(lines ...*models.FinancialRecord) []map[string]any {
	var all []map[string]any

	for _, r := range lines {
		if r != nil {
			all = append(all, map[string]any{
				"id": r.ID, "transaction_number": r.TransactionNumber, "kind": r.Kind, "balance_status": r.BalanceStatus,
				"gross_amount": r.GrossAmount, "platform_commission_amount": r.PlatformCommissionAmount, "net_amount": r.NetAmount,
				"vat_amount": r.VATAmount, "refunded_amount": r.RefundedAmount,
			})
		}
	}

	return all
}

// refundState is what a refund's settlement changes of refund and payment.
type refundState struct {
	status             models.RefundStatus
	refunded, reserved models.Money
}

func (st *refundSettlement) state() refundState {
	return refundState{status: st.r.Status, refunded: st.t.RefundedAmount, reserved: st.t.RefundReservedAmount}
}

func (s refundState) details() map[string]any {
	d := reservedAmounts(s.refunded, s.reserved)
	d["status"] = s.status

	return d
}
