package models

import "time"

// MethodTerms are the bounds of a payment method at the company that takes it.
type MethodTerms struct {
	MinAmount    Money         // 0: no bound
	MaxAmount    Money         // 0: no bound
	MaxTimeToPay time.Duration // 0: no bound
}

// Methods are the payment methods that can be paid with, nil: all of them, without bounds (rules: payments.methods).
type Methods map[PaymentMethod]MethodTerms

// Check refuses a payment that the company would refuse, before it begins. Errors: METHOD_NOT_AVAILABLE for a method that it does not
// have, VALIDATION_ERROR for an amount beyond its bounds.
func (m Methods) Check(method PaymentMethod, amount Money) error {
	terms, ok := m[method]

	switch {
	case m == nil:
		return nil
	case !ok:
		return NewError(CodeMethodNotAvailable, "method.unavailable")
	case amount.Cmp(terms.MinAmount) < 0:
		return Invalid("payment_method", "method.min", "amount", terms.MinAmount)
	case !terms.MaxAmount.IsZero() && amount.Cmp(terms.MaxAmount) > 0:
		return Invalid("payment_method", "method.max", "amount", terms.MaxAmount)
	default:
		return nil
	}
}

// GatewayOutage is a kind of calls that a merchant account takes none of until a moment, as a worker has found out.
type GatewayOutage struct {
	Account MerchantAccount `bun:"account,pk"`
	Calls   string          `bun:"calls,pk"`
	Reason  OutageReason    `bun:"reason"`
	Until   time.Time       `bun:"until"`
}

// OutageReason says why an account takes no calls.
type OutageReason string

// The reasons.
const (
	OutageFailing      OutageReason = "failing"      // calls fail, and its breaker is open
	OutagePaused       OutageReason = "paused"       // it has asked for a pause
	OutageUnauthorized OutageReason = "unauthorized" // it refuses our key
)
