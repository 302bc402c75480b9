package models

import "github.com/google/uuid"

// RepairKind is the step that puts right what an incident is about.
type RepairKind string

// The kinds of repairs.
const (
	RepairRefundPayment RepairKind = "REFUND_PAYMENT" // give the whole payment back
	RepairPayOutRefund  RepairKind = "PAY_OUT_REFUND" // pay the refund out manually
)

// RepairState says whether the step is still to be made.
type RepairState string

// The states of a repair.
const (
	RepairDue      RepairState = "DUE"
	RepairUnderWay RepairState = "UNDER_WAY"
	RepairDone     RepairState = "DONE"
)

// Repair is the step that puts right what an incident is about, and how far it is.
type Repair struct {
	Kind          RepairKind
	State         RepairState
	Amount        Money
	Currency      string
	TransactionID uuid.UUID
	RefundID      *uuid.UUID
}

// payOutOf is the repair of a sale's refund, which is a step while its money has to be paid out manually: one that its gateway did not make
// included, as long as it fits into what is left. What was ordered instead says how far that is.
func payOutOf(t *PaymentTransaction, r *Refund) *Repair {
	state := RepairDue

	switch {
	case r == nil:
		return nil
	case r.NeedsPayout(), r.FailedAtGateway() && r.Amount.Cmp(t.Remaining()) <= 0:
	case r.InsteadOf != nil && r.Status == RefundPending:
		state = RepairUnderWay
	case r.InsteadOf != nil && r.Status == RefundSucceeded:
		state = RepairDone
	default:
		return nil
	}

	return &Repair{RepairPayOutRefund, state, r.Amount, r.Currency, t.ID, &r.ID}
}

// RepairOf finds the repair of an incident about a payment and the newest refund of it; both as they are now, the refund nil when there is
// none. Nil: the service knows no step, be it because the money of the payment is a sale's.
func RepairOf(t *PaymentTransaction, r *Refund) *Repair {
	if t.SuspenseAt == nil && !t.CameTooLate() {
		return payOutOf(t, r)
	}

	taken, currency := t.Taken()
	out := &Repair{RepairRefundPayment, RepairDue, t.Remaining(), currency, t.ID, nil}

	if r != nil && r.Status != RefundFailed {
		out.RefundID = &r.ID
	}

	switch {
	case r != nil && r.NeedsPayout():
		out.Kind, out.Amount = RepairPayOutRefund, r.Amount
	case t.RefundedAmount.Cmp(taken) >= 0:
		out.State, out.Amount = RepairDone, taken
	case t.RefundReservedAmount.IsPositive():
		out.State, out.Amount = RepairUnderWay, t.RefundReservedAmount
	}

	return out
}
