package engine

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// SecondDebit is a payment that took the amount of a checkout once more: the customer paid in two tabs, or pressed the bank's button
// twice. It has its own sum of what went back.
type SecondDebit struct {
	ID             string       `json:"id"` // 32 hexadecimal digits
	Amount         models.Money `json:"amount"`
	RefundedAmount models.Money `json:"refunded_amount"` // succeeded and pending refunds
	PaidAt         time.Time    `json:"paid_at"`
	RefundIDs      []string     `json:"refund_ids,omitempty"` // the oldest first
}

// Second is a further debit of the checkout; nil when it has none of that id.
func (c *Checkout) Second(id string) *SecondDebit {
	for i := range c.SecondDebits {
		if c.SecondDebits[i].ID == id {
			return &c.SecondDebits[i]
		}
	}

	return nil
}

// givesBack is the payment that a refund is of: what it took, what of that has gone back, and by which refunds.
func (c *Checkout) givesBack(r *Refund) (took models.Money, back *models.Money, refunds *[]string) {
	if d := c.Second(r.PaymentID); d != nil {
		return d.Amount, &d.RefundedAmount, &d.RefundIDs
	}

	return c.refundable(), &c.RefundedAmount, &c.RefundIDs
}

// CheckoutOfDebit is the checkout that a further debit is of, by the debit's id; empty when there is none.
func (s *Server) CheckoutOfDebit(id string) (checkout string, err error) {
	err = s.store.view(func(t *Tx) error {
		checkout = string(t.b.Bucket(bucketDebits).Get([]byte(id)))

		return nil
	})

	return checkout, err
}

// TakeAgain takes the amount of a paid checkout once more, as a company does whose page was open twice. Its message is that of a payment.
func (s *Server) TakeAgain(t *Tx, row *Checkout) error {
	now := s.Now()
	d := SecondDebit{ID: strings.ReplaceAll(uuid.NewString(), "-", ""), Amount: row.Amount, PaidAt: now}
	row.SecondDebits = append(row.SecondDebits, d)

	if err := t.PutCheckout(row); err != nil {
		return err
	}

	if err := t.b.Bucket(bucketDebits).Put([]byte(d.ID), []byte(row.ID)); err != nil {
		return err
	}

	return s.Emit(t, Event{Type: models.EventPaymentSucceeded, At: now, Checkout: *row, Second: &d})
}

// payAgain is the lever for TakeAgain.
func (s *Server) payAgain(w http.ResponseWriter, r *http.Request) {
	if !s.traits.PaysAgain {
		leverFailure(http.StatusConflict, "not_again", "The company takes the money of a checkout once.").Write(w)

		return
	}

	s.onCheckout(w, r, func(t *Tx, row *Checkout) (bool, error) {
		if row.Status != StatusPaid {
			return false, nil
		}

		return true, s.TakeAgain(t, row)
	})
}
