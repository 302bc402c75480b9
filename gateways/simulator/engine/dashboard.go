package engine

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"rihla/models"
)

// refundInDashboard gives money back as a person does in the company's own dashboard: the merchant's system has not ordered it, and the
// refund has no reference of it. The company sends what it sends about every refund.
func (s *Server) refundInDashboard(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Amount models.Money `json:"amount"`
	}

	if refusal, ok := s.leverJSON(w, r, &in); !ok {
		refusal.Write(w)

		return
	}

	if !in.Amount.IsPositive() {
		leverInvalid("amount must be more than 0.").Write(w)

		return
	}

	id, reference := s.traits.RefundPrefix+strings.ReplaceAll(uuid.NewString(), "-", ""), ""
	if s.traits.OneReference {
		reference = uuid.NewString() // its messages have one
	}

	var (
		made    *Refund
		refused Refusal
	)

	err := s.Commit(func(t *Tx) error {
		row, err := t.Checkout(r.PathValue("id"))
		if made = nil; err != nil || row == nil {
			return err
		}

		made = &Refund{
			ID: id, Merchant: row.Merchant, CheckoutID: row.ID, MerchantReference: reference, Currency: row.Currency, Amount: in.Amount,
			Dashboard: true,
		}
		refused, err = s.PayBack(t, made, &Fault{})

		return err
	})

	switch {
	case err != nil:
		s.Internal(err).Write(w)
	case made == nil:
		leverNotFound("checkout").Write(w)
	case refused != RefusedNothing:
		leverFailure(http.StatusConflict, string(refused), "The checkout cannot be refunded so.").Write(w)
	default:
		Success(http.StatusOK, made).Write(w)
	}
}
