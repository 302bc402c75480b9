package workflows

import (
	"cmp"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"rihla/models"
)

// outcome is the end of the refund in plain words.
func (f *refund) outcome() string {
	failed := f.settled.Status == models.RefundFailed

	switch {
	case failed && f.settled.Approval == models.ApprovalRejected:
		return "The approval of " + f.amount() + " was rejected; nothing was refunded. The reason is stored with the refund."
	case failed && f.settled.Approval == models.ApprovalExpired:
		return "The refund of " + f.amount() + " was not approved in time; nothing was refunded. An incident is open."
	case f.reserved.ByHand() && failed:
		return "Finance rejected to pay out " + f.amount() + "; nothing was refunded. The reason is stored with the refund."
	case f.reserved.ByHand():
		return f.amount() + " was paid out manually."
	case failed:
		return string(f.reserved.Gateway) + " rejected the refund of " + f.amount() + ": " + f.result.FailureReason + ". An incident is open."
	default:
		return f.amount() + " went back through " + string(f.reserved.Gateway) + "."
	}
}

func (f *refund) amount() string { return f.reserved.Amount.String() + " " + f.currency() }

func (f *refund) currency() string { return cmp.Or(f.reserved.Currency, models.Currency) }

// needsReview reports that a person has to look at the end of the refund: not when a person has ended it, unless the money
// is owed all the same.
func (f *refund) needsReview() bool {
	if f.settled.Approval != "" && f.settled.Approval != models.ApprovalApproved {
		return f.settled.NeedsReview
	}

	return f.settled.Status == models.RefundFailed && (!f.reserved.ByHand() || f.settled.NeedsReview)
}

// refundNeedsPayout is the PaymentStatus of a refund that waits for finance staff.
const refundNeedsPayout = "REFUND_NEEDS_PAYOUT"

// refundNeedsApproval is the PaymentStatus of a refund that waits for the word of a second person.
const refundNeedsApproval = "REFUND_NEEDS_APPROVAL"

// refundNotAllowed is the PaymentStatus of a refund that was refused before its amount was reserved.
const refundNotAllowed = "REFUND_NOT_ALLOWED"

// refundStatus is a refund's state as operators search for it.
func refundStatus(s models.RefundStatus) string { return "REFUND_" + string(s) }

// refundAttributes are the search attributes of a refund that starts; what is not known is left out.
func refundAttributes(booking uuid.UUID, gateway models.Gateway) temporal.SearchAttributes {
	attrs := []temporal.SearchAttributeUpdate{attrPaymentStatus.ValueSet(refundStatus(models.RefundPending))}
	if booking != uuid.Nil {
		attrs = append(attrs, attrBookingID.ValueSet(booking.String()))
	}

	if gateway != "" {
		attrs = append(attrs, attrGateway.ValueSet(string(gateway)))
	}

	return temporal.NewSearchAttributes(attrs...)
}
