package models

// RefundBearer says who bears what goes back to a customer (rules: refunds.bearer).
type RefundBearer string

// The bearers.
const (
	// BearProportionally: the company its share and the platform its commission.
	BearProportionally RefundBearer = "PROPORTIONAL"
	BearByPlatform     RefundBearer = "PLATFORM"
	BearByProvider     RefundBearer = "PROVIDER"
)

// RefundCause says why money goes back.
type RefundCause string

// The causes of refunds.
const (
	RefundCustomerCancelled RefundCause = "CUSTOMER_CANCELLED"
	RefundTripChanged       RefundCause = "TRIP_CHANGED"
	RefundTripCancelled     RefundCause = "TRIP_CANCELLED"
	RefundNotProvided       RefundCause = "SERVICE_NOT_PROVIDED"
	RefundDuplicate         RefundCause = "DUPLICATE_PAYMENT"
	RefundGoodwill          RefundCause = "GOODWILL"
	RefundOther             RefundCause = "OTHER"
)

// CauseOf is the cause of a refund whose requester names none: that of the policy's terms, a second payment, or any other.
func CauseOf(t *PaymentTransaction, reason *PolicyReason) RefundCause {
	switch {
	case t.Kind == KindSecondDebit || t.FailureCode != nil && *t.FailureCode == FailurePaidTwice:
		return RefundDuplicate
	case reason == nil:
		return RefundOther
	case *reason == PolicyRescheduled:
		return RefundTripChanged
	case *reason == PolicyTripCancelled:
		return RefundTripCancelled
	default:
		return RefundCustomerCancelled
	}
}
