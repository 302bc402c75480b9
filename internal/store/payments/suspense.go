package payments

import (
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

// mismatchText says in the incident what was expected, what came, and what to do about it.
func mismatchText(t *models.PaymentTransaction, e *models.WebhookEvent) models.Text {
	if t.SuspenseAt != nil {
		return models.TextOf("incident.mismatch_suspense", "what", expectedAndTaken(t))
	}

	expected := models.InCurrency(t.Currency)
	what := models.TextOf("incident.expected_no_amount", "expected", t.Amount, "expected_currency", expected)

	if e.Amount != nil {
		what = models.TextOf("incident.expected_reported", "expected", t.Amount, "expected_currency", expected,
			"reported", *e.Amount, "reported_currency", models.InCurrency(models.CurrencyCode(e.Currency)))
	}

	if t.CapturedAt != nil {
		return models.TextOf("incident.mismatch_contradicts", "what", what)
	}

	return models.TextOf("incident.mismatch_unconfirmed", "what", what)
}

// expectedAndTaken is a mismatch in words for operators.
func expectedAndTaken(t *models.PaymentTransaction) models.Text {
	taken, currency := t.Taken()

	return models.TextOf("incident.expected_taken", "expected", t.Amount, "expected_currency", models.InCurrency(t.Currency),
		"taken", taken, "taken_currency", models.InCurrency(currency))
}

// inSuspense is PaymentTransaction.InSuspense.
const inSuspense = "suspense_at IS NOT NULL AND refunded_amount < captured_amount" + stillHeld

// stillHeld leaves out what the gateway has given back without an order of ours. The condition before it is that of an index.
const stillHeld = " AND refunded_amount + outside_refunded_amount < captured_amount"

// errInSuspense refuses another attempt while money of the same booking or campaign is in suspense: it might be what the customer
// wanted to pay with.
func errInSuspense() error {
	return models.NewError(models.CodePaymentInSuspense,
		"payment.in_suspense")
}
