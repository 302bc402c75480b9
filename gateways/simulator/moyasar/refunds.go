package moyasar

import (
	"encoding/json"
	"net/http"
	"strings"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// refundPayment answers POST /v1/payments/{id}/refund: the amount is optional, and all that is left without it
// (docs.moyasar.com/api/payments/05-refund-payment). Every request gives money back: there is no idempotency.
func (c calls) refundPayment(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	body, refusal, ok := c.ReadBody(w, r)
	if !ok {
		refusal.Write(w)

		return
	}

	var in struct {
		Amount *int64 `json:"amount"`
	}

	if len(body) > 0 && json.Unmarshal(body, &in) != nil || in.Amount != nil && *in.Amount <= 0 {
		c.Invalid("amount", "must be an integer").Write(w)

		return
	}

	c.Asked(w, r, engine.OpRefund, m, func(f *engine.Fault) engine.Answer {
		id, err := engine.NewID("")
		if err != nil {
			return c.Internal(err)
		}

		var given engine.Answer

		invoice, debit, err := c.invoiceOfPayment(r.PathValue("id"))
		if err != nil {
			return c.Internal(err)
		}

		err = c.Commit(func(t *engine.Tx) (err error) {
			given, err = c.payBack(t, m, invoice, debit, id, in.Amount, f)

			return err
		})
		if err != nil {
			return c.Internal(err)
		}

		return given
	})
}

// invoiceOfPayment finds the invoice of a payment; debit is the payment where it is a further one of the invoice.
func (c calls) invoiceOfPayment(id string) (invoice, debit string, err error) {
	debit = strings.ReplaceAll(id, "-", "")

	if invoice, err = c.CheckoutOfDebit(debit); err != nil || invoice != "" {
		return invoice, debit, err
	}

	return PaymentID(id), "", nil
}

func (c calls) payBack(
	t *engine.Tx, m *engine.Account, invoice, debit, id string, amount *int64, f *engine.Fault,
) (engine.Answer, error) {
	row, err := c.Current(t, invoice)

	switch {
	case err != nil:
		return engine.Answer{}, err
	case row == nil || row.Merchant != m.Name || row.Status != engine.StatusPaid:
		return c.missing(), nil
	case row.Method() == models.MethodBillPayment:
		return refused("Refund is not supported for this payment."), nil
	}

	refund := &engine.Refund{
		ID: id, Merchant: m.Name, CheckoutID: row.ID, MerchantReference: id, Currency: row.Currency,
		Amount: row.Amount.Sub(row.RefundedAmount), PaymentID: debit,
	}

	if d := row.Second(debit); d != nil {
		refund.Amount = d.Amount.Sub(d.RefundedAmount)
	}

	if amount != nil {
		refund.Amount = models.Halalas(*amount)
	}

	refund.Amount, _ = f.Wrong(refund.Amount, refund.Currency)

	if !refund.Amount.IsPositive() {
		return refused("Refund amount cannot exceed the charged amount"), nil
	}

	why, err := c.PayBack(t, refund, f)
	if err != nil {
		return engine.Answer{}, err
	}

	if why != engine.RefusedNothing {
		return refused("Refund amount cannot exceed the charged amount"), nil
	}

	if row, err = t.Checkout(row.ID); err != nil {
		return engine.Answer{}, err
	}

	if d := row.Second(debit); d != nil {
		return engine.Success(http.StatusOK, c.settings.secondOf(row, d)), nil
	}

	return engine.Success(http.StatusOK, c.settings.paymentOf(row, &engine.Fault{})), nil
}
