package hyperpay

import (
	"net/http"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// reportView is the answer of the report about several transactions.
type reportView struct {
	envelope

	Payments []transaction `json:"payments"`
}

func (c calls) reported(found []transaction) engine.Answer {
	if len(found) == 0 {
		return failure(http.StatusNotFound, codeNotFound)
	}

	return engine.Success(http.StatusOK, reportView{
		envelope: envelope{Result: said(codeReported), Timestamp: stamp(c.Now())}, Payments: found,
	})
}

// shown reports whether the report has caught up with what was made at a time.
func (c calls) shown(at time.Time) bool { return c.Now().Sub(at) >= c.protocol.settings.Lag }

// find is GET /v1/query?merchantTransactionId=…: transactions of the entity, never checkouts that were not used.
func (c calls) find(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	reference := r.URL.Query().Get("merchantTransactionId")
	if reference == "" {
		failure(http.StatusBadRequest, codeInvalid).Write(w)

		return
	}

	c.ask(w, r, m, "reference "+reference, reportLimit, func(kind models.PaymentMethod, f *engine.Fault) engine.Answer {
		rows, err := c.Find(m, reference, f)
		if err != nil {
			return c.Internal(err)
		}

		var found []transaction

		for _, row := range rows {
			if row.PaymentMethod == kind {
				found = append(found, c.transactionsOf(row, f)...)
			}
		}

		refunds, err := c.FindRefunds(m, reference, f)
		if err != nil {
			return c.Internal(err)
		}

		for _, refund := range refunds {
			checkout, err := c.Checkout(refund.CheckoutID)
			if err != nil {
				return c.Internal(err)
			}

			if checkout.PaymentMethod == kind && c.shown(refund.CreatedAt) {
				found = append(found, refundOf(refund, checkout))
			}
		}

		return c.reported(found)
	})
}

// transactionsOf are the tries to pay a checkout.
func (c calls) transactionsOf(row *engine.Checkout, f *engine.Fault) []transaction {
	var found []transaction

	for i := range row.Attempts {
		if c.shown(row.Attempts[i].At) {
			found = append(found, attemptOf(&row.Attempts[i], row))
		}
	}

	if row.Status == engine.StatusPaid && c.shown(*row.PaidAt) {
		found = append(found, paymentOf(row, f))
	}

	for i := range row.SecondDebits {
		if d := &row.SecondDebits[i]; c.shown(d.PaidAt) {
			found = append(found, secondOf(d, row))
		}
	}

	return found
}

// transaction is GET /v1/query/{id}: one transaction, or with includeLinkedTransactions a payment and its refunds.
func (c calls) transaction(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	id := r.PathValue("id")

	c.ask(w, r, m, "transaction "+id, reportLimit, func(kind models.PaymentMethod, f *engine.Fault) engine.Answer {
		refund, err := c.Refund(m, id)
		if err != nil {
			return c.Internal(err)
		}

		of, debit, err := c.checkoutOf(id)
		if err != nil {
			return c.Internal(err)
		}

		if refund != nil {
			of = refund.CheckoutID
		}

		row, err := c.Checkout(of)

		switch {
		case err != nil:
			return c.Internal(err)
		case row == nil || row.Merchant != m.Name || row.PaymentMethod != kind || row.Status != engine.StatusPaid:
			return failure(http.StatusNotFound, codeNotFound)
		case refund != nil:
			return engine.Success(http.StatusOK, refundOf(refund, row))
		}

		payment, refunds := paymentOf(row, f), row.RefundIDs
		if d := row.Second(debit); d != nil {
			payment, refunds = secondOf(d, row), d.RefundIDs
		}

		if r.URL.Query().Get("includeLinkedTransactions") != "true" {
			return engine.Success(http.StatusOK, payment)
		}

		linked, err := c.linked(m, row, refunds)
		if err != nil {
			return c.Internal(err)
		}

		return c.reported(append([]transaction{payment}, linked...))
	})
}

func (c calls) linked(m *engine.Account, row *engine.Checkout, refunds []string) ([]transaction, error) {
	var found []transaction

	for _, id := range refunds {
		refund, err := c.Refund(m, id)
		if err != nil {
			return nil, err
		}

		if c.shown(refund.CreatedAt) {
			found = append(found, refundOf(refund, row))
		}
	}

	return found, nil
}
