package hyperpay

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// refund is POST /v1/payments/{id} with paymentType RF. There is no key: every request is another refund.
func (c calls) refund(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	form, kind, ok := c.form(w, r, m)
	if !ok {
		return
	}

	amount, err := models.ParseMoney(form.Get("amount"))
	if err != nil || !amountForm.MatchString(form.Get("amount")) || !amount.IsPositive() || form.Get("paymentType") != "RF" {
		failure(http.StatusBadRequest, codeInvalid).Write(w)

		return
	}

	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails

	c.Asked(w, r, engine.OpRefund, m, func(f *engine.Fault) engine.Answer {
		of, debit, err := c.checkoutOf(r.PathValue("id"))
		if err != nil {
			return c.Internal(err)
		}

		row, err := c.Checkout(of)

		switch {
		case err != nil:
			return c.Internal(err)
		case row == nil || row.PaymentMethod != kind:
			return failure(http.StatusBadRequest, codeNotFound)
		}

		fresh := engine.Refund{
			ID: hex.EncodeToString(id), Merchant: m.Name, CheckoutID: of, MerchantReference: form.Get("merchantTransactionId"),
			Currency: form.Get("currency"), PaymentID: debit,
		}
		fresh.Amount, _ = f.Wrong(amount, fresh.Currency)

		var why engine.Refusal

		err = c.Commit(func(t *engine.Tx) (err error) {
			made := fresh
			why, err = c.PayBack(t, &made, f)
			fresh.Status, fresh.CreatedAt = made.Status, made.CreatedAt

			return err
		})

		switch {
		case err != nil:
			return c.Internal(err)
		case why != engine.RefusedNothing:
			return failure(http.StatusBadRequest, refusals[why])
		default:
			return engine.Success(http.StatusOK, refundOf(&fresh, row))
		}
	})
}

// checkoutOf finds the checkout of a payment; debit is the payment where it is a further one of the checkout.
func (c calls) checkoutOf(payment string) (checkout, debit string, err error) {
	if checkout, err = c.CheckoutOfDebit(payment); err != nil || checkout != "" {
		return checkout, payment, err
	}

	return checkoutID(payment), "", nil
}

// refusals are the company's codes.
var refusals = map[engine.Refusal]string{
	engine.RefusedUnknown: codeNotFound, engine.RefusedNotPaid: codeNotPaid, engine.RefusedCurrency: codeCurrency,
	engine.RefusedExceeds: codeExceeds,
}
