package sandbox

import (
	"encoding/json"
	"net/http"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// refundRequest is the body of POST /v1/refunds.
type refundRequest struct {
	CheckoutID        string          `json:"checkout_id"`
	MerchantReference string          `json:"merchant_reference"`
	Amount            json.RawMessage `json:"amount"`
	Currency          string          `json:"currency"`
	Reason            string          `json:"reason"`
	PaymentID         string          `json:"payment_id"` // of a further payment, whose money it is
}

// refundView is a refund as the merchant sees it.
type refundView struct {
	ID                string       `json:"id"`
	CheckoutID        string       `json:"checkout_id"`
	MerchantReference string       `json:"merchant_reference"`
	Amount            models.Money `json:"amount"`
	Currency          string       `json:"currency"`
	Status            string       `json:"status"`
	FailureReason     *string      `json:"failure_reason"`
}

func refundViewOf(r *engine.Refund) refundView {
	return refundView{
		ID: r.ID, CheckoutID: r.CheckoutID, MerchantReference: r.MerchantReference, Amount: r.Amount,
		Currency: r.Currency, Status: r.Status, FailureReason: orNull(r.FailureReason),
	}
}

func (c calls) createRefund(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	var in refundRequest
	if refusal, ok := c.ReadJSON(w, r, &in); !ok {
		refusal.Write(w)

		return
	}

	row, problem := in.check(m)
	if problem != "" {
		c.Invalid("", problem).Write(w)

		return
	}

	c.Faulty(w, r, engine.OpRefund, m, func(f *engine.Fault) engine.Answer {
		id, err := engine.NewID("re_")
		if err != nil {
			return c.Internal(err)
		}

		return c.Once(r, m, engine.OpRefund, in, nil, func(t *engine.Tx) (engine.Answer, error) {
			if f.Mode == engine.ModeReject {
				return c.Refuse(f), nil
			}

			fresh := *row
			fresh.ID = id
			fresh.Amount, _ = f.Wrong(row.Amount, row.Currency)

			why, err := c.PayBack(t, &fresh, f)
			if err != nil || why != engine.RefusedNothing {
				return refused(why, "", fresh.Currency), err
			}

			return engine.Success(http.StatusCreated, refundViewOf(&fresh)), nil
		})
	})
}

func (in *refundRequest) check(m *engine.Account) (*engine.Refund, string) {
	amount, err := models.ParseMoney(string(in.Amount))

	switch {
	case in.CheckoutID == "":
		return nil, "checkout_id is needed."
	case in.MerchantReference == "" || !engine.PlainText(in.MerchantReference, maxReference):
		return nil, "merchant_reference must have 1 to 64 characters."
	case err != nil:
		return nil, "amount must be a number with at most 2 decimals."
	case !amount.IsPositive():
		return nil, "amount must be more than 0."
	case !currencyCode.MatchString(in.Currency):
		return nil, "currency must be a three-letter code in capitals."
	case !engine.PlainText(in.Reason, maxReason):
		return nil, "reason must be at most 1000 characters without control characters."
	}

	return &engine.Refund{
		Merchant: m.Name, CheckoutID: in.CheckoutID, MerchantReference: in.MerchantReference,
		Amount: amount, Currency: in.Currency, Reason: in.Reason, PaymentID: in.PaymentID,
	}, ""
}

func (c calls) getRefund(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.Asked(w, r, engine.OpStatus, m, func(*engine.Fault) engine.Answer {
		row, err := c.Refund(m, r.PathValue("id"))

		switch {
		case err != nil:
			return c.Internal(err)
		case row == nil:
			return failure(http.StatusNotFound, "not_found", "There is no such refund.")
		default:
			return engine.Success(http.StatusOK, refundViewOf(row))
		}
	})
}

func (c calls) findRefunds(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	find(c, w, r, m, func(reference string, f *engine.Fault) (any, error) {
		rows, err := c.FindRefunds(m, reference, f)
		found := make([]refundView, 0, len(rows))

		for _, row := range rows {
			found = append(found, refundViewOf(row))
		}

		return found, err
	})
}
