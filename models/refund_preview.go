package models

import "github.com/google/uuid"

// RefundPreview is what a refund would do if it were ordered now and the gateway gave the money back.
type RefundPreview struct {
	BookingID     uuid.UUID
	TransactionID uuid.UUID // the payment whose money would go back
	Type          RefundType
	Channel       RefundChannel
	Amount        Money
	Remaining     Money // of the payment, neither gone back nor reserved for refunds, once this is ordered
	Outside       Money // of the payment, given back by the gateway without an order of ours
	Currency      string
	NeedsApproval bool  // by a second person
	ExpectedBy    *Date // Refund.ExpectedBy
	PolicyPercent *int
	Reason        *PolicyReason // of the percentage; nil unless the refund is by the policy

	Line  *FinancialRecord // the payment's live entry as it is; nil for money that was never a sale
	Split RefundSplit      // what becomes of it; the new entries have no number yet

	Booking      BookingStatus // as it is
	BookingAfter BookingStatus
	SeatsFreed   int
	Fee          *Money // what is kept as cancellation fee of passengers whom it cancels; nil when it cancels none
}
