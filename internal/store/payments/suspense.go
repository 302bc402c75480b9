package payments

import (
	"fmt"

	"rihla/models"
)

// suspend notes on the attempt what the gateway has taken instead of what was asked for; move writes it. A success about nothing
// has taken nothing.
func (st *settlement) suspend(e *models.WebhookEvent) {
	if e.Amount == nil || !e.Amount.IsPositive() {
		return
	}

	taken, currency := e.TakenAt(&st.t), models.CurrencyCode(e.Currency)
	st.t.CapturedAmount, st.t.CapturedCurrency, st.t.SuspenseAt = e.Amount, &currency, &taken
	st.t.NotePaidBy(e.PaymentMethod)

	if st.t.Reference == nil && e.CheckoutID != "" {
		st.t.Reference = &e.CheckoutID // by which it is given back
	}
}

// suspendLater is suspend for an attempt that has ended already.
func (st *settlement) suspendLater(e *models.WebhookEvent) {
	st.suspend(e)

	if st.t.SuspenseAt == nil {
		return
	}

	st.transition(models.TransactionFailed, *st.t.FailureCode, st.t.FailureReason, nil)
	st.postSuspense()
}

// postSuspense writes the money that suspend has noted into the books. The booking or the campaign is locked: an attempt that is being
// opened beside this one waits and is refused (PAYMENT_IN_SUSPENSE), or was seen by reportOpenAttempt.
func (st *settlement) postSuspense() {
	if st.t.SuspenseAt != nil {
		st.insertTransfers([]models.LedgerTransfer{models.SuspenseTransfer(&st.t)})
	}
}

// mismatchMessage says in the incident what was expected, what came, and what to do about it.
func mismatchMessage(t *models.PaymentTransaction, e *models.WebhookEvent) string {
	if t.SuspenseAt != nil {
		return expectedAndTaken(t) + " The payment is not confirmed, and the money is in suspense. Refund the payment: nothing else can be " +
			"paid for the same purchase before."
	}

	reported := "no amount"
	if e.Amount != nil {
		reported = e.Amount.String() + " " + models.CurrencyCode(e.Currency)
	}

	message := fmt.Sprintf("Expected %s %s, the gateway reported %s.", t.Amount, t.Currency, reported)
	if t.CapturedAt != nil {
		return message + " That contradicts the payment that it had reported before; nothing has changed. Compare with the gateway's statement."
	}

	return message + " The payment is not confirmed, and no money is known to have been taken. Compare with the gateway's statement."
}

// expectedAndTaken is a mismatch in words for operators.
func expectedAndTaken(t *models.PaymentTransaction) string {
	taken, currency := t.Taken()

	return fmt.Sprintf("Expected %s %s, the gateway took %s %s.", t.Amount, t.Currency, taken, currency)
}

// inSuspense is PaymentTransaction.InSuspense.
const inSuspense = "suspense_at IS NOT NULL AND refunded_amount < captured_amount" + stillHeld

// stillHeld leaves out what the gateway has given back without an order of ours. The condition before it is that of an index.
const stillHeld = " AND refunded_amount + outside_refunded_amount < captured_amount"

// errInSuspense refuses another attempt while money of the same booking or campaign is in suspense: it might be what the customer
// wanted to pay with.
func errInSuspense() error {
	return models.Errorf(models.CodePaymentInSuspense,
		"The gateway took another amount or currency than was asked for. Nothing more can be paid until that money has been given back.")
}
