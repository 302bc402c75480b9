package server

import (
	"encoding/json"
	"net/http"

	"rihla/models"
)

// Refund states.
const (
	refundSucceeded = "succeeded"
	refundPending   = "pending"
	refundFailed    = "failed"
)

const maxReason = 1000

// refundRequest is the body of POST /v1/refunds.
type refundRequest struct {
	CheckoutID        string          `json:"checkout_id"`
	MerchantReference string          `json:"merchant_reference"`
	Amount            json.RawMessage `json:"amount"`
	Currency          string          `json:"currency"`
	Reason            string          `json:"reason"`
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

func (r *refundRow) view() refundView {
	return refundView{
		ID: r.ID, CheckoutID: r.CheckoutID, MerchantReference: r.MerchantReference, Amount: r.Amount,
		Currency: r.Currency, Status: r.Status, FailureReason: orNull(r.FailureReason),
	}
}

func (s *Server) createRefund(w http.ResponseWriter, r *http.Request, m *merchant) {
	var in refundRequest
	if refusal, ok := readJSON(w, r, &in); !ok {
		refusal.write(w)

		return
	}

	row, problem := in.check(m)
	if problem != "" {
		invalid(problem).write(w)

		return
	}

	s.faulty(w, r, opRefund, m, func(f *fault) answer {
		id, err := newID("re_")
		if err != nil {
			return s.internal(err)
		}

		return s.once(r, m, opRefund, in, func(t *tx) (answer, error) {
			if f.Mode == modeReject {
				return f.answer(), nil
			}

			fresh := *row
			fresh.ID = id
			fresh.Amount, _ = f.wrong(row.Amount, row.Currency)

			return s.payBack(t, &fresh, f)
		})
	})
}

func (in *refundRequest) check(m *merchant) (*refundRow, string) {
	amount, err := models.ParseMoney(string(in.Amount))

	switch {
	case in.CheckoutID == "":
		return nil, "checkout_id is needed."
	case in.MerchantReference == "" || !plainText(in.MerchantReference, maxReference):
		return nil, "merchant_reference must have 1 to 64 characters."
	case err != nil:
		return nil, "amount must be a number with at most 2 decimals."
	case !amount.IsPositive():
		return nil, "amount must be more than 0."
	case !currencyCode.MatchString(in.Currency):
		return nil, "currency must be a three-letter code in capitals."
	case !plainText(in.Reason, maxReason):
		return nil, "reason must be at most 1000 characters without control characters."
	}

	return &refundRow{
		Merchant: m.name, CheckoutID: in.CheckoutID, MerchantReference: in.MerchantReference,
		Amount: amount, Currency: in.Currency, Reason: in.Reason, Status: refundSucceeded,
	}, ""
}

// payBack checks and reserves in one transaction, so that refunds of any number at once never exceed what
// was paid.
func (s *Server) payBack(t *tx, row *refundRow, f *fault) (answer, error) {
	checkout, err := s.current(t, row.CheckoutID)
	if err != nil {
		return answer{}, err
	}

	switch {
	case checkout == nil || checkout.Merchant != row.Merchant:
		return notFound("checkout"), nil
	case t.byReference(bucketRefundRefs, row.Merchant, row.MerchantReference) != "":
		return failure(http.StatusUnprocessableEntity, "duplicate_reference", "The merchant_reference has a refund already."), nil
	case checkout.Status != statusPaid:
		return failure(http.StatusUnprocessableEntity, "checkout_not_paid", "The checkout is "+checkout.Status+"."), nil
	case checkout.Currency != row.Currency:
		return failure(http.StatusUnprocessableEntity, "currency_mismatch", "The checkout was paid in "+checkout.Currency+"."), nil
	case checkout.RefundedAmount.Add(row.Amount).Cmp(checkout.refundable()) > 0:
		return failure(http.StatusUnprocessableEntity, "refund_exceeds_paid", "The refund is more than what is left of the payment."), nil
	}

	checkout.RefundedAmount = checkout.RefundedAmount.Add(row.Amount)
	if err := t.putCheckout(checkout); err != nil {
		return answer{}, err
	}

	if err := t.putReference(bucketRefundRefs, row.Merchant, row.MerchantReference, row.ID); err != nil {
		return answer{}, err
	}

	now := s.cfg.Clock().UTC()
	row.CreatedAt = now

	if f.Mode == modePending {
		err = t.leavePending(row, f)
	} else {
		row.DecidedAt = &now
		err = t.emit(refundEventOf(checkout, row), now)
	}

	if err != nil {
		return answer{}, err
	}

	return success(http.StatusCreated, row.view()), t.putRefund(row)
}

// leavePending leaves the decision to POST /sandbox/refunds/{id}/decide, or to a timer when the fault has a delay.
func (t *tx) leavePending(row *refundRow, f *fault) error {
	row.Status, row.DecideAs = refundPending, f.Outcome

	if f.DelayMS == nil {
		return nil
	}

	return t.remind(row.ID, row.CreatedAt.Add(f.delay(0)))
}

func (s *Server) getRefund(w http.ResponseWriter, r *http.Request, m *merchant) {
	s.faulty(w, r, opStatus, m, func(f *fault) answer {
		if f.Mode == modeReject {
			return f.answer()
		}

		var row *refundRow

		err := s.store.view(func(t *tx) (err error) {
			row, err = t.refund(r.PathValue("id"))

			return err
		})

		switch {
		case err != nil:
			return s.internal(err)
		case row == nil || row.Merchant != m.name:
			return notFound("refund")
		default:
			return success(http.StatusOK, row.view())
		}
	})
}

func (s *Server) findRefunds(w http.ResponseWriter, r *http.Request, m *merchant) {
	reference := r.URL.Query().Get("merchant_reference")
	if reference == "" {
		invalid("merchant_reference is needed.").write(w)

		return
	}

	s.faulty(w, r, opStatus, m, func(f *fault) answer {
		if f.Mode == modeReject {
			return f.answer()
		}

		found := []refundView{}

		err := s.store.view(func(t *tx) error {
			id := t.byReference(bucketRefundRefs, m.name, reference)
			if id == "" {
				return nil
			}

			row, err := t.refund(id)
			if err == nil && row != nil && !f.hides(row.CreatedAt, s.cfg.Clock()) {
				found = append(found, row.view())
			}

			return err
		})
		if err != nil {
			return s.internal(err)
		}

		return listAnswer(found)
	})
}

// decide ends a pending refund. Of one that is decided it changes nothing; nil when there is none.
func (s *Server) decide(t *tx, id string, succeed bool) (*refundRow, error) {
	row, err := t.refund(id)
	if err != nil || row == nil || row.Status != refundPending {
		return row, err
	}

	checkout, err := t.checkout(row.CheckoutID)
	if err != nil {
		return nil, err
	}

	now := s.cfg.Clock().UTC()
	row.DecidedAt = &now

	if succeed {
		row.Status = refundSucceeded
	} else {
		row.Status, row.FailureReason = refundFailed, "The bank refused the refund."
		checkout.RefundedAmount = checkout.RefundedAmount.Sub(row.Amount)

		if err := t.putCheckout(checkout); err != nil {
			return nil, err
		}
	}

	if err := t.forget(id); err != nil {
		return nil, err
	}

	if err := t.emit(refundEventOf(checkout, row), now); err != nil {
		return nil, err
	}

	return row, t.putRefund(row)
}
